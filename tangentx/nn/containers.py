"""Modules of modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tangentx.common.naming import with_article
from tangentx.nn.module import Module


def ModuleList(modules: Iterable[Module] = ()) -> list[Module]:
    """A list of modules: a plain one, for a module finds those that lists hold, and loops over lists are compiled.

    >>> import tangentx as tx
    >>> class Deep(tx.nn.Module):
    ...     def __init__(self):
    ...         self.layers = tx.nn.ModuleList(tx.nn.Linear(2, 2, bias=False) for _ in range(2))
    >>> [name for name, _ in Deep().named_parameters()]
    ['layers.0.weight', 'layers.1.weight']
    """
    return list(modules)


def ModuleDict(modules: Mapping[str, Module] | Iterable[tuple[str, Module]] = ()) -> dict[str, Module]:
    """A dict of modules by name: a plain one, as `ModuleList` gives a plain list.

    >>> import tangentx as tx
    >>> class Either(tx.nn.Module):
    ...     def __init__(self):
    ...         self.ways = tx.nn.ModuleDict({"left": tx.nn.Linear(2, 1, bias=False), "right": tx.nn.Linear(2, 1)})
    ...     def forward(self, x):
    ...         return self.ways["left"](x) * self.ways["right"](x)
    >>> [name for name, _ in Either().named_parameters()]
    ['ways.left.weight', 'ways.right.weight', 'ways.right.bias']
    """
    return dict(modules)


class Sequential(Module):
    """Modules that are called one after the other. Raises TypeError for what is no module.

    >>> import tangentx as tx
    >>> nn = tx.nn
    >>> nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    Sequential(  # 65 parameters
      (0): Linear(2, 16)  # 48 parameters
      (1): Tanh()
      (2): Linear(16, 1)  # 17 parameters
    )
    """

    def __init__(self, *layers: Module) -> None:
        for number, layer in enumerate(layers):
            if not isinstance(layer, Module):
                raise TypeError(f"Sequential: layer {number} is {with_article(type(layer).__name__)}, and no Module")
        self.layers = list(layers)

    def _held(self) -> Iterator[tuple[str, Any]]:
        """The modules by number."""
        yield from ((str(i), layer) for i, layer in enumerate(self.layers))
        yield from ((name, value) for name, value in vars(self).items() if name != "layers")

    def forward(self, x: Any) -> Any:
        """All layers in order."""
        for layer in self.layers:
            x = layer(x)
        return x

    def append(self, module: Module) -> Sequential:
        """One more at the end; returns itself."""
        self.layers.append(module)
        return self

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Module]:
        return iter(self.layers)

    def __getitem__(self, place: Any) -> Any:
        return Sequential(*self.layers[place]) if isinstance(place, slice) else self.layers[place]
