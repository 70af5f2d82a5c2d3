"""Templates as pullbacks of single calls: the part of a rule's body that the wanted cotangents need."""

from __future__ import annotations

import ast
import inspect
import operator
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tangentx.arrays import guarded, of_rule
from tangentx.common.recursion import compiled
from tangentx.common.user_rules import own_rule
from tangentx.errors import NoTemplate
from tangentx.templates import Template, find
from tangentx.templates.registry import NONE_ONLY
from tangentx.tensor.calls.lifting import lifted_names
from tangentx.tensor.core.forms import demand_numbers, inexact, times

_ABSENT: Any = object()
_OPERATORS = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.pow,
    operator.mod,
    operator.neg,
    operator.matmul,
)
PRODUCT, _COMPLEX, _CHECKED = "product_", "complex_", "checked_"


class Pull:
    """The cotangents of `wanted` parameters: ``run(*needed values, ans_bar)`` gives a tuple of them.

    `needs` are names of parameters, of requests (``x_shape``) and ``ans``. `lifted` is the same for Tensors. Of its
    text, `chosen` are the expressions that give the cotangents, `middle` the lines before.
    """

    __slots__ = ("_lifted", "batched", "chosen", "middle", "names", "needs", "reads", "run", "text", "wanted")

    def __init__(self, template: Template, wanted: tuple[str, ...]) -> None:
        self.wanted = wanted
        self.middle, self.chosen, self.needs = _pruned(template, wanted)
        last = f"    return ({', '.join(self.chosen)},)"
        self.text = "\n".join((f"def pull_({', '.join((*self.needs, 'ans_bar'))}):", *self.middle, last)) + "\n"
        names = [p.name for p in template.params]
        # Where each is found: ("value" or "shape", which parameter), or ("ans", 0).
        self.reads = tuple(
            ("value", names.index(need))
            if need in names
            else ("ans", 0)
            if need == "ans"
            else ("shape", names.index(need.removesuffix("_shape")))
            for need in self.needs
        )
        self.names = {
            **getattr(template.body, "__globals__", {}),
            **_captured(template.body),
            _COMPLEX: np.iscomplexobj,
            _CHECKED: of_rule,
        }
        self.run = compiled_pullback(self.text, self.plain_names())
        self._lifted: Callable[..., Any] | None = None
        self.batched: dict[tuple[bool, ...], Callable[..., Any]] = {}  # the same for batches: see `batches`

    @property
    def lifted(self) -> Callable[..., Any]:
        """The pullback on Tensors, which records what it does."""
        if self._lifted is None:
            self._lifted = compiled_pullback(self.text, lifted_names({**self.names, PRODUCT: guarded}))
        return self._lifted

    def text_of(self, asked: Sequence[bool]) -> str:
        """The text with None for the cotangents that are not asked for."""
        chosen = [value if is_asked else "None" for value, is_asked in zip(self.chosen, asked, strict=True)]
        lines = [f"    return ({', '.join(chosen)},)"]
        read = _names(lines[0].removeprefix("    return "))
        for line in reversed(self.middle):
            target, _, value = line.strip().partition(" = ")
            if target in read:
                lines.insert(0, line)
                read |= _names(value)
        return "\n".join((f"def pull_({', '.join((*self.needs, 'ans_bar'))}):", *lines)) + "\n"

    def plain_names(self) -> dict[str, Any]:
        """The globals of the pullback on plain data."""
        return {**self.names, PRODUCT: times}


def _captured(body: Any) -> dict[str, Any]:
    """What the body of a template takes from the function that declares it."""
    cells = getattr(body, "__closure__", None)
    names = body.__code__.co_freevars if cells else ()
    return {name: cell.cell_contents for name, cell in zip(names, cells or (), strict=True)}


