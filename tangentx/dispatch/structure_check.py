"""Checks that tangents and cotangents match the structure of their primals."""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentx.arrays.libraries import as_array, is_array, is_elsewhere, library_of
from tangentx.common.naming import with_article
from tangentx.common.pytrees import children, is_differentiable
from tangentx.errors import NotDifferentiable


def is_alike(given: Any, wanted: Any) -> bool:
    """Whether a tangent or cotangent is a float for a float, or a real array for one like it: that always fits."""
    cls = type(wanted)
    if type(given) is not cls:
        return False
    if cls is np.ndarray:
        return bool(given.shape == wanted.shape and given.dtype == wanted.dtype and wanted.dtype.kind == "f")
    return cls is float


def match(given: Any, wanted: Any, what: str, where: str, other: str) -> None:
    """Raises NotDifferentiable where `given` has not the structure, shapes and domain of `wanted`, naming both.

    None stands for the zero of any part. `what` is a tangent or cotangent, `where` the path of the part, `other` what
    it belongs to.
    """
    if given is None or is_alike(given, wanted):
        return
    parts = children(wanted)
    if parts is None:
        _match_leaf(given, wanted, what, where, other)
        return
    found = dict(children(given) or ())
    labels = [label for label, _ in parts]
    more = found.keys() - set(labels)
    if type(given) is type(wanted) and more and hasattr(type(wanted), "__tangentx_parts__"):
        raise NotDifferentiable(
            f"the {what} of {where} has a part {', '.join(sorted(more))}, which counts as constant in the {other}",
            hint="let the parameter require gradients, or make the same parameters of both require none",
        )
    if type(given) is not type(wanted) or list(found) != labels and set(found) != set(labels):
        raise NotDifferentiable(
            f"the {what} of {where} is {shown(given)}, but the {other} is {shown(wanted)}",
            hint=f"give it the structure of the {other}, with None for a part that is zero",
        )
    for label, part in parts:
        match(found[label], part, what, where + label, other)


def shown(value: Any) -> str:
    """A structure in a few words."""
    if isinstance(value, dict):
        return "a dict with keys " + ", ".join(map(repr, value)) if value else "an empty dict"
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return f"{with_article(type(value).__name__)} of {len(value)}"
    if is_array(value):
        whose = f" in {library_of(value).shown}" if is_elsewhere(value) else ""
        return f"an array of shape {value.shape}{whose}"
    return f"of type {type(value).__name__}"


def _match_leaf(given: Any, leaf: Any, what: str, where: str, other: str) -> None:
    if not is_differentiable(leaf):
        return
    if not (is_array(given) or isinstance(given, np.generic | int | float | complex)) or _apart(given, leaf):
        raise NotDifferentiable(
            f"the {what} of {where} is {shown(given)}, but the {other} is {shown(leaf)}",
            hint="give a number for a number, and an array for an array",
        )
    if np.shape(given) != np.shape(leaf):
        raise NotDifferentiable(
            f"the {what} of {where} has shape {np.shape(given)}, but the {other} has shape {np.shape(leaf)}",
            hint=f"give it the shape {np.shape(leaf)}",
        )
    mine, its = as_array(given).dtype, as_array(leaf).dtype
    if mine.kind not in "biufc" or (mine.kind == "c" and its.kind != "c"):
        raise NotDifferentiable(
            f"the {what} of {where} is {mine}, but the {other} is {its}", hint=f"give it the dtype {its}"
        )


def _apart(given: Any, leaf: Any) -> bool:
    """Whether two arrays are of different libraries."""
    return is_array(given) and is_array(leaf) and library_of(given) != library_of(leaf)


def fitted(given: Any, primal: Any) -> Any:
    """A tangent or cotangent with the dtypes of `primal`; None in the place of each leaf without derivative."""
    from tangentx.arrays import tangent_as

    if type(primal) in (float, int):  # what may be a whole number here and a real there
        return 0.0 if given is None else float(given)
    if isinstance(primal, np.inexact) and isinstance(given, int | float):  # a number of Python's has no precision
        return type(primal)(given)
    return tangent_as(given, primal)
