"""Calls of unknown code: the form of each observed result, and that each call happens only once.

A *form* is the kind of a value as text: "float", "np.float64", "float64[2]" (an array of rank 2), "(int, str)",
"[float, ...]" (a list of any length), "{'a': float}", "None | float", "re.Match" (an object of that class), "object".
A text with calls of unknown code was written for the forms of their results. Each call is a *site*, named by its place.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tangentx.arrays.memory import is_writable
from tangentx.arrays.runs import form_of as form_of_leaf
from tangentx.common.bounded_cache import Bounded
from tangentx.common.scoped_state import lasting
from tangentx.errors import NotResolved

UNSEEN = "?"
"""The form of what no call has given yet."""
_NUMBERS = (bool, int, float, complex)
_TEXTS = (str, bytes)
_MUTABLE = (np.ndarray, list, dict)
_LIMIT_PARTS = 40


class Differs(BaseException):
    """A call gave a value of another form than the text was written for; `run` has all that was given so far.

    No exception of a program's: nothing of the user's catches it.
    """

    def __init__(self, run: Run, site: str, form: str) -> None:
        super().__init__(site, form)
        self.run, self.site, self.form = run, site, form


@dataclass(frozen=True)
class Given:
    """What one call gave, at which site, and whether nobody else has it; `kept` is a copy if the program writes it."""

    site: str
    value: Any
    free: bool
    kept: Any = None


@dataclass
class Run:
    """One run of a program: what its calls of unknown code gave, in order, of which the first `done` are repeated.

    `lent` are arrays and lists that such code may reach, each with its content as it has to stay, and whether for ever.
    `watched`: the program calls code that may change whatever it can reach. `begun`: only this way can it go on.
    """

    given: list[Given] = field(default_factory=list)
    watched: bool = False
    begun: bool = False
    done: int = 0
    lent: list[tuple[Any, Any, bool]] = field(default_factory=list)

    def again(self) -> Run:
        """The run, from its beginning."""
        for one in self.given:
            if one.kept is not None:
                restore(one.value, one.kept)
        return Run(list(self.given), self.watched, self.begun, lent=[one for one in self.lent if one[2]])

    def lend(self, value: Any, stays: bool) -> None:
        """Notes the content of what unknown code may reach, in its next call or for ever."""
        if not any(known is value and (kept or not stays) for known, _, kept in self.lent):
            self.lent.append((value, snapshot(value), stays))

    def take_back(self, value: Any, site: str) -> None:
        """After a call that gave `value`: looks at what was lent. Raises NotResolved where it was changed."""
        for known, kept, _ in self.lent:
            if not same(known, kept):
                raise _changed(site)
        if any(not stays and _overlap(value, known) for known, _, stays in self.lent):
            raise _held(site)
        self.lent = [one for one in self.lent if one[2]]


_RUN: ContextVar[Run | None] = ContextVar("tangentx_run", default=None)


def running(run: Run, function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """What `function`, of a generated text, gives as a part of the run."""
    return lasting(_RUN, run, lambda: function(*args))


def observed(value: Any, form: str, site: str, own: bool = False) -> Any:
    """`value`, which unknown code gave: of the form that the text was written for. `own`: the program writes into it.

    Raises NotResolved where it is of another form, where that code has changed what it was given, or where somebody
    else has what the program writes into.
    """
    count = sys.getrefcount(value)
    free = _is_free(value, count)
    run = _RUN.get()
    if own and not free:
        raise _held(site)
    if run is None:
        if not fits(value, form):
            raise _unlike(site, form, form_of(value))
        return value
    run.take_back(value, site)
    if run.watched and not free and type(value) in _MUTABLE:
        run.lend(value, True)
    run.given.append(Given(site, value, free, snapshot(value) if own else None))
    run.done = len(run.given)
    return _checked(run, value, form, site)


def repeated(call: Callable[..., Any], form: str, site: str, own: bool = False, given: Sequence[Any] = ()) -> Any:
    """As `observed`, for ``call(*given)``, which is left out where the run has its result already."""
    run = _RUN.get()
    assert run is not None
    if run.done == len(run.given):
        return observed(call(*given), form, site, own)
    one = run.given[run.done]
    if one.site != site:
        raise NotResolved(f"the program does not do the same twice: it calls unknown code at {site}, not at {one.site}")
    if own and not one.free:
        raise _held(site)
    if own and one.kept is None:
        one = run.given[run.done] = Given(site, one.value, True, snapshot(one.value))
    run.done += 1
    return _checked(run, one.value, form, site)


def lent(value: Any, stays: bool = False) -> Any:
    """`value`, which is given to unknown code that must not change it; `stays`: in no later call, either."""
    run = _RUN.get()
    if run is not None:
        run.lend(value, stays)
    return value


def _count(value: Any) -> int:
    return sys.getrefcount(value)


_ALONE = _count(np.empty(1))
"""How many references there are to a value that a call gave, seen from the function that it is handed to."""


def _is_free(value: Any, count: int) -> bool:
    """Whether nobody else has the memory of a value to which there are `count` references; for what is mutable."""
    if type(value) not in _MUTABLE and type(value) is not tuple:
        return True
    return count <= _ALONE and all(_is_alone(value))


def _is_alone(value: Any) -> list[bool]:
    if type(value) is np.ndarray:
        base = value.base
        return [
            base is None or (type(base) is np.ndarray and sys.getrefcount(base) <= _ALONE + 1 and base.base is None)
        ]
    items = value.values() if type(value) is dict else value
    found = []
    for item in items:
        if type(item) in (*_MUTABLE, tuple):
            found += [sys.getrefcount(item) <= _ALONE + 1, *_is_alone(item)]
    return found


def _overlap(value: Any, known: Any) -> bool:
    """Whether a value is, shows or holds memory of another one."""
    if type(value) is np.ndarray and type(known) is np.ndarray:
        return np.may_share_memory(value, known)
    if value is known and type(value) in _MUTABLE:
        return True
    items = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return any(_overlap(item, known) for item in items if type(item) in (*_MUTABLE, tuple)) or (
        type(known) in (list, tuple) and any(_overlap(value, item) for item in known if type(item) in _MUTABLE)
    )


def _held(site: str) -> NotResolved:
    message = f"{site}: this call gives memory that others hold as well, and the program writes into it"
    return NotResolved(message, hint="take a copy: `np.array(...)`, `list(...)`")


def _checked(run: Run, value: Any, form: str, site: str) -> Any:
    if not fits(value, form):
        raise Differs(run, site, form_of(value))
    return value


def _unlike(site: str, form: str, found: str) -> NotResolved:
    message = f"{site}: this call gave {found}, and the text was written for {form}"
    return NotResolved(message, hint="differentiate the function again")


def _changed(site: str) -> NotResolved:
    message = f"{site}: the code that is called here changes an array or a list that it was given, or that others hold"
    return NotResolved(message, hint="give it a copy")


def snapshot(value: Any) -> Any:
    """The content of arrays, lists and dicts, to compare with, and to restore from; all else is itself."""
    if type(value) is np.ndarray:
        return value.copy()
    if type(value) in (list, tuple):
        return [snapshot(item) for item in value]
    return {key: snapshot(item) for key, item in value.items()} if type(value) is dict else value


def same(value: Any, kept: Any) -> bool:
    """Whether a value has the content of which `kept` is a snapshot."""
    if type(value) is np.ndarray:
        alike = type(kept) is np.ndarray and value.shape == kept.shape and value.dtype == kept.dtype
        return bool(alike and np.array_equal(value, kept, equal_nan=value.dtype.kind in "fc"))
    if type(value) in (list, tuple):
        return type(kept) is list and len(value) == len(kept) and all(map(same, value, kept))
    if type(value) is dict:
        return type(kept) is dict and list(value) == list(kept) and all(same(value[key], kept[key]) for key in kept)
    return value is kept or (type(value) in (*_NUMBERS, *_TEXTS) and type(value) is type(kept) and value == kept)


def restore(value: Any, kept: Any) -> None:
    """Gives arrays, lists and dicts back the content of which `kept` is a snapshot."""
    if type(value) is np.ndarray:
        if is_writable(value):
            value[...] = kept
    elif type(value) is list:
        value[:] = [_restored(item) for item in kept]
    elif type(value) is tuple:
        for item, old in zip(value, kept, strict=True):
            restore(item, old)
    elif type(value) is dict:
        value.clear()
        value.update({key: _restored(item) for key, item in kept.items()})


def _restored(kept: Any) -> Any:
    return snapshot(kept)


_ITERATOR = f"{Iterator.__module__}.{Iterator.__name__}"
"""The form of iterators whose class has no name of its own: what they give is read once."""


def form_of(value: Any) -> str:
    """The form of a value; "object" for what is known by what its methods and attributes give."""
    return _form(value, [], [_LIMIT_PARTS]) or _class_form(value)


def _form(value: Any, seen: list[Any], left: list[int]) -> str | None:
    """The form; None for a structure that is not followed: with parts that are one or overlap, or too many of them."""
    left[0] -= 1
    kind = type(value)
    if left[0] < 0:
        return None
    if kind in _NUMBERS or kind in _TEXTS or value is None:
        return kind.__name__ if value is not None else "None"
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return form_of_leaf(value)
    if kind is np.ndarray:
        return _array_form(value, seen)
    if kind not in (list, tuple, dict) or any(other is value for other in seen):
        return _class_form(value) if kind not in (list, tuple, dict) else None
    seen.append(value)
    if kind is dict:
        return _dict_form(value, seen, left)
    return _row_form(value, seen, left)


def _array_form(value: Any, seen: list[Any]) -> str | None:
    arrays = [other for other in seen if type(other) is np.ndarray]
    if (
        value.dtype.kind not in "biufc"
        or not value.dtype.isnative
        or any(np.may_share_memory(value, a) for a in arrays)
    ):
        return None
    seen.append(value)
    return form_of_leaf(value)


def _dict_form(value: Any, seen: list[Any], left: list[int]) -> str | None:
    if not value or not all(type(key) is str for key in value):
        return None
    items = {key: _form(item, seen, left) for key, item in value.items()}
    return None if None in items.values() else "{" + ", ".join(f"{k!r}: {form}" for k, form in items.items()) + "}"


def _row_form(value: Any, seen: list[Any], left: list[int]) -> str | None:
    if type(value) is list and len(value) > 1 and len({type(item) for item in value} - set(_NUMBERS)) == 0:
        return f"[{joined([type(item).__name__ for item in value])}, ...]"
    if type(value) is list and value and {type(item) for item in value} == {str}:
        return "[str, ...]"
    forms = [_form(item, seen, left) for item in value]
    if None in forms:
        return None
    if type(value) is tuple:
        return f"({', '.join(map(str, forms))}{',' if len(forms) == 1 else ''})"
    if len(set(forms)) < 2:
        return f"[{forms[0]}, ...]" if forms else "[...]"
    return f"[{', '.join(map(str, forms))}]"


def _class_form(value: Any) -> str:
    cls = type(value)
    name = f"{cls.__module__}.{cls.__qualname__}"
    plain = cls.__module__ != "builtins" and all(part.isidentifier() for part in name.split("."))
    if plain and class_of(name) is cls:
        return name
    return _ITERATOR if isinstance(value, Iterator) else "object"


def class_of(name: str) -> Any:
    """The class by its full name, None where it is not to be found there."""
    home, _, rest = name.rpartition(".")
    while home:
        if home in sys.modules:
            try:
                return functools.reduce(getattr, rest.split("."), sys.modules[home])
            except AttributeError:
                return None
        home, _, above = home.rpartition(".")
        rest = f"{above}.{rest}"
    return None


_PARSED: Bounded[str, ast.expr] = Bounded(1_000_000)


def parsed(form: str) -> ast.expr:
    """A form as a tree of Python's grammar."""
    found = _PARSED.get(form)
    if found is None:
        found = ast.parse(form, mode="eval").body
        _PARSED.put(form, found, len(form))
    return found


