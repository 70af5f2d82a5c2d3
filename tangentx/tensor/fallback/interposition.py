"""The interposed text of a user's function: calls, operators and attributes go through the runtime.

``f(x)`` becomes ``meant(f)(x)``, ``a + b`` becomes ``plus(a, b)``; the functions are put for marks in the code.
"""

from __future__ import annotations

import ast
from typing import Any

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
