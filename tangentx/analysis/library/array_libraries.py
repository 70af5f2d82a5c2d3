"""Functions of other array libraries, such as CuPy: analysed as NumPy's functions on device arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tangentx import arrays
from tangentx.analysis.infer.functions import external
from tangentx.analysis.types.kinds import Arr, Kind, library_in
from tangentx.arrays.libraries import Library, library_called, numpy_function
from tangentx.ir.nodes import Atom, Expr, Lit, Op

if TYPE_CHECKING:
    from tangentx.analysis.infer.context import Walker

_MAKING: frozenset[Any] = frozenset((
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.arange, np.linspace, np.logspace,
    np.zeros, np.ones, np.empty, np.full, np.eye, np.identity, np.tri, np.indices, np.fromiter,
))  # fmt: skip
"""Functions that make an array of NumPy's whatever they are given."""


def meant(fn: Any, kinds: list[Kind]) -> Any | None:
    """NumPy's function for one of another library that is given an array of that; None for all others.

    One that makes arrays of numbers stays what it is: its name alone says in which memory.
    """
    found = numpy_function(fn)
    if found is None or found[0] in _MAKING:
        return None
    return found[0] if any(library_in(kind) is found[1] for kind in kinds) else None


def asked(w: Walker, fn: Any, args: tuple[Atom, ...]) -> tuple[Expr, Kind] | None:
    """What a function of a library's that NumPy has not gives: which module an array is of, a transfer; None for other
    calls."""
    name, kinds = getattr(fn, "__name__", ""), [w.read(a)[1] for a in args]
    library = _home(fn)
    if library is not None and name == "get_array_module":
        found = next((each for each in map(library_in, kinds) if each is not None), library_called("numpy"))
        return w.read(external(w, found.namespace, found.alias))
    if library is not None and name == "asnumpy" and len(args) == 1 and library_in(kinds[0]) is library:
        return w.walk(Op(arrays.to_host, args))
    made = numpy_function(fn)
    whole = made is not None and made[0] in (np.asarray, np.array) and len(args) == 1
    if made is not None and whole and isinstance(kinds[0], Arr) and kinds[0].library == "numpy":
        return w.walk(Op(arrays.to_library, (*args, Lit(made[1].module))))
    return None


def _home(fn: Any) -> Library | None:
    """The library, other than NumPy, that has the function by its name."""
    home = (getattr(fn, "__module__", None) or "").partition(".")
    for module in ("cupy", "tangentx.arrays.device_double"):
        if home[0] == "cupy" == module or "".join(home) == module:
            library = library_called(module)
            return library if getattr(library.namespace, fn.__name__, None) is fn else None
    return None
