"""Derivatives in the IR, before any proof."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tangentx.derive.forward import tangent
from tangentx.derive.reverse.callee_pairs import Derivation
from tangentx.derive.reverse.gradient import Request, gradient
from tangentx.derive.reverse.walker import Walker
from tangentx.ir.show import show
from tests.analysis.made import analysed

ALL = frozenset(("trips", "again", "present", "first", "inline", "stacks"))


def reverse_text(fn: Callable[..., Any], *values: Any, off: frozenset[str] = ALL) -> str:
    program, instance = analysed(fn, *values)
    return show(gradient(Derivation(program, off), instance, Request((0,))))


def forward_text(fn: Callable[..., Any], *values: Any) -> str:
    program, instance = analysed(fn, *values)
    return show(tangent(program, instance, (0,)))


def sweeps(fn: Callable[..., Any], *values: Any) -> Walker:
    program, instance = analysed(fn, *values)
    return Walker(program, instance, Derivation(program, ALL))
