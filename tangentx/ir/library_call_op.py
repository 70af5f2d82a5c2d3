"""The operation that calls a library function with functions of the program as arguments.

It stands as the function of an `Op` of all the atoms that it reads, those that the functions have captured among them.
The functions stay in the open form in which they were lifted, and are printed so: the library calls them as Python
would. Nothing of it is differentiated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tangentx.ir import walk
from tangentx.ir.nodes import Assign, Function, Op


@dataclass(frozen=True)
class Callback:
    """A function that the library may call: with `given` as its first arguments, and those of `names` by name.

    It is the `function` of the language, the method `name` of the one that is given, or the first of what is given.
    """

    given: tuple[Given, ...]
    function: Function | None = None
    name: str = ""
    names: tuple[str, ...] = ()


Given: TypeAlias = "int | Callback | tuple[Given, ...]"
"""An argument: the place of its atom, a function, or a tuple of such."""


@dataclass(frozen=True, eq=False)
class LibraryCall:
    """The function that is called, its arguments, and the form of what it gives (see `arrays.form_of`)."""

    fn: Any
    form: str
    args: tuple[Given, ...]
    kwargs: tuple[tuple[str, Given], ...]

    __name__ = "library_call"

    def __call__(self, *args: Any) -> Any:
        raise AssertionError("code that is not tried")

    def functions(self) -> Iterator[Function]:
        """The functions that are handed over."""
        todo: list[Given] = [*self.args, *(given for _, given in self.kwargs)]
        while todo:
            given = todo.pop(0)
            if isinstance(given, tuple):
                todo += given
            elif isinstance(given, Callback):
                todo += given.given
                if given.function is not None:
                    yield given.function


@dataclass(frozen=True)
class Part:
    """An attribute of what a library has found, as the function of an `Op`: its name, and the form of its value."""

    name: str
    form: str

    __name__ = "part"

    def __call__(self, found: Any) -> Any:
        raise AssertionError("code that is not tried")


def handed_over(functions: Sequence[Function]) -> tuple[Function, ...]:
    """The functions that these hand over to a library, and what is made in them, each once."""
    found: dict[Function, None] = {}
    for function in functions:
        for stmt in walk.statements(function.body):
            op = stmt.value if isinstance(stmt, Assign) else None
            for each in op.fn.functions() if isinstance(op, Op) and isinstance(op.fn, LibraryCall) else ():
                found.update(dict.fromkeys(walk.with_inner(each)))
    return tuple(found)
