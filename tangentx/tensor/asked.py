"""The text of a user's function in which calls, operators and attributes ask what is meant by them.

``f(x)`` becomes ``meant(f)(x)``, ``a + b`` becomes ``plus(a, b)``; the functions are put for marks in the code.
"""

from __future__ import annotations

import ast

CALL = "what is meant by this call"
_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul",
}  # fmt: skip
_UNARY = {ast.USub: "neg", ast.UAdd: "pos"}
_COMPARED = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


def mark(name: str) -> str:
    """The constant that stands for the function that is called for an operator."""
    return f"what is meant by this {name}"


class Asked(ast.NodeTransformer):
    """Asks in all that runs; annotations, which are no part of the code, are left out."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        else:
            node.func = self.visit(node.func)
        node.args = [self.visit(arg) for arg in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        node.func = ast.copy_location(ast.Call(ast.Constant(CALL), [node.func], []), node.func)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.value = None if node.value is None else self.visit(node.value)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        # A pattern is no expression.
        node.guard = None if node.guard is None else self.visit(node.guard)
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name = _BINARY.get(type(node.op))
        return node if name is None else _call(name, node, node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        constant = isinstance(node.operand, ast.Constant)
        self.generic_visit(node)
        name = _UNARY.get(type(node.op))
        return node if name is None or constant else _call(name, node, node.operand)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        name = _COMPARED.get(type(node.ops[0])) if len(node.ops) == 1 else None
        return node if name is None else _call(name, node, node.left, node.comparators[0])

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
        if name is None or not isinstance(node.target, ast.Name):
            self.generic_visit(node)
            return node
        before = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = _call(f"i{name}", node, before, self.visit(node.value))
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1:
            return node
        if isinstance(target, ast.Subscript):
            stored = _call("store", node, node.value, target.value, _key(target.slice))
        elif isinstance(target, ast.Attribute) and not _private(target.attr):
            stored = _call("setting", node, node.value, target.value, ast.Constant(target.attr))
        else:
            return node
        return ast.copy_location(ast.Expr(stored), node)

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        node.iter = _call("iteration", node.iter, node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.iter = _call("iteration", node.iter, node.iter)
        return node


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
