"""Where memory has run out, Python's compiler says what it says of a text that is nested too deeply."""

from __future__ import annotations

import ast
from typing import Any

import pytest

import tangentx as tx
from tangentx.common import recursion
from tangentx.common.recursion import compiled, parsed


def test_what_is_compiled_takes_no_settings_of_ours() -> None:
    space: dict[str, Any] = {}
    exec(compiled("def f(x: int): return x\n", "<here>"), space)
    assert space["f"].__annotations__ == {"x": int}
    assert isinstance(parsed("x = 1\n").body[0], ast.Assign)
    assert eval(compiled(ast.parse("1 + 2", mode="eval"), "<here>", "eval")) == 3


def test_a_text_that_is_nested_too_deeply_has_nothing_to_do_with_memory() -> None:
    with pytest.raises(RecursionError):
        parsed("x = " + "-" * 100_000 + "1\n")


@pytest.mark.parametrize("error", [MemoryError(), SystemError("returned NULL without setting an exception")])
def test_where_memory_has_run_out_it_is_that(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: Any, **named: Any) -> Any:
        raise error

    monkeypatch.setattr(recursion, "compile", fails, raising=False)
    with pytest.raises(RecursionError if isinstance(error, MemoryError) else SystemError):
        compiled("x = 1\n", "<here>")
    monkeypatch.setattr(recursion, "bytearray", _without_memory, raising=False)
    with pytest.raises(MemoryError):
        compiled("x = 1\n", "<here>")


def test_a_program_that_finds_no_memory_is_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would run on Tensors from then on."""

    def f(x: float) -> float:
        return x * x

    with monkeypatch.context() as patched:
        patched.setattr("tangentx.common.recursion._is_short", lambda length: True)
        patched.setattr("tangentx.common.recursion.compile", _without_memory, raising=False)
        with pytest.raises(MemoryError):
            tx.grad(f)(3.0)
    assert tx.grad(f, fallback="error")(3.0) == 6.0


def _without_memory(*given: Any, **named: Any) -> Any:
    raise MemoryError
