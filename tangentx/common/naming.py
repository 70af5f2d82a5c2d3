"""Fresh names, and the import path by which generated text can reach an object."""

from __future__ import annotations

import builtins
import importlib
import keyword
import operator
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from types import MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from tangentx.errors import is_library

_BUILTINS = frozenset(dir(builtins))
_MODULES = {
    "builtins": "",
    "numpy": "np",
    "numpy.linalg": "np",
    "numpy.fft": "np",
    "numpy.random": "np",
    "math": "math",
    "cmath": "cmath",
    "operator": "operator",
    "tangentx.arrays": "arrays",
}
_SCIPY = tuple(
    f"scipy.{name}"
    for name in (
        "special linalg stats fft signal integrate optimize interpolate ndimage spatial.distance "
        "spatial.transform spatial sparse.linalg sparse"
    ).split()
)
"""Modules of SciPy's that have functions which are written elsewhere; looked at where the program has them."""


def as_python_says(name: str) -> str:
    """The name of a function of the program's, which an identifier stands for where it has none.

    >>> as_python_says("step"), as_python_says("lambda_")
    ('step', '<lambda>')
    """
    return "<lambda>" if name == "lambda_" else name


def with_article(name: str) -> str:
    """The name of a class with its indefinite article, by its first letter.

    >>> with_article("float"), with_article("int"), with_article("Iterator"), with_article("ufunc")
    ('a float', 'an int', 'an Iterator', 'a ufunc')
    """
    return f"{'an' if name[:1] in 'aeioAEIO' else 'a'} {name}"


def is_identifier(text: str) -> bool:
    """Whether a source text may use it as a name; Python reads some letters as others."""
    return text.isidentifier() and not keyword.iskeyword(text) and unicodedata.normalize("NFKC", text) == text


class Names:
    """The names of one generated text: those that are taken, and new ones beside them."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._numbers: dict[str, int] = {}  # per stem, how many names were tried: none of them becomes free again

    def __contains__(self, name: str) -> bool:
        """Whether `name` may not be given to anything new."""
        return name in self._taken or name in _BUILTINS or keyword.iskeyword(name)

    def take(self, name: str) -> None:
        """Mark `name` as taken."""
        self._taken.add(name)

    def fresh(self, stem: str) -> str:
        """A name that nothing has, now taken: `stem`, or ``stem_``, ``stem_1``, ``stem_2`` ..."""
        name = stem
        number = self._numbers.get(stem, 0)
        while name in self:
            name = f"{stem}_{number}" if number else f"{stem}_"
            number += 1
        self._numbers[stem] = max(number - 1, 0)
        self._taken.add(name)
        return name

    def bar(self, name: str) -> str:
        """A new name for the cotangent of `name`: ``x_bar``, or ``x_bar_`` where the program has that."""
        return self.fresh(name + "_bar")


class Spelling(NamedTuple):
    """How a text names an object: attribute `chain` (dotted; empty for the module itself) of `module`.

    `alias` is the customary name of the module's package in the text: ``np`` for ``numpy``, nothing for
    ``builtins``.
    """

    module: str
    chain: str
    alias: str

    @property
    def text(self) -> str:
        """The name as it stands in a text that has imported `module` as `alias`."""
        return ".".join(part for part in (self.alias, self.chain) if part)


def spell(obj: Any) -> Spelling | None:
    """The import path of `obj`, a function, class or module, or None where none leads to this very object."""
    if isinstance(obj, ModuleType):
        return _module(obj)
    if not callable(obj):
        return None
    own = getattr(obj, "__name__", None)
    for module, alias in _MODULES.items():
        chain = _inside(obj, own, module)
        if chain:
            return _known(module, chain, alias)
    return _of_scipy(obj) or _own_path(obj)


def _of_scipy(obj: Any) -> Spelling | None:
    """The public path of a function of SciPy's, of a distribution or of a method of one."""
    owner = getattr(obj, "__self__", None)
    if isinstance(obj, MethodType):
        whose = _of_scipy(owner)
        return None if whose is None else whose._replace(chain=f"{whose.chain}.{obj.__name__}")
    name = getattr(obj, "__name__", None) or type(obj).__name__.removesuffix("_gen")
    for home in _SCIPY:
        if home in sys.modules and getattr(sys.modules[home], name, None) is obj:
            return Spelling(home, name, home.rpartition(".")[2])
    return None


