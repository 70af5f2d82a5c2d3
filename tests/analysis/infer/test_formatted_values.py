"""Texts of values that are differentiated: no number is read from one, whether the program is compiled or not."""

from __future__ import annotations

import ast
import decimal
import functools
import io
import json
import logging
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tangentx as tx

LOG = logging.getLogger(__name__)


def written_out(x):
    found = io.StringIO()
    found.write(str(x))
    return found


def printed(x):
    found = io.StringIO()
    print(x, file=found)
    return found


READING: dict[str, Callable[[Any], Any]] = {
    "str": lambda x: float(str(x)) * x,
    "repr": lambda x: complex(repr(x)).real * x,
    "format": lambda x: float(f"{x:.3f}") * x,
    "percent": lambda x: float("%r" % x) * x,
    "method": lambda x: float("{}".format(x)) * x,
    "parts": lambda x: sum(float(v) for v in ",".join([str(x), str(2 * x)]).split(",")) * x,
    "json": lambda x: json.loads(f"[{x}]")[0] * x,
    "literal": lambda x: ast.literal_eval(str(x)) * x,
    "eval": lambda x: eval(str(x)) * x,
    "decimal": lambda x: float(decimal.Decimal(str(x))) * x,
    "float64": lambda x: np.float64(str(x)) * x,
    "fromstring": lambda x: np.fromstring(str(x), sep=" ")[0] * x,
    "array": lambda x: np.array([str(x)]).astype(float)[0] * x,
    "characters": lambda x: float("".join(c for c in str(x))) * x,
    "upper case": lambda x: float("".join(map(str.upper, str(x)))) * x,
    "turned twice": lambda x: float("".join(reversed("".join(reversed(str(x)))))) * x,
    "three characters": lambda x: float(str(x)[0] + str(x)[1] + str(x)[2]) * x,
    "by index": lambda x: float("".join([str(x)[i] for i in range(len(str(x)))])) * x,
    "bytes and back": lambda x: float(str(x).encode().decode()) * x,
    "a match": lambda x: float(re.search(r"[\d.]+", f"v={x}").group()) * x,
    "written": lambda x: float(written_out(x).getvalue()) * x,
    "printed": lambda x: float(printed(x).getvalue()) * x,
    "NumPy's text": lambda x: float(np.char.add(str(x), "").item()) * x,
}


def not_compiled(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(f)
    def g(x: Any) -> Any:
        vars(np)
        return f(x)

    del g.__wrapped__
    return g


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("name", READING)
def test_a_number_is_not_read_from_the_text_of_a_value(name: str) -> None:
    f = READING[name]
    for way in (tx.grad(f, fallback="error"), tx.grad(f), tx.grad(not_compiled(f)), lambda x: tx.jvp(f, (x,), (1.0,))):
        with pytest.raises(tx.TangentxError):
            way(1.5)
    with pytest.raises(tx.NotDifferentiable, match="reads a number from the text"):
        tx.grad(not_compiled(f))(1.5)


def logged(x):
    lines = [f"{i}: {x:.3f}" for i in range(3)]
    LOG.debug("value %s", x)
    return x * x + len(lines)


def looked_up(x):
    table = {str(round(x, 1)): 2.0, "other": 3.0}
    return x * table[str(round(x, 1))]


def configured(x):
    settings = {"rate": "0.1", "name": f"run {x}"}
    return x * float(settings["rate"])


def compared(x):
    return x * 3.0 if f"{x:.1f}".startswith("1.5") else x + max(len(part) for part in (str(x), "ab"))


def beside_numbers(x):
    rows = [("a", 1.5), (f"{x}", 2.5)]
    return sum(v for _, v in rows) * x + int(str(x)[0]) * x


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize(
    ("f", "slope"), [(logged, 3.0), (looked_up, 2.0), (configured, 0.1), (compared, 3.0), (beside_numbers, 5.0)]
)
def test_texts_are_shown_counted_compared_and_looked_up(f: Callable[[Any], Any], slope: float) -> None:
    for way in (tx.grad(f, fallback="error"), tx.grad(not_compiled(f)), tx.grad(f, check=True)):
        assert way(1.5) == slope
