"""The interposed text of a user's function: every call, operator and attribute goes through the runtime."""

from __future__ import annotations

import ast
import copy
import dis
import functools
import sys
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tangentx.common import source
from tangentx.common.bounded_cache import Bounded
from tangentx.common.recursion import compiled
from tangentx.common.silenced_warnings import quietly
from tangentx.errors import NoSource, StaleSource

# The interposed text of a user's function: calls, operators and attributes go through the runtime.
#
# ``f(x)`` becomes ``meant(f)(x)``, ``a + b`` becomes ``plus(a, b)``; the functions are put for marks in the code.

CALL = "what is meant by this call"
PATTERN = "the class of a pattern"
_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.BitOr: "or", ast.BitAnd: "and", ast.BitXor: "xor",
}  # fmt: skip
_UNARY = {ast.USub: "neg", ast.UAdd: "pos"}
_COMPARED = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
    ast.In: "in", ast.NotIn: "in",
}  # fmt: skip


def mark(name: str) -> str:
    """The constant that stands for the function that is called for an operator."""
    return f"what is meant by this {name}"


class Asked(ast.NodeTransformer):
    """Asks in all that runs but annotations, which are for whoever reads them."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        node.func = self.visit(node.func)
        node.args = [self.visit(arg) for arg in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        node.func = ast.copy_location(ast.Call(ast.Constant(CALL), [node.func], []), node.func)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.Starred:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = _call("iteration", node.value, node.value)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        self.generic_visit(node)
        if node.arg is None:
            node.value = _call("pairs", node.value, node.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.Dict:
        spread = [key is None for key in node.keys]
        self.generic_visit(node)
        node.values = [_call("pairs", v, v) if each else v for v, each in zip(node.values, spread, strict=True)]
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.YieldFrom:
        self.generic_visit(node)
        node.value = _call("iteration", node.value, node.value)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        given, node.returns = node.returns, None
        self.generic_visit(node)
        node.returns = given
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is not None and not isinstance(node.target, ast.Name):
            return self.visit_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))
        node.value = None if node.value is None else self.visit(node.value)
        return node

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        """The classes of patterns are asked for first: a name that no text can have is bound to what asks."""
        found: list[ast.stmt] = []
        for pattern in [part for case in node.cases for part in ast.walk(case.pattern)]:
            if isinstance(pattern, ast.MatchClass):
                name = self._name()
                asked = ast.Lambda(
                    ast.arguments([], [ast.arg(PATTERN)], None, [], [], None, [ast.Constant(None)]), pattern.cls
                )
                bound = ast.Assign([ast.Name(name, ast.Store())], _call("pattern", pattern.cls, asked))
                found.append(ast.fix_missing_locations(ast.copy_location(bound, pattern.cls)))
                pattern.cls = ast.copy_location(ast.Name(name, ast.Load()), pattern.cls)
        self.generic_visit(node)
        return [*found, node]

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        # A pattern is no expression.
        node.guard = None if node.guard is None else self.visit(node.guard)
        found = [self.visit(statement) for statement in node.body]
        node.body = [one for each in found for one in (each if isinstance(each, list) else [each])]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name = _BINARY.get(type(node.op))
        return node if name is None else _call(name, node, node.left, node.right)

    def _tested(self, node: ast.expr) -> ast.expr:
        """A condition: objects of the program's are asked in it whether they are true."""
        if isinstance(node, ast.BoolOp):
            node.values = [self._tested(value) for value in node.values]
            return node
        found = self.visit(node)
        known = isinstance(node, ast.Compare | ast.Constant) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        )
        return found if known else _call("truth", node, found)

    def _conditional(self, node: Any) -> Any:
        test, node.test = self._tested(node.test), ast.Constant(True)
        self.generic_visit(node)
        node.test = test
        return node

    visit_If = visit_IfExp = visit_While = visit_Assert = _conditional

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            node.operand = self._tested(node.operand)
            return node
        constant = isinstance(node.operand, ast.Constant)
        self.generic_visit(node)
        name = _UNARY.get(type(node.op))
        return node if name is None or constant else _call(name, node, node.operand)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        name = _COMPARED.get(type(node.ops[0])) if len(node.ops) == 1 else None
        if name is None:
            return node
        found = _call(name, node, node.left, node.comparators[0])
        negated = isinstance(node.ops[0], ast.NotIn)
        return ast.copy_location(ast.UnaryOp(ast.Not(), found), node) if negated else found

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or _private(node.attr):
            return node
        return _call("attribute", node, node.value, ast.Constant(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return _call("item", node, node.value, _key(node.slice))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        name = _BINARY.get(type(node.op))
        target = node.target
        if name is None or (isinstance(target, ast.Attribute) and _private(target.attr)):
            self.generic_visit(node)
            return node
        if not isinstance(target, ast.Name):
            # What is there is read before the value is computed, and the object and the key are computed once.
            self.generic_visit(node)
            key = _key(target.slice) if isinstance(target, ast.Subscript) else ast.Constant(target.attr)
            place = "part" if isinstance(target, ast.Subscript) else "member"
            found = _call(place, node, target.value, key)
            return ast.copy_location(ast.Expr(_call(f"change i{name}", node, found, node.value)), node)
        before = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        value = _call(f"i{name}", node, before, self.visit(node.value))
        return ast.copy_location(ast.Assign([target], value), node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        if len(node.targets) > 1 or _is_apart(node.targets[0]):
            return self._one_by_one(node)
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Subscript):
            stored = _call("store", node, node.value, target.value, _key(target.slice))
        elif isinstance(target, ast.Attribute) and not _private(target.attr):
            stored = _call("setting", node, node.value, target.value, ast.Constant(target.attr))
        else:
            return _unpacked(node)
        return ast.copy_location(ast.Expr(stored), node)

    def _one_by_one(self, node: ast.Assign) -> list[ast.stmt]:
        """Each target by itself, from left to right, by way of names that no text can have."""
        if len(node.targets) > 1:
            name = self._name()
            each = [ast.Assign([target], ast.Name(name, ast.Load())) for target in node.targets]
            first = ast.Assign([ast.Name(name, ast.Store())], node.value)
        else:
            each = []
            first = ast.Assign([self._apart(node.targets[0], each)], node.value)
        found: list[ast.stmt] = []
        for statement in (first, *each):
            ast.fix_missing_locations(ast.copy_location(statement, node))
            made: Any = self.visit(statement) if statement is not first else self._visited(statement)
            found += made if isinstance(made, list) else [made]
        return found

    def _visited(self, node: ast.Assign) -> ast.Assign:
        self.generic_visit(node)
        return _unpacked(node)

    def _apart(self, target: ast.expr, each: list[ast.Assign]) -> ast.expr:
        """A target with names in it, to which what was there is assigned afterwards."""
        if isinstance(target, ast.Tuple | ast.List):
            return ast.copy_location(ast.Tuple([self._named(part, each) for part in target.elts], ast.Store()), target)
        return self._named(target, each)

    def _named(self, target: ast.expr, each: list[ast.Assign]) -> ast.expr:
        if isinstance(target, ast.Starred):
            return ast.copy_location(ast.Starred(self._named(target.value, each), ast.Store()), target)
        name = self._name()
        each.append(ast.Assign([target], ast.Name(name, ast.Load())))
        return ast.copy_location(ast.Name(name, ast.Store()), target)

    def _name(self) -> str:
        self._names = getattr(self, "_names", 0) + 1
        return f".{self._names}"

    def visit_With(self, node: ast.With) -> ast.With:
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = _call("manager", item.context_expr, item.context_expr)
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        if _stores(node.target) or _is_apart(node.target):
            each: list[ast.Assign] = []
            node.target = self._apart(node.target, each)
            node.body[:0] = [ast.fix_missing_locations(ast.copy_location(one, node)) for one in each]
        self.generic_visit(node)
        node.iter = _looped_over(node)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        tests, node.ifs = [self._tested(test) for test in node.ifs], []
        self.generic_visit(node)
        node.ifs = tests
        node.iter = _looped_over(node)
        return node


def _looped_over(node: ast.For | ast.comprehension) -> ast.expr:
    """What a loop asks for its items, and for theirs where they are bound to several names."""
    several = isinstance(node.target, ast.Tuple | ast.List)
    return _call("rows" if several else "iteration", node.iter, node.iter)


def _unpacked(node: ast.Assign) -> ast.Assign:
    """An assignment, whose value is asked for its items where it is bound to several names."""
    if isinstance(node.targets[0], ast.Tuple | ast.List):
        node.value = _call("iteration", node.value, node.value)
    return node


def _stores(target: ast.expr) -> bool:
    """Whether a target writes into an object."""
    return any(isinstance(node, ast.Subscript | ast.Attribute) for node in ast.walk(target))


def _is_apart(target: ast.expr) -> bool:
    """Whether several targets are bound one by one: some write into objects, or are several themselves."""
    inner = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    return bool(inner) and (_stores(target) or any(isinstance(part, ast.Tuple | ast.List) for part in inner))


def _private(name: str) -> bool:
    """Whether a class changes the name in its text."""
    return name.startswith("__") and not name.endswith("__")


def _call(name: str, place: ast.AST, *args: ast.expr) -> ast.Call:
    found = ast.Call(ast.Constant(mark(name)), list(args), [])
    for node in (found, found.func):
        ast.copy_location(node, place)
    return found


def _key(node: ast.expr) -> ast.expr:
    """An index as a value."""
    if isinstance(node, ast.Slice):
        parts = [ast.Constant(None) if part is None else part for part in (node.lower, node.upper, node.step)]
        return _call("slice", node, *parts)
    if isinstance(node, ast.Tuple):
        return ast.copy_location(ast.Tuple([_key(part) for part in node.elts], ast.Load()), node)
    return node


# Rewrites a user's function so that every call and operator is interposed.
#
# Everything else stays: names, places, globals, captured variables, identities. See `asked` for the text.

_MADE: Bounded[int, tuple[types.CodeType, types.CodeType | None]] = Bounded(1_000_000)
"""By the identity of a code, which is kept so that its id stays its own: itself, and the one that asks; so many bytes
of instructions."""
ORIGINALS: dict[int, types.CodeType] = {}
"""By the identity of a code that asks the one of which it was made, as long as there is the first."""


def asking(function: types.FunctionType, meanings: Mapping[str, Any]) -> types.FunctionType | None:
    """The function with such code; itself if it has it already, None where its source is not to be had.

    `meanings` has by their marks the functions that are asked.
    """
    code = function.__code__
    if any(constant is meanings[CALL] for constant in code.co_consts):
        return function
    known = _MADE.get(id(code))
    if known is None:
        known = code, _rewritten(function, meanings)
        _MADE.put(id(code), known, sum(len(inner.co_code) for one in known if one is not None for inner in _codes(one)))
    made = known[1]
    if made is None:
        return None
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in made.co_freevars)
    found = types.FunctionType(made, function.__globals__, function.__name__, function.__defaults__, closure)
    found.__kwdefaults__ = function.__kwdefaults__
    found.__qualname__ = function.__qualname__
    found.__dict__ = function.__dict__  # attributes that it keeps are kept in both
    return found


def _rewritten(function: types.FunctionType, meanings: Mapping[str, Any]) -> types.CodeType | None:
    try:
        found = source.find(function)
    except (NoSource, StaleSource):
        return None
    code = function.__code__
    made = _compiled(found, code.co_freevars, code.co_flags & source.FUTURE)
    if not set(made.co_freevars) <= set(code.co_freevars):
        return None
    return replaced(made, meanings, code)


def _compiled(found: source.Found, captured: tuple[str, ...], flags: int) -> types.CodeType:
    """The code of the definition, inside of a function that has the captured names, and of its class."""
    tree = copy.deepcopy(found.tree)
    tree.args.defaults, tree.args.kw_defaults = [], [None for _ in tree.args.kwonlyargs]
    if not isinstance(tree, ast.Lambda):
        # One that is never evaluated stands for the decorators: the first line of the code is theirs.
        tree.decorator_list = [ast.copy_location(ast.Constant(None), each) for each in tree.decorator_list[:1]]
        tree.returns = None
    for given in ast.walk(tree.args):
        if isinstance(given, ast.arg):
            given.annotation = None  # those of what is defined inside are evaluated when it is
    made = Asked().visit(tree)
    inner: ast.stmt = ast.Expr(made) if isinstance(made, ast.Lambda) else made
    if found.owner:
        inner = ast.ClassDef(found.owner, bases=[], keywords=[], body=[inner], decorator_list=[])
    names = ast.arguments([], [ast.arg(name) for name in captured], None, [], [], None, [])
    # What is of the module's level is there by its global name: a class for its methods, a function for itself.
    own = found.owner or getattr(inner, "name", "")
    outside: list[ast.stmt] = [ast.Global([own])] if own and own not in captured else []
    around = ast.FunctionDef("around", names, [*outside, inner], decorator_list=[])
    definitions: list[Any] = [node for node in (inner, around) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for node in definitions:
        ast.copy_location(node, found.tree)
        node.type_params = []  # asked for from Python 3.12 on
    module = ast.fix_missing_locations(ast.Module([around], []))
    # Without what is warned of: that a text is called, and what the user has seen before.
    code: types.CodeType = quietly(lambda: compiled(module, found.file, flags=flags))
    for _ in range(3 if found.owner else 2):
        code = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    return code


def replaced(made: types.CodeType, meanings: Mapping[str, Any], code: types.CodeType) -> types.CodeType:
    """The code `made` with the functions in the place of the marks, in what is nested in it too, which is named as in
    the `code` that it was made of."""
    own = iter([constant for constant in code.co_consts if isinstance(constant, types.CodeType)])

    def constant(value: Any) -> Any:
        if isinstance(value, types.CodeType):
            if value.co_varnames[:1] == (PATTERN,):
                return value
            return replaced(value, meanings, next((c for c in own if c.co_name == value.co_name), value))
        return meanings.get(value, value) if type(value) is str else value

    found = made.replace(co_consts=tuple(map(constant, made.co_consts)), co_qualname=code.co_qualname)
    ORIGINALS[id(found)] = code
    weakref.finalize(found, ORIGINALS.pop, id(found), None).atexit = False
    return found


@functools.lru_cache(maxsize=2000)
def bound_outside(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The globals and the captured variables that a function, or one inside of it, binds."""
    steps = [step for inner in _codes(code) for step in dis.get_instructions(inner)]
    names = frozenset(step.argval for step in steps if step.opname == "STORE_GLOBAL")
    captured = frozenset(step.argval for step in steps if step.opname == "STORE_DEREF")
    return names, captured & frozenset(code.co_freevars)


_LOOK_AROUND = ("globals", "vars", "eval", "exec")


def names_called(code: types.CodeType, attributes: frozenset[str]) -> frozenset[str] | None:
    """The globals that are only called, themselves or their attributes; None where the function has to stay as it is.

    It has to where it binds globals or looks at all of them.
    """
    called: set[str] = set()
    otherwise: set[str] = set()
    for inner in _codes(code):
        steps = list(dis.get_instructions(inner))
        ahead = [*steps, steps[-1], steps[-1]]
        for i, step in enumerate(steps):
            if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") or step.argval in _LOOK_AROUND:
                return None
            if step.opname == "LOAD_GLOBAL":
                (called if _is_called(ahead[i : i + 3], attributes) else otherwise).add(step.argval)
    return frozenset(called - otherwise)


def _is_called(steps: list[dis.Instruction], attributes: frozenset[str]) -> bool:
    """Whether a global is loaded to be called, or for an attribute; what is replaced of a module is to be called."""
    load, attribute, then = steps
    if load.arg is not None and load.arg & 1:
        return True
    if attribute.opname not in ("LOAD_METHOD", "LOAD_ATTR"):
        return False
    if sys.version_info >= (3, 13):  # from there on the mark of a call comes after what is called
        marked = then.opname == "PUSH_NULL" or bool(attribute.arg and attribute.arg & 1)
    elif sys.version_info >= (3, 12):
        marked = bool(attribute.arg and attribute.arg & 1)
    else:
        marked = attribute.opname == "LOAD_METHOD"
    return marked or attribute.argval not in attributes


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


# ``eval`` and ``exec`` on Tensors: their text is interposed, too.

_FILE = "<string>"
_OPTIMIZED = 1  # CO_OPTIMIZED: the names of a function, not of a module or a class
_COMPILED: Bounded[tuple[str, str], types.CodeType] = Bounded(100_000)
"""By text and mode; so many characters of text."""


def evaluating(run: Callable[..., Any], meanings: Mapping[str, Any]) -> Callable[..., Any]:
    """`eval` or `exec`, which looks at the frame that calls it where it is given no names."""
    mode = run.__name__

    def evaluated(text: Any, globals: Any = None, locals: Any = None, /, **options: Any) -> Any:
        code = _code(text, mode, meanings) if type(text) is str else text
        options = {name: value for name, value in options.items() if value is not None}
        globals, locals = options.pop("globals", globals), options.pop("locals", locals)
        if globals is None:
            frame = _user_frame()
            return run(code, frame.f_globals, names_in(frame) if locals is None else locals, **options)
        return run(code, globals, globals if locals is None else locals, **options)

    return evaluated


def _user_frame() -> types.FrameType:
    frame = sys._getframe(2)
    while str(frame.f_globals.get("__name__", "")).startswith("tangentx.") and frame.f_back is not None:
        frame = frame.f_back
    return frame


def names_in(frame: types.FrameType) -> Any:
    """What ``locals()`` is there: of a function a copy, from Python 3.13 on."""
    names = frame.f_locals
    return dict(names) if sys.version_info >= (3, 13) and frame.f_code.co_flags & _OPTIMIZED else names


def _code(text: str, mode: str, meanings: Mapping[str, Any]) -> types.CodeType:
    found = _COMPILED.get((text, mode))
    if found is None:
        whole = text.lstrip(" \t") if mode == "eval" else text
        plain = compile(whole, _FILE, mode, dont_inherit=True)  # with the errors and warnings of Python
        tree = ast.parse(whole, _FILE, mode)
        asked = ast.fix_missing_locations(Asked().visit(tree))
        made = quietly(lambda: compiled(asked, _FILE, mode))
        found = replaced(made, meanings, plain)
        _COMPILED.put((text, mode), found, len(text))
    return found
