"""Other libraries, where they are installed, on the very same programs."""

from __future__ import annotations

import importlib
import importlib.util
import types
from collections.abc import Callable
from typing import Any

from benchmarks.programs import Program


def installed() -> tuple[str, ...]:
    """Those of the peers that can be imported."""
    return tuple(name for name in _PEERS if importlib.util.find_spec(name) is not None)


def gradient_by(peer: str, program: Program) -> Callable[[], Any]:
    """A call that takes the gradient of the program by the peer, on arguments of the peer's own."""
    return _PEERS[peer](program)


def _with_modules(function: Callable[..., Any], numpy: Any) -> Callable[..., Any]:
    """The function, and the helpers that it calls, with another NumPy."""
    assert isinstance(function, types.FunctionType)
    names = {**function.__globals__, "np": numpy, "math": numpy}
    for name in function.__code__.co_names:
        helper = names.get(name)
        if isinstance(helper, types.FunctionType):
            names[name] = types.FunctionType(helper.__code__, names, name)
    return types.FunctionType(function.__code__, names, function.__name__)


def _places(program: Program) -> tuple[int, ...]:
    code = program.primal.__code__
    return tuple(code.co_varnames.index(name) for name in program.wrt)


def _autograd(program: Program) -> Callable[[], Any]:
    autograd = importlib.import_module("autograd")
    function = _with_modules(program.primal, importlib.import_module("autograd.numpy"))
    gradient = autograd.grad(function, _places(program))
    return lambda: gradient(*program.arguments)


def _jax(program: Program) -> Callable[[], Any]:
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    numpy = importlib.import_module("jax.numpy")
    function = _with_modules(program.primal, numpy)
    gradient = jax.jit(jax.grad(function, _places(program)))
    arguments = tuple(map(numpy.asarray, program.arguments))
    return lambda: jax.block_until_ready(gradient(*arguments))


_PEERS: dict[str, Callable[[Program], Callable[[], Any]]] = {"autograd": _autograd, "jax": _jax}
