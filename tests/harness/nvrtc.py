"""NVIDIA's compiler of CUDA at run time, which needs no device: ``pip install nvidia-cuda-nvrtc`` is enough."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path


@functools.cache
def library() -> ctypes.CDLL | None:
    """The compiler; None where it is not there. ``TANGENTX_NVRTC`` may say where it lies."""
    given = os.environ.get("TANGENTX_NVRTC")
    spec = importlib.util.find_spec("nvidia")
    homes = [] if spec is None else [Path(place) for place in spec.submodule_search_locations or ()]
    found = [str(path) for home in homes for path in sorted(home.rglob("libnvrtc.so.*"))]
    for path in [given] if given else found:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def ptx(source: str, name: str, options: Sequence[str]) -> str:
    """The kernel as PTX. Raises RuntimeError with what the compiler says."""
    compiler = library()
    assert compiler is not None
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    made = compiler.nvrtcCreateProgram(ctypes.byref(program), source.encode(), f"{name}.cu".encode(), 0, None, None)
    assert made == 0
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    code = compiler.nvrtcCompileProgram(program, len(options), given)
    ask, size_of = (compiler.nvrtcGetProgramLog, compiler.nvrtcGetProgramLogSize)
    if code == 0:
        ask, size_of = (compiler.nvrtcGetPTX, compiler.nvrtcGetPTXSize)
    size_of(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    ask(program, text)
    compiler.nvrtcDestroyProgram(ctypes.byref(program))
    if code:
        raise RuntimeError(f"{text.value.decode()}\n{source}")
    return text.value.decode()
