"""What a getter of `operator` was made of."""

from __future__ import annotations

import operator

import pytest

from tangentx.common.operator_getters import arguments_of


@pytest.mark.parametrize(
    "make, args, named",
    [
        (operator.itemgetter, (1,), {}),
        (operator.itemgetter, (0, "k", slice(1, 2)), {}),
        (operator.attrgetter, ("a.b", "c"), {}),
        (operator.methodcaller, ("sum",), {}),
        (operator.methodcaller, ("sum", 0), {"keepdims": True}),
    ],
)
def test_the_arguments_make_it_again(make, args, named) -> None:
    assert arguments_of(make(*args, **named)) == (args, named)
