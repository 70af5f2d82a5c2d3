"""The corpus as programs of CuPy: the same source, with the double under the name that it has for NumPy."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tests.programs as programs
from tangentx.common.pytrees import leaves, rebuild
from tangentx.testing.device_arrays import DeviceArray
from tests.programs.case import Program

_IMPORT = "import numpy as np\n"
_THERE = "from tangentx.testing import device_arrays as np\n"


def module_there(name: str, folder: Path, importing: str = _THERE) -> types.ModuleType:
    """The module of the corpus by this name, in which `np` is the double, or what is imported; its source lies in the
    folder."""
    path = folder / f"device_{name}.py"
    if path.stem not in sys.modules:
        source = (Path(programs.__file__).parent / f"{name}.py").read_text()
        path.write_text(source.replace(_IMPORT, importing))
        module = types.ModuleType(path.stem)
        module.__file__, module.__package__ = str(path), "tests.programs"
        sys.modules[path.stem] = module
        exec(compile(path.read_text(), str(path), "exec"), vars(module))
    return sys.modules[path.stem]


def function_there(program: Program, folder: Path, importing: str = _THERE) -> Callable[..., Any]:
    """The program's function with the functions of the double, or of what is imported."""
    module = module_there(program.fn.__module__.rpartition(".")[2], folder, importing)
    found: Callable[..., Any] = getattr(module, program.name)
    return found


def there(tree: Any) -> Any:
    """A structure with its arrays on the device."""
    return rebuild(tree, lambda leaf: DeviceArray(leaf) if isinstance(leaf, np.ndarray) else leaf)


def here(tree: Any) -> Any:
    """The structure with NumPy's arrays."""
    return rebuild(tree, lambda leaf: leaf.get() if type(leaf) is DeviceArray else leaf)


def has_arrays(program: Program) -> bool:
    """Whether an argument is an array, or holds one."""
    return any(isinstance(leaf, np.ndarray) for _, leaf in leaves("", list(program.args())))


def slope(fn: Callable[..., Any], program: Program, h: float = 1e-6) -> float:
    """The slope of a function on the device, along ones, by differences."""
    ends = [float(here(fn(*there(list(moved(program, step)))))) for step in (h, -h)]
    return (ends[0] - ends[1]) / (2 * h)


def moved(program: Program, step: float) -> tuple[Any, ...]:
    """The arguments, with every real that the derivative is by moved by a step."""
    names = list(inspect.signature(program.fn).parameters)
    wanted = program.wrt if isinstance(program.wrt, tuple) else (program.wrt,)
    args = list(program.args())
    for name in wanted:
        place = names.index(name)
        args[place] = rebuild(args[place], lambda leaf: leaf + step if _is_real(leaf) else leaf)
    return tuple(args)


def _is_real(leaf: Any) -> bool:
    return isinstance(leaf, float) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f")


def total(gradient: Any) -> float:
    """The sum of all parts of a gradient of reals: its slope along ones."""
    return float(sum(np.sum(leaf) for _, leaf in leaves("", here(gradient)) if _is_real(leaf)))


def numbers(program: Program) -> int:
    """How many numbers of Python's the derivative is by, each of which is brought here at the end."""
    names = list(inspect.signature(program.fn).parameters)
    wanted = program.wrt if isinstance(program.wrt, tuple) else (program.wrt,)
    args = program.args()
    found = (leaf for name in wanted for _, leaf in leaves("", args[names.index(name)]))
    return sum(isinstance(leaf, float) for leaf in found)