def public_name(obj: Any) -> str:
    """The name by which people call a function or class of a library, as ``scipy.spatial.distance.cdist``; its bare
    name where it is the user's own, or no public path leads to it.

    >>> import numpy as np, operator
    >>> public_name(np.linalg.eigh), public_name(operator.itemgetter), public_name(operator.mul)
    ('np.linalg.eigh', 'operator.itemgetter', 'a * b')
    """
    name = str(getattr(obj, "__name__", ""))
    same, _, operation = (getattr(operator, name, None) is obj and obj.__doc__ or "").partition("Same as ")
    if operation and not same:
        return str(operation.splitlines()[0].rstrip("."))
    owner = getattr(obj, "__objclass__", None) or getattr(obj, "__self__", None)
    if isinstance(owner, type | np.ufunc) and name:
        return f"{public_name(owner)}.{name}"
    known = _of_scipy(obj)
    if known is not None:
        return f"{known.module}.{known.chain}"
    chain = getattr(obj, "__qualname__", name)
    if not name or not isinstance(chain, str) or "<" in chain:
        return name or type(obj).__name__
    plain = getattr(obj, "__func__", obj)
    for home in _homes(obj):
        found: Any = vars(sys.modules[home]).get(chain.partition(".")[0])
        for part in chain.split(".")[1:]:
            found = getattr(found, part, None)
        if found is plain:
            return f"{home}.{chain}".removeprefix("builtins.").replace("numpy.", "np.", 1)
    return chain


def _homes(obj: Any) -> Iterator[str]:
    """Loaded public modules of a library that may have `obj` under its name, the outermost first."""
    home = getattr(obj, "__module__", None)
    names = [home] if isinstance(home, str) else ["numpy"]
    for name in (*names, *(name.lstrip("_") for name in names)):
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            prefix = ".".join(parts[:count])
            module = sys.modules.get(prefix)
            file = getattr(module, "__file__", None)
            if module is not None and "._" not in f".{prefix}" and (file is None or is_library(file)):
                yield prefix


def _module(module: ModuleType) -> Spelling | None:
    name = module.__name__
    if sys.modules.get(name) is not module:
        return None
    if name.startswith("numpy."):
        return Spelling("numpy", name.removeprefix("numpy."), "np")
    return Spelling(name, "", _MODULES.get(name) or name.rpartition(".")[2])


def _known(module: str, chain: str, alias: str) -> Spelling:
    package, dot, rest = module.partition(".")
    if package == "numpy" and dot:
        return Spelling(package, f"{rest}.{chain}", alias)
    return Spelling(module, chain, alias)


def _inside(obj: Any, own: str | None, name: str) -> str | None:
    """The name that module `name` has for `obj`: its own where it can, else the first public one."""
    if name == "tangentx.arrays" and not str(getattr(obj, "__module__", "")).startswith(name):
        return None  # do not import what the object cannot be of
    module = sys.modules.get(name) or importlib.import_module(name)
    if own is not None and getattr(module, own, None) is obj:
        return own
    for key, value in vars(module).items():
        if value is obj and not key.startswith("_"):
            return key
    return None


def _own_path(obj: Any) -> Spelling | None:
    name, chain = getattr(obj, "__module__", None), getattr(obj, "__qualname__", None)
    if not isinstance(name, str) or not isinstance(chain, str) or name not in sys.modules:
        return None
    found: Any = sys.modules[name]
    for part in chain.split("."):
        found = getattr(found, part, None)
    return Spelling(name, chain, name.rpartition(".")[2]) if found is obj else None