def compiled_pullback(text: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The function ``pull_`` of a text."""
    space = dict(names)
    exec(compiled(text, "<tangentx pullback>"), space)
    made: Callable[..., Any] = space["pull_"]
    return made


def _pruned(template: Template, wanted: tuple[str, ...]) -> tuple[list[str], list[str], tuple[str, ...]]:
    """The lines of the pullback before its end, the expressions that it gives, and what it needs."""
    body = template.body
    assert body is not None
    tree = ast.parse(textwrap.dedent(inspect.getsource(body))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    *middle, last = tree.body
    assert isinstance(last, ast.Return) and last.value is not None
    values = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    texts = {name: ast.unparse(value) for name, value in zip(template.cotangents, values, strict=True)}
    chosen = [texts[name] for name in wanted]
    if template.kind == "elementwise":
        chosen = [f"{PRODUCT}({value}, ans_bar)" for value in chosen]
    if template.signature is not None:  # a rule of the user's may give anything
        name = repr(template.name)
        pairs = zip(wanted, chosen, strict=True)
        chosen = [f"{_CHECKED}({value}, {x}, ans_bar, {name}, '`{x}_bar`')" for x, value in pairs]
    if template.real_constant:  # the formula is for complex numbers: for reals it may be infinite times zero
        pairs = zip(wanted, chosen, strict=True)
        chosen = [f"{value} if {_COMPLEX}({name}) else 0.0 * ans_bar" for name, value in pairs]
    lines: list[str] = []
    read = _names(f"({', '.join(chosen)},)")
    for statement in reversed(middle):
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) in read:
            lines.insert(0, f"    {ast.unparse(statement)}")
            read |= _names(ast.unparse(statement.value))
    known = [*(p.name for p in template.params), *template.requests]
    return lines, chosen, tuple(name for name in known if name in read and name != "ans_bar")


def _names(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


class Rule:
    """How a function is called and pulled back: its template with what is asked at every call looked up once."""

    def __init__(self, fn: Any, template: Template) -> None:
        self.fn = fn
        self.template = template
        self.constant = template.kind == "constant"
        self.name = "".join(part.capitalize() for part in template.name.strip("_").split("_"))
        own = getattr(fn, "__name__", "").strip("_")
        if own.isidentifier():
            self.name = _SHORT.get(own, own.capitalize())
        self.params = tuple(p.name for p in template.params)
        self.defaults = [_ABSENT if p.default is p.empty else p.default for p in template.params]
        stars = [i for i, p in enumerate(template.params) if p.kind is p.VAR_POSITIONAL]
        self.star = stars[0] if stars else -1
        self.nones = [i for i, name in enumerate(self.params) if name in NONE_ONLY]
        self.simple = -1 if self.star >= 0 or self.nones else len(self.params)
        arithmetic = fn in _OPERATORS or (isinstance(fn, np.ufunc) and fn.nout == 1)
        self.quick = self.simple if arithmetic and self.simple in (1, 2) and not template.lacks else -1
        self.inexact = fn in _OPERATORS or _inexact_throughout(fn)
        self.owner = getattr(fn, "__objclass__", None)
        self.may_view = template.kind not in ("elementwise", "constant")
        self.reduces = fn in _REDUCING
        self.with_cotangent = tuple(name in template.cotangents for name in self.params)
        self.every_cotangent = all(self.with_cotangent)
        self.refusing = tuple(name in template.refusing for name in self.params)
        self.ways: dict[tuple[str, int], Any] = {}
        self.nodes: dict[tuple[type, tuple[int, ...]], Any] = {}
        self._pulls: dict[tuple[int, ...], Pull] = {}

    def arranged(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The arguments of a call by parameter. Raises NoTemplate for those that the template does not know."""
        if self.star >= 0:
            first = args[: self.star]
            found = [*first, *self.defaults[len(first) : self.star], tuple(args[self.star :])]
            found += [_ABSENT] * (len(self.params) - len(found))
        else:
            found = [*args, *self.defaults[len(args) :]]
        for name, value in kwargs.items():
            if name not in self.params or self.params.index(name) < len(args):
                raise NoTemplate(f"`{self.template.name}` has no derivative for the argument `{name}`")
            found[self.params.index(name)] = value
        if len(found) != len(self.params) or any(value is _ABSENT for value in found):
            raise NoTemplate(f"`{self.template.name}` has no derivative for this number of arguments")
        for i in self.nones:
            if found[i] is not None:
                raise NoTemplate(f"`{self.template.name}` has no derivative for the argument `{self.params[i]}`")
        return found

    def whole_numbers(self, ans: Any) -> bool:
        """Whether the result has no derivative because of its type. One of objects or texts is refused."""
        if isinstance(ans, list | tuple | dict) or inexact(ans):
            return False
        demand_numbers(ans)
        return True

    def pull(self, places: tuple[int, ...]) -> Pull:
        """The pullback to the parameters at `places`."""
        found = self._pulls.get(places)
        if found is None:
            found = self._pulls[places] = Pull(self.template, tuple(self.params[i] for i in places))
        return found


def _inexact_throughout(fn: Any) -> bool:
    """Whether a ufunc gives real or complex numbers for such."""
    return isinstance(fn, np.ufunc) and all(
        set(way.split("->")[1]) <= _INEXACT for way in fn.types if _INEXACT & set(way)
    )


_INEXACT = frozenset("efdgFDG")
_SHORT = {
    "multiply": "Mul", "mul": "Mul", "add": "Add", "sub": "Sub", "subtract": "Sub", "truediv": "Div", "divide": "Div",
    "pow": "Pow", "power": "Pow", "neg": "Neg", "negative": "Neg", "absolute": "Abs", "getitem": "GetItem",
}  # fmt: skip
_REDUCING = frozenset(
    getattr(owner, name) for owner in (np, np.ndarray) for name in ("sum", "mean", "prod", "max", "min", "var", "std")
)
"""What gives a number of an array that is given alone."""
RULES: dict[Any, Rule | None] = {}


def rule_of(fn: Any) -> Rule | None:
    """The rule of a function; None where there is no template."""
    try:
        return RULES[fn]
    except KeyError:
        template, own = find(fn), own_rule(fn)
        if template is None or (template.body is None and template.kind != "constant"):
            return None  # a user's rule for forward mode alone
        if own is None:
            found = RULES[fn] = Rule(fn, template)
        elif own.rule is not None and own.rule.template is template:
            found = own.rule
        else:  # a function of the user's is not kept here, where it would stay for good
            found = own.rule = Rule(fn, template)
        return found
    except TypeError:
        return None
