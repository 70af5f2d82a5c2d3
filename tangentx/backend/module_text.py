"""The complete generated module: its functions lowered to Python's syntax, printed and loaded."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tangentx.arrays.kernels import kernel
from tangentx.backend.blocks import BlockWriter, Context
from tangentx.backend.expressions import constant
from tangentx.backend.positions import marks_of
from tangentx.backend.printer import TooDeep, printed
from tangentx.backend.spelling import Scope
from tangentx.backend.statement_groups import temporary
from tangentx.backend.temporaries import name_temporaries
from tangentx.common.generated_text import Text, run
from tangentx.common.naming import Names, is_identifier
from tangentx.common.recursion import compiled, deep
from tangentx.common.silenced_warnings import quietly
from tangentx.common.syntax_trees import preorder
from tangentx.errors import Span, UnsupportedSyntax
from tangentx.ir import walk
from tangentx.ir.nodes import Function, Lit, Param
from tangentx.ir.opaque_ops import handed_over
from tangentx.ir.value_names import ValueNames

# Lowers functions of the IR to Python syntax trees, in the form that a person would write.
#
# A temporary (a name that begins with "%") with one definition and one reader is nested into its reader, unless
# that would move a read past a write, a call, a consumption or a rebinding, or make a line too long.


def lower(function: Function, scope: Scope) -> ast.FunctionDef:
    """The tree of `function`, its temporaries still called "%..." (see `temporaries`); a comment is a name
    that begins with "#", standing alone."""
    context = Context(function.body, scope, function.notes.get("lengths", {}))
    body = BlockWriter(context, 1).block(context.shaped[id(function.body)])
    if len(body) > 1 and _bare_return(body[-1]):
        body.pop()
    if function.doc:
        body.insert(0, ast.Expr(ast.Constant(function.doc)))
    tree = ast.FunctionDef(
        name=scope.functions.get(function, function.name),
        args=_arguments(function.params, scope),
        body=body or [ast.Pass()],
        decorator_list=_decorators(function, scope),
        returns=None,
        type_comment=None,
    )
    if "type_params" in ast.FunctionDef._fields:
        tree.type_params = []  # type: ignore[attr-defined,unused-ignore]
    return tree


def source_of(function: Function, scope: Scope) -> str:
    """The name under which a text has the source of the kernel that a function is."""
    return f"{scope.functions.get(function, function.name)}_source"


def _decorators(function: Function, scope: Scope) -> list[ast.expr]:
    """What makes a kernel of a function, with its source, which stands before it."""
    if "kernel" not in function.notes:
        return []
    _, takes, gives = function.notes["kernel"]
    given: list[ast.expr] = [ast.Name(source_of(function, scope), ast.Load()), ast.Constant(takes), ast.Constant(gives)]
    return [ast.Call(scope.spelled(kernel), given, [])]


def _bare_return(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Return) and isinstance(stmt.value, ast.Constant) and stmt.value.value is None


def _arguments(params: tuple[Param, ...], scope: Scope) -> ast.arguments:
    normal = [p for p in params if p.kind in ("normal", "positional")]
    named = [p for p in params if p.kind == "keyword"]
    defaults: list[ast.expr] = []
    for param in reversed(normal):  # a parameter without a default ends the run of those that have one
        default = _default(param, scope)
        if default is None:
            break
        defaults.insert(0, default)
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(p.name) for p in normal],
        vararg=next((ast.arg(p.name) for p in params if p.kind == "args"), None),
        kwonlyargs=[ast.arg(p.name) for p in named],
        kw_defaults=[_default(p, scope) for p in named],
        kwarg=next((ast.arg(p.name) for p in params if p.kind == "kwargs"), None),
        defaults=defaults,
    )


def _default(param: Param, scope: Scope) -> ast.expr | None:
    return constant(param.default.value, scope) if isinstance(param.default, Lit) else None


# Attributes and keywords whose names are not identifiers, such as ``learning-rate``, printed with `getattr`.


def spelled(tree: ast.FunctionDef, scope: Scope) -> ast.FunctionDef:
    """`tree` with ``getattr(x, name)``, ``setattr`` and ``delattr`` for what has no other spelling; in place."""
    if all(map(_is_spelled, preorder(tree))):
        return tree
    found: ast.FunctionDef = _Speller(scope).visit(tree)
    return found


def _is_spelled(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return is_identifier(node.attr)
    return not isinstance(node, ast.keyword) or node.arg is None or is_identifier(node.arg)


class _Speller(ast.NodeTransformer):
    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def _call(self, name: str, at: ast.Attribute, *more: ast.expr) -> ast.Call:
        function = self.scope.member("builtins", name)
        return ast.Call(function, [self.visit(at.value), ast.Constant(at.attr), *more], [])

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if is_identifier(node.attr):
            return self.generic_visit(node)  # type: ignore[return-value]
        return self._call("getattr", node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        match node.targets:
            case [ast.Attribute() as at] if not is_identifier(at.attr):
                return ast.Expr(self._call("setattr", at, self.visit(node.value)))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        at = node.target
        if not isinstance(at, ast.Attribute) or is_identifier(at.attr):
            return self.generic_visit(node)  # type: ignore[return-value]
        assert isinstance(at.value, ast.Name)  # it is evaluated twice
        value = ast.BinOp(self._call("getattr", at), node.op, self.visit(node.value))
        return ast.Expr(self._call("setattr", at, value))

    def visit_Delete(self, node: ast.Delete) -> ast.stmt:
        match node.targets:
            case [ast.Attribute() as at] if not is_identifier(at.attr):
                return ast.Expr(self._call("delattr", at))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        odd = [word for word in node.keywords if not _is_spelled(word)]
        if odd:
            plain = [word for word in node.keywords if word not in odd]
            keys: list[ast.expr | None] = [ast.Constant(word.arg) for word in odd]
            node.keywords = [*plain, ast.keyword(None, ast.Dict(keys, [word.value for word in odd]))]
        return node


# The complete generated module: header, imports, functions.


def write(functions: Sequence[Function], header: str = "") -> Text:
    """The text of `functions`, which are all that they call; `header` becomes a comment at the top.

    A function keeps its name unless a variable or an earlier function has it. The same functions give the same
    text. Raises KeyError for a call of a function that is not among them.
    """
    try:
        return deep(lambda: _write(functions, header))
    except RecursionError:
        raise too_deep(functions[0].span) from None


def too_deep(place: Span | None) -> UnsupportedSyntax:
    """The error for a program whose derivative Python does not read."""
    message = "loops and branches are nested so deeply that Python cannot read the text of the derivative"
    return UnsupportedSyntax(message, place, "move the inner ones into a function of their own")


def _write(functions: Sequence[Function], header: str) -> Text:
    functions = [*functions, *handed_over(functions)]
    taken = _user_names(functions)
    scope = Scope(taken, _function_names(functions, taken))
    trees = [spelled(lower(function, scope), scope) for function in functions]
    for tree, function in zip(trees, functions, strict=True):
        notes = function.notes
        name_temporaries(tree, scope, ValueNames(function.body, notes.get("called"), notes.get("items")))
    imports = scope.import_lines()
    comment = [line if line.startswith("#") else f"# {line}".rstrip() for line in header.splitlines()]
    if scope.objects:
        names = ", ".join(f"`{name}`" for name in scope.objects)
        comment.append(f"# No import reaches {names}: set before this text runs anywhere else.")
    top = "\n\n".join("\n".join(part) for part in (comment, imports) if part)
    parts = [top] if top else []
    for tree, function in zip(trees, functions, strict=True):
        try:
            parts.append(_source(function, scope) + printed(tree))
        except TooDeep:
            raise too_deep(function.span) from None
    source = "\n\n\n".join(parts) + "\n"
    files = {scope.functions[f]: f.span.file for f in functions}
    marks = {tree.name: marks_of(tree, f.span) for tree, f in zip(trees, functions, strict=True)}
    copied = functions[0].notes.get("copied", ())
    reads = tuple(scope.reads.values())
    return Text(source, scope.objects, tuple(imports), tuple(files), files, copied, marks, functions[0].span, reads)


def _source(function: Function, scope: Scope) -> str:
    """The source of the kernel that a function is, to stand before it; nothing for any other function."""
    if "kernel" not in function.notes:
        return ""
    return f'{source_of(function, scope)} = r"""\n{function.notes["kernel"][0]}"""\n\n\n'


def _user_names(functions: Sequence[Function]) -> set[str]:
    found: set[str] = set()
    for function in functions:
        found |= {param.name for param in function.params}
        found |= walk.bound(function.body) | walk.used(function.body)
    return {name for name in found if not temporary(name)}


def _function_names(functions: Sequence[Function], taken: set[str]) -> dict[Function, str]:
    names = Names(taken)
    given: dict[Function, str] = {}
    for function in functions:
        free = function.name not in taken and function.name not in given.values()
        given[function] = function.name if free else names.fresh(function.name)
        names.take(given[function])
    return given


# Loads printed text as functions, with their source lines known to tracebacks and debuggers.


def load(text: Text, filename: str, module: str = "tangentx.generated") -> dict[str, Any]:
    """The functions of `text` by their printed names.

    `filename` ("<tangentx glide_grad 1>") is entered in `linecache`; `module` becomes their `__module__`. It is
    the text that is compiled, never the tree. Raises UnsupportedSyntax where it is nested too deeply for Python.
    """
    try:
        # What Python warns of in a text that we wrote is nothing that its user could change.
        code = quietly(lambda: deep(lambda: compiled(text.source, filename)))
    except (SyntaxError, RecursionError):  # it was parsed before: there are more than 20 loops
        raise too_deep(text.place) from None
    return run(code, text, filename, module)
