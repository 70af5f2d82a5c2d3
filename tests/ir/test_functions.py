"""Function values are tuples where the program runs, and told apart by their classes."""

import functools
import types

from tangentx.ir.functions import Closure, FunctionValue, closure, partial


def test_each_closure_has_a_class_of_its_own():
    first, second = closure("f"), closure("f")
    assert first is not second and first.link is not second.link
    assert issubclass(first, Closure) and first.python is types.FunctionType


def test_a_value_is_a_plain_tuple():
    assert type(closure("f")(1, 2)) is tuple
    assert closure("f")(1, 2) == (1, 2)


def test_partials_with_the_same_arguments_have_one_class():
    assert partial(1, ("a",)) is partial(1, ("a",))
    assert partial(1, ("a",)) is not partial(2, ("a",))
    assert issubclass(partial(0, ()), FunctionValue) and partial(0, ()).python is functools.partial
