"""Draws the recorded graph as DOT or Mermaid text."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.tensor.core.tensor import Tensor
from tangentx.tensor.graph.nodes import Node


@dataclass(frozen=True)
class Drawing:
    """The graph of a Tensor: `dot` and `mermaid` are texts; `svg()` is rendered where graphviz is installed."""

    dot: str
    mermaid: str

    def __str__(self) -> str:
        return self.dot

    def svg(self) -> str:
        """The drawing as SVG. Raises NotDifferentiable where the program `dot` is not installed."""
        program = shutil.which("dot")
        if program is None:
            raise NotDifferentiable("graphviz is not installed", hint="install it, or use `.dot` or `.mermaid`")
        done = subprocess.run([program, "-Tsvg"], input=self.dot, capture_output=True, text=True, check=True)
        return done.stdout

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        shown = {"text/plain": self.dot}
        if shutil.which("dot") is not None:
            shown["image/svg+xml"] = self.svg()
        return shown


def graph(t: Any) -> Drawing:
    """The operations that a Tensor was computed by, as a drawing: from the leaves down to it.

    A notebook shows it; ``.dot`` and ``.mermaid`` are its texts. Raises NotDifferentiable for what requires no
    gradient.

    >>> import tangentx as tx
    >>> x = tx.tensor(2.0, requires_grad=True)
    >>> tx.graph(x * x).dot.count("->")
    2
    """
    if type(t) is not Tensor or not t.requires_grad:
        raise NotDifferentiable("only a Tensor that requires a gradient has a graph", span_of(place()), "pass one")
    names: dict[Any, str] = {}
    stack = [t.edge[0]]
    arrows: list[tuple[str, str]] = []
    labels: list[tuple[str, str]] = []
    while stack:
        target = stack.pop()
        if target not in names:
            _named(target, names, labels)
        for edge in target.edges if isinstance(target, Node) else ():
            if edge[0] not in names:
                _named(edge[0], names, labels)
                stack.append(edge[0])
            arrows.append((names[edge[0]], names[target]))
    dot = ["digraph {", *(f'  {n} [label="{_quoted(label)}"]' for n, label in labels)]
    dot += [f"  {a} -> {b}" for a, b in arrows] + ["}"]
    mermaid = ["graph TD", *(f'  {n}["{_quoted(label, "#quot;")}"]' for n, label in labels)]
    mermaid += [f"  {a} --> {b}" for a, b in arrows]
    return Drawing("\n".join(dot) + "\n", "\n".join(mermaid) + "\n")


def _named(target: Any, names: dict[Any, str], labels: list[tuple[str, str]]) -> None:
    names[target] = f"n{len(names)}"
    if isinstance(target, Node):
        label = f"{target.operation} (line {target.line})"
    else:
        label = f"leaf {np.shape(target.current)}"
    labels.append((names[target], label))


def _quoted(text: str, quote: str = '\\"') -> str:
    return text.replace('"', quote)
