"""Classes that are made by the thousand: immutable for the type checker, which reads every line that sets an attribute,
and at run time without the check of each attribute, which makes up most of the time that a frozen instance takes."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses

    def dataclass(*, frozen, slots=False, eq=True):
        """`dataclasses.dataclass` with frozen instances that compare and hash as such, but are not guarded."""
        assert frozen

        def made(cls):
            hashed = eq and "__hash__" not in vars(cls)
            return dataclasses.dataclass(slots=slots, eq=eq, unsafe_hash=hashed)(cls)

        return made


__all__ = ["dataclass", "field"]
