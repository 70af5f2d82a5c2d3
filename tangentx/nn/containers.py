"""Modules of modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tangentx.nn.module import Module


class ModuleList(Module):
    """A list of modules, which are its children by number."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self.layers = list(modules)

    def _held(self) -> Iterator[tuple[str, Any]]:
        """The modules by number."""
        yield from ((str(i), layer) for i, layer in enumerate(self.layers))
        yield from ((name, value) for name, value in vars(self).items() if name != "layers")

    def append(self, module: Module) -> ModuleList:
        """One more at the end; returns itself."""
        self.layers.append(module)
        return self

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """More at the end; returns itself."""
        self.layers.extend(modules)
        return self

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Module]:
        return iter(self.layers)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return type(self)(*self.layers[place]) if isinstance(self, Sequential) else ModuleList(self.layers[place])
        return self.layers[place]


class Sequential(ModuleList):
    """Modules that are called one after the other.

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
        super().__init__(layers)

    def forward(self, x: Any) -> Any:
        """All layers in order."""
        for layer in self.layers:
            x = layer(x)
        return x
