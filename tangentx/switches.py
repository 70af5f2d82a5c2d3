"""What is set for one compilation: the proofs that are off, and the functions that run on Tensors."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tangentx.errors import TangentxError


@dataclass
class Helper:
    """A function that cannot be compiled, and why. `met`: a call of it runs on Tensors for itself."""

    error: TangentxError
    met: bool = False


OFF: ContextVar[frozenset[str]] = ContextVar("tangentx_proofs_off", default=frozenset())
ON_TENSORS: ContextVar[Mapping[Any, Helper]] = ContextVar("tangentx_on_tensors", default=MappingProxyType({}))