def options(tree: ast.expr) -> list[ast.expr]:
    """The forms that ``a | b`` joins."""
    if isinstance(tree, ast.BinOp):
        return [*options(tree.left), *options(tree.right)]
    return [tree]


def joined(forms: Sequence[str]) -> str:
    """The form of what is of any of these."""
    parts = [ast.unparse(part) for form in forms for part in options(parsed(form))]
    return " | ".join(sorted(set(parts)))


def fits(value: Any, form: str) -> bool:
    """Whether a value is of a form."""
    if form == UNSEEN:
        return False
    return form_of(value) == form or _fits(value, parsed(form), [])


def _fits(value: Any, tree: ast.expr, seen: list[Any]) -> bool:
    if isinstance(tree, ast.BinOp):
        tried = next((met for part in options(tree) if _fits(value, part, met := list(seen))), None)
        seen[:] = seen if tried is None else tried
        return tried is not None
    if isinstance(tree, ast.Tuple | ast.List):
        return _fits_row(value, tree, seen)
    if isinstance(tree, ast.Dict):
        keys = [key.value for key in tree.keys if isinstance(key, ast.Constant)]
        return (
            _new(value, dict, seen)
            and list(value) == keys
            and all(map(_fits, value.values(), tree.values, [seen] * len(keys)))
        )
    wanted = ast.unparse(tree)
    return wanted == "object" or _form(value, seen, [1]) == wanted


def _new(value: Any, cls: type, seen: list[Any]) -> bool:
    """Whether it is a container of the class that has not been met before."""
    if type(value) is not cls or any(other is value for other in seen):
        return False
    seen.append(value)
    return True


def _fits_row(value: Any, tree: ast.Tuple | ast.List, seen: list[Any]) -> bool:
    if not _new(value, tuple if isinstance(tree, ast.Tuple) else list, seen):
        return False
    first, last = tree.elts[:-1], tree.elts[-1] if tree.elts else None
    if isinstance(last, ast.Constant) and last.value is Ellipsis:
        if not first:
            return not value
        if isinstance(first[0], ast.Name) and first[0].id in ("float", "int", "str"):
            return {type(item).__name__ for item in value} <= {first[0].id}
        return all(_fits(item, first[0], seen) for item in value)
    return len(value) == len(tree.elts) and all(_fits(i, part, seen) for i, part in zip(value, tree.elts, strict=True))
