"""Names of temporaries, from the expressions that create them.

``%7 = x * y; %8 = %7 + 1.0; %9 = np.exp(%8)`` are `x_times_y`, `x_times_y_plus_1` and `exp_x_times_y_plus_1`; where
that is longer than a name should be, a noun stands for the operation: `total`, `product`, `ratio`. A temporary may
carry what it is called behind a colon, ``%12:x_bar``, where its expression would not tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tangentx.common.naming import is_identifier
from tangentx.ir import nodes as ir
from tangentx.ir.nodes import attribute_of
from tangentx.ir.walk import statements

LONGEST = 22  # characters of a name
_DEEPEST = 8
_BETWEEN = {
    "add": "plus", "sub": "minus", "mul": "times", "truediv": "over", "matmul": "at", "pow": "to", "floordiv": "over",
    "mod": "mod", "lt": "below", "le": "at_most", "gt": "above", "ge": "at_least", "eq": "equals", "ne": "is_not",
    "is_": "is", "is_not": "is_not", "and_": "and", "or_": "or", "contains": "holds",
    "iadd": "plus", "isub": "minus", "imul": "times", "itruediv": "over",
}  # fmt: skip
_BEFORE = {"neg": "minus", "not_": "not", "pos": "", "invert": "not"}
_AFTER = frozenset(
    "sum max min mean prod amax amin std var norm cumsum cumprod argmax argmin argsort any all shape ndim size dtype"
    " trace ravel".split()
)
_NOUNS = {
    "add": "total", "sub": "difference", "mul": "product", "truediv": "ratio", "matmul": "product", "pow": "power",
    "floordiv": "quotient", "mod": "remainder", "iadd": "total", "isub": "difference", "imul": "product",
    "itruediv": "ratio", "neg": "negated", "not_": "negated",
    "lt": "is_below", "le": "is_at_most", "gt": "is_above", "ge": "is_at_least", "eq": "is_equal", "ne": "differs",
    "len": "length", "sum": "total", "is_": "is_same", "is_not": "is_other", "contains": "is_there", "and_": "both",
    "or_": "either", "zero": "cotangents",
}  # fmt: skip
_SUMS = {"total", "difference"}
_COPIES = {"clone", "copy"}
_COTANGENT = re.compile(r"_(bar|dot)_*\d*_*$")
_SAME_AS = {  # functions whose result is called what their argument, at this place, is called
    "unbroadcast": 0, "spread": 0, "resized": 0, "unreduce": 0, "broadcast_to": 0, "reshape": 0, "alike": 0,
    "entry_copy": 0, "fresh_copy": 0, "clone": 0, "copied": 0, "snapshot": 0, "own": 0, "lent": 0,
    "asarray": 0, "array": 0, "copy": 0, "ascontiguousarray": 0, "as_array": 0, "truth": 0, "sequence": 0,
    "float": 0, "bool": 0, "list": 0, "tuple": 0, "real": 0, "tangent_as": 1, "as_seen": 0, "seed_of_scalar": 0,
    "settle": 0, "watched": 0, "observed": 0,
}  # fmt: skip
_OPERATORS = {  # by the names of NumPy's functions, and of ours that guard
    "subtract": "sub", "multiply": "mul", "divide": "truediv", "power": "pow", "negative": "neg", "dot": "matmul",
    "guarded": "mul", "quotient": "truediv", "ratio_or_zero": "truediv",
    "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "equal": "eq", "not_equal": "ne",
    "logical_and": "and_", "logical_or": "or_", "logical_not": "not_",
}  # fmt: skip
_TIMES = {0.5: "half", 2: "two", 3: "three", 4: "four", -1: "minus"}
_POWERS = {2: "squared", 3: "cubed"}
_FIRST = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TAPE = re.compile(r"(.*_)?tape_?\d*|%.*")
_SEPARATE = re.compile(r"(?<=[A-Za-z0-9])(_\d*)+$")


def stem(name: str) -> str | None:
    """What a temporary carries behind the colon, if it does; what anything else is called.

    >>> stem("%12:x_bar"), stem("%12"), stem("x_2")
    ('x_bar', None, 'x_2')
    """
    if not name.startswith("%"):
        return name
    return name.partition(":")[2] or None


PARTIAL = "%:"
"""How the names begin under which a cotangent waits for the further terms of its sum."""


def with_stem(name: str, called: str | None) -> str:
    """The temporary `name`, to be called `called`."""
    return f"{name.partition(':')[0]}:{called}" if called else name


class ValueNames:
    """What the temporaries of one function are called.

    `elsewhere` says so of those that are made elsewhere, `items` of the items of tuples that are handed in, by the
    parameter's name.
    """

    def __init__(
        self,
        body: ir.Block,
        elsewhere: Mapping[str, str] | None = None,
        items: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.elsewhere = elsewhere or {}
        self.items = items or {}
        self.made: dict[str, list[ir.Expr]] = {}
        self.taped: dict[str, ir.Atom] = {}
        self.counters: set[str] = set()
        for s in statements(body):
            match s:
                case ir.Assign(target=target, value=value):
                    self.made.setdefault(target, []).append(value)
                case ir.For(target=target):
                    self.counters.add(target)
                case ir.Append(base=ir.Var(name=tape), value=value):
                    self.taped.setdefault(tape, value)
        self._found: dict[str, str | None] = {}
        self._open: set[str] = set()

    def of(self, name: str) -> str:
        """What `name` is called: an identifier, which may be somebody else's too."""
        if name in self.counters:
            return "k"
        return self.known(name) or self._noun(name)

    def known(self, name: str) -> str | None:
        """What `name` is called, where there is a name for it that is short enough."""
        called = self.words(name)
        return called if called is not None and is_identifier(called) else None

    def cotangent_of(self, name: str, suffix: str) -> str | None:
        """What the cotangent (or tangent) of a temporary is called, where there is a name for that short enough.

        A sum has one in any case, of no great worth: its cotangent is that of each of its terms, which would lend it
        their names.
        """
        called = self.known(name)
        if called is None and (noun := self.of(name)) in _SUMS:
            called = noun
        return f"{called}{suffix}" if called is not None else None

    def words(self, name: str) -> str | None:
        """The description of what `name` is bound to; None where that is too long for a name."""
        if not name.startswith("%"):
            return _fitting([_SEPARATE.sub("", name)])
        called = stem(name) or self.elsewhere.get(name)
        if called is not None and called.rpartition("_")[0] not in _SUMS and not self._is_part(name):
            return called
        if name in self._open or len(self._open) > _DEEPEST:
            return called
        if name not in self._found:
            self._open.add(name)
            self._found[name] = self._described(name) or called
            self._open.discard(name)
        return self._found[name]

    def _is_part(self, name: str) -> bool:
        """Whether a name is bound to a part of a cotangent: the place says more than what the part belongs to."""
        expr = self._maker(name)
        if isinstance(expr, ir.Op) and expr.args and _function(expr.fn) in _COPIES and isinstance(expr.args[0], ir.Var):
            expr = self._maker(expr.args[0].name)
        base = expr.base.name if isinstance(expr, ir.Index) and isinstance(expr.base, ir.Var) else ""
        return not base.startswith("%") and _COTANGENT.search(base) is not None

    def _described(self, name: str) -> str | None:
        if name in self.counters:
            return "k"
        expr = self._maker(name)
        return None if expr is None or isinstance(expr, ir.Lit) else self._expression(expr)

    def _maker(self, name: str) -> ir.Expr | None:
        """The expression that says most of what `name` is bound to: the first that is no constant."""
        made = self.made.get(name, ())
        return next((value for value in made if not isinstance(value, ir.Lit)), next(iter(made), None))

    def _noun(self, name: str) -> str:
        expr = self._maker(name)
        match expr:
            case ir.Op(fn=fn):
                word = _function(fn)
                if word in _SAME_AS:
                    return "value"
                return _NOUNS.get(word) or (f"{word}_value" if _fitting([word, "value"]) else "value")
            case ir.Index() | ir.Pop():
                source = self._source(expr)
                return "item" if source is None or source.name == name else self.of(source.name)
            case ir.Make(cls=cls):
                return "pair" if cls is tuple and len(expr.items) == 2 else "items"
            case ir.Call() | ir.Apply() | ir.Method():
                return "result"
        return "value"

    def _atom(self, atom: ir.Atom) -> str | None:
        match atom:
            case ir.Var(name=name):
                return self.words(name)
            case ir.Lit(value=value):
                return _number(value)
            case ir.Ext(path=path, name=name):
                return _fitting([_plain(path[-1] if path else name)])
        return None

    def _expression(self, expr: ir.Expr) -> str | None:
        match expr:
            case ir.Var() | ir.Lit() | ir.Ext():
                return self._atom(expr)
            case ir.Op(fn=fn, args=args):
                return self._operation(_function(fn), args)
            case ir.Index(base=base, key=key):
                return self._recorded(expr) or self._index(base, key)
            case ir.Attr(base=base, name=name):
                return _fitting([self._atom(base), name]) or _fitting([name])
            case ir.Pop(base=ir.Var(name=tape)):
                return self._popped(tape)
            case ir.Make(cls=cls, items=(one, two)) if cls is tuple:
                return _fitting([self._atom(one), "and", self._atom(two)])
            case ir.Call(link=link):
                return _fitting([_callee(link.name), "result"])
            case ir.Method(base=base, name=name):
                return _fitting([self._atom(base), name])
            case ir.Apply(fn=fn):
                return _fitting([self._atom(fn), "result"])
        return None

    def _operation(self, word: str, args: tuple[ir.Atom, ...]) -> str | None:
        if not args:
            return _fitting([word])
        if word in _SAME_AS:
            return self._atom(args[min(_SAME_AS[word], len(args) - 1)])
        first = self._atom(args[0])
        if word in _BEFORE and len(args) == 1:
            return _fitting([_BEFORE[word], first])
        if word == "getitem":
            return _fitting([first, self._atom(args[1])])
        if word in _BETWEEN and len(args) == 2:
            return self._between(word, args)
        if word in _AFTER:
            return _fitting([first, word])
        return _fitting([word, first])

    def _between(self, word: str, args: tuple[ir.Atom, ...]) -> str | None:
        one, two = args
        if word == "mul":
            for factor, other in ((one, two), (two, one)):
                if (said := _known(_TIMES, factor)) is not None:
                    return _fitting([said, self._atom(other)])
        if word == "pow" and (said := _known(_POWERS, two)) is not None:
            return _fitting([self._atom(one), said])
        if word == "mul" and isinstance(one, ir.Var) and one == two:
            return _fitting([self._atom(one), "squared"])
        return _fitting([self._atom(one), _BETWEEN[word], self._atom(two)])

    def _index(self, base: ir.Atom, key: ir.Key) -> str | None:
        if key.attribute:
            return _fitting([self._atom(base), attribute_of(key)]) or _fitting([attribute_of(key)])
        words: list[str | None] = [self._atom(base)]
        for part in key.parts:
            words.append(self._part(part))
        return _fitting(words)

    def _part(self, part: ir.Atom | ir.Slice) -> str | None:
        if isinstance(part, ir.Slice):
            return self._slice(part)
        if isinstance(part, ir.Lit) and (part.value is None or part.value is Ellipsis):
            return ""
        return "last" if part == ir.Lit(-1) else self._atom(part)

    def _slice(self, part: ir.Slice) -> str | None:
        given = [end != ir.Lit(None) for end in (part.start, part.stop)]
        if given == [False, False]:
            return "" if part.step in (ir.Lit(None), ir.Lit(1)) else "strided"
        if given == [False, True]:
            return _joined(["to", self._atom(part.stop)])
        return _joined(["from", self._atom(part.start)]) if given == [True, False] else "part"

    def _recorded(self, expr: ir.Index) -> str | None:
        """What an item of a record or of a call's result was called where it was made."""
        if isinstance(expr.base, ir.Var) and expr.base.name in self.items:
            return self._handed_in(self.items[expr.base.name], expr.key)
        made = self._maker(expr.base.name) if isinstance(expr.base, ir.Var) and expr.base.name.startswith("%") else None
        if isinstance(made, ir.Call):
            return self._returned(made, expr.key)
        source = self._source(expr)
        return self._atom(source) if source is not None else None

    def _source(self, expr: ir.Index | ir.Pop) -> ir.Var | None:
        """The variable that was put on the tape, or into the record on it, where the expression takes it from."""
        if isinstance(expr, ir.Pop):
            held = self.taped.get(expr.base.name) if isinstance(expr.base, ir.Var) else None
            return held if isinstance(held, ir.Var) else None
        taken = (
            self._maker(expr.base.name) if isinstance(expr.base, ir.Var) and expr.base.name.startswith("%") else None
        )
        record = self._source(taken) if isinstance(taken, ir.Pop) else None
        made = self._maker(record.name) if record is not None else None
        if not isinstance(made, ir.Make) or expr.key.many or not isinstance(expr.key.parts[0], ir.Lit):
            return None
        place = expr.key.parts[0].value
        keys = made.keys if made.keys is not None else tuple(range(len(made.items)))
        item = made.items[keys.index(place)] if place in keys else None
        return item if isinstance(item, ir.Var) else None

    def _handed_in(self, items: Sequence[str], key: ir.Key) -> str | None:
        """What an item of a tuple that is handed in is called where the tuple is made."""
        place = key.parts[0].value if not key.many and isinstance(key.parts[0], ir.Lit) else None
        return _fitting([items[place]]) if type(place) is int and 0 <= place < len(items) and items[place] else None

    def _returned(self, call: ir.Call, key: ir.Key) -> str | None:
        """What a function calls the item of its result."""
        if call.link.function is None or key.many or not isinstance(key.parts[0], ir.Lit):
            return None
        made = _result(call.link.function)
        place = key.parts[0].value
        if made is None or type(place) is not int or not 0 <= place < len(made.items):
            return None
        item = made.items[place]
        called = stem(item.name) if isinstance(item, ir.Var) else None
        what = _SEPARATE.sub("", called) if called else f"part_{place}" if place else "result"
        return _fitting([_callee(call.link.name), what])

    def _popped(self, tape: str) -> str | None:
        """What is taken off a tape: what was put there."""
        if not _TAPE.fullmatch(tape):
            return _fitting([_SEPARATE.sub("", tape), "last"])
        recorded = self.taped.get(tape)
        if recorded is not None:
            return self._atom(recorded)
        bare = _SEPARATE.sub("", tape)
        return bare.removesuffix("_tape") if bare.endswith("_tape") else None


