"""Kernels of CUDA on a machine without a device: compiled as C++, and run thread after thread, in any order.

`RawKernel` stands for the class of CuPy's: give it to the double of CuPy (`on_host`), whose arrays are addresses here.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tangentx.arrays import device_double
from tangentx.arrays.device_double import DeviceArray
from tangentx.arrays.kernels import OPTIONS

COMPILER = shutil.which("g++") or shutil.which("clang++")
_HEADER = r"""
#include <math.h>
#include <cmath>
#include <stdlib.h>
#include <string.h>
#define __global__
#define __device__
using std::isnan; using std::isinf; using std::isfinite;
static struct { unsigned x, y, z; } blockIdx, threadIdx, blockDim, gridDim;
static inline float __int_as_float(unsigned word) { float x; memcpy(&x, &word, 4); return x; }
"""
_RUN = r"""
extern "C" void run(
    const long long *run_order, long long run_count, const unsigned *run_grid, const unsigned *run_block%(params)s)
{
    gridDim = { run_grid[0], run_grid[1], run_grid[2] };
    blockDim = { run_block[0], run_block[1], run_block[2] };
    for (long long run_k = 0; run_k < run_count; run_k++) {
        unsigned long long run_at = run_order[run_k];
        threadIdx.x = run_at %% blockDim.x; run_at /= blockDim.x;
        threadIdx.y = run_at %% blockDim.y; run_at /= blockDim.y;
        threadIdx.z = run_at %% blockDim.z; run_at /= blockDim.z;
        blockIdx.x = run_at %% gridDim.x; run_at /= gridDim.x;
        blockIdx.y = run_at %% gridDim.y; run_at /= gridDim.y;
        blockIdx.z = run_at;
        %(name)s(%(names)s);
    }
}
"""
_TYPES = {np.int64: ctypes.c_longlong, np.float64: ctypes.c_double, np.float32: ctypes.c_float, np.bool_: ctypes.c_bool}
_FOLDER = Path(tempfile.gettempdir()) / "tangentx_kernels_on_host"


class RawKernel:
    """A double of ``cupy.RawKernel``; `made` has all sources, `order` draws in which order threads run."""

    made: dict[str, str] = {}
    order = np.random.default_rng(0)

    def __init__(self, code: str, name: str, options: Sequence[str] = (), backend: str = "nvrtc") -> None:
        assert tuple(options) == OPTIONS and backend == "nvrtc"
        self.code, self.name = code, name
        self.made[code] = name
        self.entry: Any = None

    def compile(self) -> None:
        """Compiles the source, once for each content."""
        head = re.search(rf"__global__ void {self.name}\(([^)]*)\)", self.code)
        assert head is not None, self.code
        params = re.sub(r"\s+", " ", head[1]).strip()
        names = [re.findall(r"\w+", part)[-1] for part in params.split(",")] if params else []
        told = {"name": self.name, "params": f", {params}" if params else "", "names": ", ".join(names)}
        self.types = [part.strip() for part in params.split(",")] if params else []
        text = _HEADER + self.code + _RUN % told
        path = _FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.so"
        if not path.exists():
            _FOLDER.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(dir=_FOLDER) as place:
                source, found = Path(place, "kernel.cpp"), Path(place, "kernel.so")
                source.write_text(text)
                assert COMPILER is not None
                command = [COMPILER, "-O0", "-ffp-contract=off", "-Wall", "-Werror", "-fPIC", "-shared"]
                told_by = subprocess.run([*command, "-o", found, source, "-lm"], capture_output=True, text=True)
                if told_by.returncode:
                    raise RuntimeError(f"{told_by.stderr}\n{self.code}")
                found.replace(path)
        self.entry = ctypes.CDLL(str(path)).run

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], args: Sequence[Any]) -> None:
        assert 1 <= len(grid) <= 3 and len(grid) == len(block)
        assert np.prod(block) <= 1024 and block[2:] <= (64,) and grid[1:] <= (65535,) * (len(grid) - 1)
        assert len(args) == len(self.types), (args, self.types)
        whole = [(ctypes.c_uint * 3)(*each, *[1] * (3 - len(each))) for each in (grid, block)]
        order = self.order.permutation(int(np.prod(grid) * np.prod(block))).astype(np.int64)
        given = [_given(x, type) for x, type in zip(args, self.types, strict=True)]
        place = ctypes.c_void_p(order.ctypes.data)
        self.entry(place, ctypes.c_longlong(len(order)), *whole, *given)


def _given(x: Any, type: str) -> Any:
    """An argument, which has exactly the type of the parameter."""
    named = {"long long": np.int64, "double": np.float64, "float": np.float32, "bool": np.bool_}
    word = next(each for each in named if each in type)
    if "*" in type:
        assert isinstance(x, DeviceArray) and x.dtype == named[word], (type, x)
        return ctypes.c_void_p(x._data.__array_interface__["data"][0])
    assert x.__class__ is named[word], (type, x)
    return _TYPES[x.__class__](x)


@contextmanager
def on_host() -> Iterator[type[RawKernel]]:
    """The double of CuPy has kernels."""
    device_double.RawKernel = RawKernel  # type: ignore[attr-defined]
    try:
        yield RawKernel
    finally:
        del device_double.RawKernel  # type: ignore[attr-defined]
