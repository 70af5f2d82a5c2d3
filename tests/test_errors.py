"""Messages say what, where and what to do instead, and Python's own machinery can show them."""

from __future__ import annotations

import copy
import pickle
import traceback
from collections.abc import Callable

import numpy as np
import pytest

import tangentx as tx
from tangentx import errors
from tangentx.errors import Span, TangentxError, UnsupportedSyntax

SPAN = Span("model.py", 7, 8, "    y = yield x\n")
CLASSES = [UnsupportedSyntax, errors.NoTemplate, errors.NotResolved, errors.NoSource, errors.StaleSource,
           errors.NotDifferentiable, errors.SharedMemory]  # fmt: skip


def test_whole_layout() -> None:
    error = TangentxError("no generators", SPAN, "return a list")
    assert str(error) == "model.py:7: no generators\n    y = yield x\n        ^\nInstead: return a list"


@pytest.mark.parametrize(
    "text, column, under",
    [("x @ y", 2, "@"), ("      x @ y", 8, "@"), ("\tx\t@ y", 3, "@"), ("\t\tå + y", 4, "+"), ("x", 0, "x")],
)
def test_caret_stands_under_the_column(text: str, column: int, under: str) -> None:
    _, line, caret = str(TangentxError("m", Span("f", 1, column, text))).split("\n")
    assert line[len(caret) - 1] == under
    assert [i for i, c in enumerate(caret) if c == "\t"] == [i for i, c in enumerate(line[: len(caret)]) if c == "\t"]


@pytest.mark.parametrize("column", [0, 99])
def test_no_caret_outside_the_text(column: int) -> None:
    assert "^" not in str(TangentxError("m", Span("f", 1, column, "    x")))


def test_parts_may_be_missing() -> None:
    assert str(TangentxError("m", Span("f", 3))) == "f:3: m"
    assert str(TangentxError("m", Span("f", 3), hint="h")) == "f:3: m\nInstead: h"


def test_what_is_wrong_with_a_call_names_the_line_of_the_call() -> None:
    å = [TangentxError("no", hint="h"), 0][0]
    line = test_what_is_wrong_with_a_call_names_the_line_of_the_call.__code__.co_firstlineno + 1
    shown = 'å = [TangentxError("no", hint="h"), 0][0]'
    assert str(å) == f"{__file__}:{line}: no\n    {shown}\n         ^\nInstead: h"


@pytest.mark.parametrize(
    "call",
    [
        lambda: tx.grad(np.sin, fallback="none"),
        lambda: tx.jvp(np.sin, (1.0, 2.0), (1.0,)),
        lambda: np.linalg.qr(tx.tensor([[1.0]], requires_grad=True), mode="raw"),
        lambda: tx.tensor([1], requires_grad=True),
    ],
)
def test_the_line_is_the_users_however_deep_the_error_is_raised(call: Callable[[], object]) -> None:
    with pytest.raises(TangentxError) as caught:
        call()
    assert str(caught.value).startswith(f"{__file__}:{call.__code__.co_firstlineno}: ")


def test_unsupported_syntax_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError) as caught:
        raise UnsupportedSyntax("no generators", SPAN, "return a list")
    error = caught.value
    assert (error.filename, error.lineno, error.offset, error.text) == ("model.py", 7, 9, "    y = yield x\n")


def test_kinds_of_errors() -> None:
    assert all(issubclass(cls, TangentxError) for cls in CLASSES)
    assert issubclass(errors.NotDifferentiable, TypeError)
    assert issubclass(errors.SharedMemory, ValueError)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("span", [None, Span("f.py", 2), SPAN])
def test_traceback_shows_all(cls: type[TangentxError], span: Span | None) -> None:
    try:
        raise cls("what is wrong", span, "the way out")
    except TangentxError as error:
        shown = "".join(traceback.format_exception(error))
    assert "what is wrong" in shown
    assert "Instead: the way out" in shown
    if span is not None:
        assert span.file in shown
        assert span.text.strip() in shown


@pytest.mark.parametrize("cls", CLASSES)
def test_errors_travel(cls: type[TangentxError]) -> None:
    error = cls("m", SPAN, "h")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is cls
        assert (str(twin), twin.span, twin.hint) == (str(error), SPAN, "h")
    if isinstance(error, SyntaxError):
        assert pickle.loads(pickle.dumps(error)).lineno == 7
