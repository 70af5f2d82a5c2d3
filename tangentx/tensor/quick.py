"""The short way for ufuncs and operators of one or two operands, whose results share memory with nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.tensor.core import Tensor, wrap
from tangentx.tensor.forms import inexact
from tangentx.tensor.graph import Content
from tangentx.tensor.modes import STATE
from tangentx.tensor.operation import Operation, kept
from tangentx.tensor.places import place
from tangentx.tensor.rules import Rule

_new = object.__new__
_FIRST, _SECOND, _BOTH = (0,), (1,), (0, 1)


def unary(rule: Rule, x: Tensor) -> Tensor:
    """``fn(x)``, recorded where that is asked for."""
    if x._view is not None:
        x._view.refresh(x)
    data = x._data
    ans = rule.fn(data)
    if not x._needs:
        return wrap(ans)
    if not STATE.grad:
        return lost(ans)
    return _recorded(rule, _FIRST, (x,), (data,), ans)


def binary(rule: Rule, x: Any, y: Any) -> Tensor:
    """``fn(x, y)``, one of which is a Tensor and neither a list, recorded where that is asked for."""
    first = second = False
    a, b = x, y
    if type(x) is Tensor:
        if x._view is not None:
            x._view.refresh(x)
        a, first = x._data, x._needs
    if type(y) is Tensor:
        if y._view is not None:
            y._view.refresh(y)
        b, second = y._data, y._needs
    ans = rule.fn(a, b)
    if not (first or second):
        return wrap(ans)
    if not STATE.grad:
        return lost(ans)
    places: tuple[int, ...] = (_BOTH if second else _FIRST) if first else _SECOND
    if not rule.every_cotangent:
        places = tuple(i for i in places if rule.with_cotangent[i])
    return _recorded(rule, places, (x, y), (a, b), ans) if places else wrap(ans)


def lost(ans: Any) -> Tensor:
    """A result that is not recorded though it could be: a backward that comes too late names the place."""
    t = wrap(ans)
    t._made = place()
    return t


def _recorded(rule: Rule, places: tuple[int, ...], values: Any, data: Any, ans: Any) -> Tensor:
    t: Tensor = _new(Tensor)
    t._data = ans
    if type(ans) is np.ndarray:
        if ans.dtype.kind not in "fc":
            return t
    elif not inexact(ans):
        return t
    node: Operation = _new(Operation)
    t._node = node
    t._needs = True
    node.rule = rule
    node.operation = rule.name
    node.places = places
    node.pull_rule = pull = rule.pull(places)
    node.place = place(3)  # this one, `binary` or `unary`, and what called it
    edges = []
    likes = []
    for i in places:
        value, plain = values[i], data[i]
        edges.append((value, 0) if value._node is None else (value._node, value._slot))
        likes.append((plain.shape, plain.dtype) if type(plain) is np.ndarray else plain)
    node.edges = tuple(edges)
    node.likes = tuple(likes)
    if pull.reads:
        _keep(node, pull.reads, values, data, t)
    else:
        node.values = ()
    return t


def _keep(node: Operation, reads: Any, values: Any, data: Any, t: Tensor) -> None:
    """Keeps what the pullback reads, and marks its memory."""
    found = []
    contents: list[Content | None] = []
    for how, i in reads:
        value, plain = (t, t._data) if how == "ans" else (values[i], data[i])
        content = None
        if how == "shape":
            plain = np.shape(plain)
        elif type(value) is not Tensor:
            plain = kept(plain)
        elif type(plain) is np.ndarray:
            root = value if value._view is None else value._view.root
            content = root._content
            if content is None:
                content = root._content = Content()
        found.append(plain)
        contents.append(content)
    node.values = found
    node.contents = contents
