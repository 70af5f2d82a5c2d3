"""Nested scopes: how functions inside a function change the meaning of names in both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from tangentx.common.syntax_trees import children
from tangentx.frontend.resolve import COMPREHENSIONS, SCOPES, body_of, outside_parts, scope, targets


def inner(tree: Any) -> list[Any]:
    """The functions that are defined in `tree`, not those inside them, in the order of the text."""
    found: list[Any] = []
    todo = list(reversed(body_of(tree)))
    while todo:
        node = todo.pop()
        if isinstance(node, SCOPES):
            found.append(node)
            todo.extend(reversed(outside_parts(node)))
        else:
            todo.extend(reversed(children(node)))
    return found


def free(tree: Any) -> tuple[str, ...]:
    """The names that function `tree`, or a function in it, uses and does not bind, in the order of the text."""
    own = scope(tree).names
    found: dict[str, None] = {}
    todo: list[tuple[Any, frozenset[str]]] = [(node, frozenset()) for node in reversed(body_of(tree))]
    while todo:
        node, hidden = todo.pop()
        if isinstance(node, gast.Name) and node.id not in hidden:
            found[node.id] = None
        if isinstance(node, SCOPES):
            found.update(dict.fromkeys(name for name in free(node) if name not in hidden))
            todo.extend((child, hidden) for child in reversed(outside_parts(node)))
        elif isinstance(node, COMPREHENSIONS):
            first, *others = _parts(node)
            inside = hidden.union(*(targets(generator.target) for generator in node.generators))
            todo.extend((child, inside) for child in reversed(others))
            todo.append((first, hidden))
        else:
            todo.extend((child, hidden) for child in reversed(children(node)))
    return tuple(name for name in found if name not in own)


def _parts(node: Any) -> list[Any]:
    """The expressions of a comprehension; the first belongs to the scope around it."""
    values = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
    iterables = [generator.iter for generator in node.generators]
    return [*iterables, *(test for generator in node.generators for test in generator.ifs), *values]


def rebound_inside(tree: Any) -> frozenset[str]:
    """The names of function `tree` that a function in it, however deep, declares ``nonlocal``."""
    found = _rebound(tree)
    return found & scope(tree).names if found else found


def _rebound(tree: Any) -> frozenset[str]:
    """The names that functions in `tree` declare ``nonlocal`` and that are not their own."""
    found: set[str] = set()
    for each in inner(tree):
        declared = {name for node in own_nodes(each) if isinstance(node, gast.Nonlocal) for name in node.names}
        found |= declared | (_rebound(each) - scope(each).names)
    return frozenset(found)


def definitions(tree: Any) -> dict[str, Any]:
    """The functions that `tree` defines by a plain ``def`` under names that nothing else binds."""
    functions = [node for node in inner(tree) if isinstance(node, gast.FunctionDef)]
    if not functions:
        return {}
    count: dict[str, int] = {}
    args = tree.args
    for param in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if param is not None:
            count[param.id] = 1
    stores = [
        node.id for node in own_nodes(tree) if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load)
    ]
    for name in (*stores, *(node.name for node in functions), *rebound_inside(tree)):
        count[name] = count.get(name, 0) + 1
    plain = (node for node in functions if not outside_parts(node) and count[node.name] == 1)
    own, early = scope(tree).names, _early(tree, functions)
    return {node.name: node for node in plain if node.name in own - early}


def _early(tree: Any, functions: list[Any]) -> set[str]:
    """The names of those functions that another one, defined before, may call before they are defined."""
    found: set[str] = set()
    names = {node.name: node for node in functions}
    loads = [node for node in own_nodes(tree) if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load)]
    for user in inner(tree):
        for name in free(user) if len(functions) > 1 or isinstance(user, gast.Lambda) else ():
            if name in names and _place(user) < _place(names[name]):
                between = (n for n in loads if _place(user) < _place(n) < _place(names[name]))
                if not isinstance(user, gast.FunctionDef) or any(n.id in names for n in between):
                    found.add(name)
    return found


def _place(node: Any) -> tuple[int, int]:
    return (node.lineno, node.col_offset)


def own_nodes(tree: Any) -> Iterator[Any]:
    """The nodes of function `tree`, without those of functions in it."""
    todo = body_of(tree)[:]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(outside_parts(node) if isinstance(node, SCOPES) else children(node))
