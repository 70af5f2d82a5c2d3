"""Runs generated texts where nothing can be imported but NumPy, `tangentx.arrays` and the user's own modules.

``python alone.py ROOT FOLDER``: FOLDER has ``LABEL.py`` for each program and ``list.json``, a list of [label, the
program's module and name, name of the text's function]. Writes ``results.pickle``: by label, the leaves of each
gradient, or what was raised.
"""

import dataclasses
import importlib
import importlib.abc
import inspect
import json
import pickle
import sys
import types
from pathlib import Path

import numpy as np

# The support module stands on the class of our errors, and on four small modules that stand on nothing else.
ALLOWED = (
    "tangentx.arrays",
    "tangentx.errors",
    "tangentx.common.bounded_cache",
    "tangentx.common.float_events",
    "tangentx.common.naming",
    "tangentx.common.scoped_state",
    "tests.programs",
)
PACKAGES = ("tangentx", "tangentx.common", "tests", "tests.programs")


class Block(importlib.abc.MetaPathFinder):
    """Nothing of the compiler, nor what it stands on, nor any other package."""

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        allowed = any(name == each or name.startswith(each + ".") for each in ALLOWED)
        if allowed or top == "numpy" or top in sys.stdlib_module_names:
            return None
        raise ImportError(f"{name} is out of reach here", name=name)


def leaves(value):
    """All numbers of a gradient, in order."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    if dataclasses.is_dataclass(value):
        return [leaf for field in dataclasses.fields(value) for leaf in leaves(getattr(value, field.name))]
    if not isinstance(value, (int, float, complex, np.ndarray, np.generic)):
        return leaves(vars(value))
    return list(np.ravel(value))


def result(folder, label, module, name, function):
    """The leaves of the gradient of one program, by its text alone."""
    scope = {"__name__": "alone"}
    file = folder / f"{label}.py"
    exec(compile(file.read_text(), str(file), "exec"), scope)
    program = next(p for p in importlib.import_module(module).PROGRAMS if p.fn.__name__ == name)
    bound = inspect.signature(program.fn).bind(*program.args())
    bound.apply_defaults()
    owner = [program.fn.__self__] if inspect.ismethod(program.fn) else []
    return leaves(scope[function](*owner, *bound.arguments.values()))


def primitive(fn):
    """A function that takes its rules as decorators."""
    fn.adjoint = fn.partials = fn.tangent = lambda rule: rule
    return fn


def main(root, folder):
    for name in PACKAGES:  # as packages without their own code, which imports more
        package = types.ModuleType(name)
        package.__path__ = [str(Path(root, *name.split(".")))]
        sys.modules[name] = package
    # What the users' modules ask for when they are imported; the texts do not.
    sys.modules["tangentx"].checkpoint = lambda fn, *args: fn(*args) if args else fn
    sys.modules["tangentx"].checkpointed = lambda over, snapshots=None: over
    sys.modules["tangentx"].primitive = primitive
    sys.meta_path.insert(0, Block())
    results = {}
    for label, *rest in json.loads((folder / "list.json").read_text()):
        try:
            results[label] = result(folder, label, *rest)
        except Exception as error:
            results[label] = f"{type(error).__name__}: {error}"
    (folder / "results.pickle").write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