def _result(function: ir.Function) -> ir.Make | None:
    """The tuple that a function returns, where it does at one place."""
    returned = [s.value for s in statements(function.body) if isinstance(s, ir.Return)]
    if len(returned) != 1 or not isinstance(returned[0], ir.Var):
        return None
    name = returned[0].name
    made = [s.value for s in statements(function.body) if isinstance(s, ir.Assign) and s.target == name]
    return made[0] if len(made) == 1 and isinstance(made[0], ir.Make) and made[0].cls is tuple else None


def _known(table: dict[Any, str], atom: ir.Atom) -> str | None:
    value = atom.value if isinstance(atom, ir.Lit) else None
    return table.get(value) if type(value) in (int, float) else None


def _number(value: Any) -> str | None:
    """A constant in a name: whole numbers that are short, a half, short names as keys; None for any other."""
    if isinstance(value, str):
        return _fitting([value])
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if type(value) not in (int, float) or (value != 0.5 and value not in range(-999, 1000)):
        return None
    return "half" if value == 0.5 else f"minus_{-int(value)}" if value < 0 else str(int(value))


def _function(fn: Any) -> str:
    """The bare name of a function; that of arithmetic is the operator's, whoever computes it."""
    name = _plain(getattr(fn, "__name__", None) or type(fn).__name__).removeprefix("cupy_")
    return _OPERATORS.get(name, name)


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name).strip("_") or "value"


def _callee(name: str) -> str:
    return _plain(name).removesuffix("_forward").removesuffix("_backward")


def _joined(words: Iterable[str | None]) -> str | None:
    parts = list(words)
    return None if None in parts else "_".join(part for part in parts if part)


def _fitting(words: Iterable[str | None]) -> str | None:
    """The words as one name, where each is known and the name is not too long."""
    name = _joined(words)
    if name is not None and name[:1].isdigit():
        number, _, rest = name.partition("_")
        name = f"{_FIRST[int(number)]}_{rest}" if number.isdigit() and int(number) < len(_FIRST) and rest else None
    return name if name is not None and len(name) <= LONGEST and is_identifier(name) else None
