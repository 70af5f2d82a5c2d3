"""Prints syntax trees with astor, parses the text back and compares the trees."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from typing import Any

from tangentx.common.recursion import deep, parsed
from tangentx.common.silenced_warnings import quietly


def _astor() -> Any:
    import astor

    return astor


astor = quietly(_astor)  # it looks up node classes that Python gives up

_BETWEEN = frozenset("+-*/@|&")
WIDTH, WIDEST = 100, 120  # lines are broken at the first; what the user wrote on one of up to the second is no two


class PrinterFault(RuntimeError):
    """The printed text does not mean what the tree means: an error of tangentx itself."""


class TooDeep(Exception):
    """The text is nested more deeply than Python reads it."""


def printed(tree: ast.FunctionDef) -> str:
    """`tree` as text without a trailing newline; a name that begins with "#" and stands alone is a comment.

    Raises PrinterFault if the text, parsed back, is not `tree`, and TooDeep if Python cannot parse it.
    """
    try:
        return deep(lambda: _guarded(tree))
    except RecursionError:
        raise TooDeep from None


def _guarded(tree: ast.FunctionDef) -> str:
    for write in (_by_astor, _by_ast):
        text = _spaced(write(tree))
        if _faithful(text, tree):
            return text
    raise PrinterFault(f"the source text of {tree.name} does not parse back to its tree")


def _by_astor(tree: ast.FunctionDef) -> str:
    doc = ast.get_docstring(tree, clean=False)
    if doc is not None:  # written here: astor's choice of quotes goes by the length of the line
        place = ast.Expr(ast.Name("%doc", ast.Load()))
        fields = {**dict(ast.iter_fields(tree)), "body": [place, *tree.body[1:]]}
        tree = ast.FunctionDef(**fields)
    text: str = astor.to_source(tree, pretty_string=_string, pretty_source="".join)
    lines = [wrapped(line) for line in text.strip("\n").split("\n")]
    if doc is not None:
        at = lines.index("    %doc")
        lines[at] = "    " + _docstring(doc)
    return "\n".join(lines)


def _string(value: str, *_: object) -> str:
    text = repr(value)
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in value else text


def _by_ast(tree: ast.FunctionDef) -> str:
    return ast.unparse(ast.fix_missing_locations(tree))


def _docstring(text: str) -> str:
    if not text.replace("\n", "").isprintable():
        return repr(text)
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{text[:-1]}\\""""' if text.endswith('"') else f'"""{text}"""'


def _spaced(text: str) -> str:
    """A blank line before each heading (``# ----``) but one that begins its block."""
    lines: list[str] = []
    for line in text.split("\n"):
        above = lines[-1].rstrip() if lines else ":"
        if line.lstrip().startswith("# ----") and not above.endswith((":", '"""')):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def wrapped(line: str, width: int = WIDTH) -> str:
    """`line`, one whole statement, broken inside its brackets at `width` where it is wide."""
    bare = line.lstrip()
    if len(line) <= width or bare.startswith("#"):
        return line
    indent = " " * (len(line) - len(bare))
    further = indent + " " * (8 if bare.endswith(":") else 4)
    lines: list[str] = []
    held: list[tuple[str, float]] = [(indent, 0.0)]
    for piece in _pieces(_bracketed(bare)):
        held.append(piece)
        while len(held) > 2 and len(_text(held).rstrip()) > width:
            place = _best_cut(held, width)
            lines.append(_text(held[:place]).rstrip())
            held = [(further, 0.0), *held[place:]]
    return "\n".join([*lines, _text(held)])


def _text(pieces: list[tuple[str, float]]) -> str:
    return "".join(text for text, _ in pieces)


def _best_cut(pieces: list[tuple[str, float]], width: int) -> int:
    """Before which piece a new line begins: one in as few brackets as may be, the last of these; but no line shall be
    nearly empty."""
    ends = itertools.accumulate(len(text) for text, _ in pieces)
    far = [place for place, end in enumerate(ends, 1) if 1 < place < len(pieces) and end > 0.4 * width]
    places = far or range(2, len(pieces))
    return min(places, key=lambda place: (pieces[place][1], -place))


def _bracketed(line: str) -> str:
    """`line` with brackets around a tuple or a formula that has none, returned or assigned, and around long targets."""
    if line.startswith("return "):
        return f"return ({line[7:]})"
    try:
        (stmt,) = parsed(line).body
    except (SyntaxError, ValueError):  # the head of a block; more than one statement
        return line
    if not isinstance(stmt, ast.Assign | ast.AugAssign):
        return line
    before = line.encode()[: stmt.value.col_offset].decode()
    match stmt.value:
        case ast.Tuple(elts=[first, *_]) if first.col_offset == stmt.value.col_offset:
            return f"{before}({line[len(before) :]})"
        case ast.BinOp() | ast.BoolOp() if not before.endswith("("):
            return f"{before}({line[len(before) :]})"
    names, _, rest = line.partition(" = ")
    if len(names) > WIDTH // 2 and isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Tuple):
        return f"({names}) = {rest}"
    return line


def _pieces(line: str) -> list[tuple[str, float]]:
    """`line` cut at each place inside brackets where Python allows, and readers like, a new line; with how deep inside
    the cut before each piece is: a factor is deeper than a term, what follows a bracket than either."""
    cuts, depth, before = [(0, 0.0)], 0, ""
    for token in tokenize.generate_tokens(io.StringIO(line).readline):
        if token.type == tokenize.OP and token.start[0] == 1:
            if token.string in "([{":
                depth += 1
                cuts.append((token.end[1], depth + 0.75))
            elif token.string in ")]}":
                depth -= 1
            elif depth and token.string == ",":
                cuts.append((token.end[1] + (line[token.end[1] : token.end[1] + 1] == " "), depth))
            elif depth and token.string in _BETWEEN and before not in _BETWEEN and line[token.start[1] - 1] == " ":
                cuts.append((token.start[1], depth + (0.0 if token.string in "+-|" else 0.5)))
        before = token.string
    ends = [place for place, _ in cuts[1:]] + [len(line)]
    return [(line[start:end], rank) for (start, rank), end in zip(cuts, ends, strict=True) if end > start]


def _faithful(text: str, tree: ast.AST) -> bool:
    try:
        back = parsed(text).body
    except IndentationError:  # what is printed is indented well, but for the number of levels
        raise TooDeep from None
    except SyntaxError as error:
        if "too many" in str(error):
            raise TooDeep from None
        return False
    return len(back) == 1 and same(back[0], tree)


def same(one: Any, two: Any) -> bool:
    """Whether two trees mean the same: positions, contexts and comments aside."""
    pairs = [(one, two)]
    while pairs:
        a, b = pairs.pop()
        if isinstance(a, list) or isinstance(b, list):
            a, b = _code(a), _code(b)
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif type(a) is not type(b):
            return False
        elif isinstance(a, ast.AST):
            fields = [f for f in a._fields if f not in ("ctx", "kind", "type_comment")]
            pairs.extend((getattr(a, f, None), getattr(b, f, None)) for f in fields)
        elif a is not b and repr(a) != repr(b):
            return False
    return True


def _code(nodes: Any) -> list[Any]:
    return [node for node in nodes or () if not _comment(node)]


def _comment(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Name) and node.value.id.startswith("#")
