"""Functions whose derivative is zero wherever they have one, or whose results carry no derivative."""

from __future__ import annotations

import cmath
import math
import operator

import numpy as np

from tangentx import arrays
from tangentx.templates.registry import constant, methods

constant(
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.not_, operator.is_,
    operator.is_not, operator.contains, operator.and_, operator.or_, operator.xor, operator.invert, operator.lshift,
    operator.rshift, operator.floordiv, operator.truth, operator.index,
)  # fmt: skip
constant(
    bool, int, len, round, isinstance, issubclass, type, callable, hasattr, id, repr, str, hash, any, all, bin, hex,
    range, ord, chr, format, ascii, oct,
)  # fmt: skip
constant(
    math.floor, math.ceil, math.trunc, math.isnan, math.isinf, math.isfinite, math.isclose,
    cmath.isnan, cmath.isinf, cmath.isfinite, cmath.isclose, math.factorial, math.comb,
    math.perm, math.gcd, math.lcm, math.isqrt, math.ulp,
)  # fmt: skip
constant(
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.logical_and, np.logical_or,
    np.logical_not, np.logical_xor, np.isnan, np.isinf, np.isfinite, np.signbit, np.floor, np.ceil, np.rint, np.trunc,
    np.floor_divide, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.gcd,
    np.lcm, np.round, np.around, np.fix, np.isposinf, np.isneginf, np.spacing, np.bitwise_count, *methods("round"),
)  # fmt: skip
constant(
    np.argmax, np.argmin, np.argsort, np.nonzero, np.argwhere, np.flatnonzero, np.searchsorted, np.digitize,
    np.any, np.all, np.allclose, np.isclose, np.array_equal, np.array_equiv, np.count_nonzero, np.isin,
    np.lexsort, np.argpartition, np.nanargmax, np.nanargmin, np.packbits, np.unpackbits, np.isreal, np.iscomplex,
    np.iscomplexobj, np.isrealobj, np.isscalar,
    *methods("argmax", "argmin", "argsort", "nonzero", "searchsorted", "any", "all", "argpartition"),
)  # fmt: skip
constant(
    np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.dtype, np.finfo, np.iinfo, np.broadcast_shapes,
    np.may_share_memory, np.shares_memory, np.promote_types, np.issubdtype, np.isdtype, np.min_scalar_type,
    np.common_type, np.mintypecode, np.typename, np.iterable, np.isfortran, np.einsum_path,
)  # fmt: skip
constant(
    np.zeros, np.ones, np.empty, np.eye, np.identity, np.zeros_like, np.ones_like, np.empty_like, np.tri, np.indices,
    np.tril_indices, np.triu_indices, np.diag_indices, np.ix_, np.unravel_index, np.ravel_multi_index,
    np.tril_indices_from, np.triu_indices_from, np.diag_indices_from, np.mask_indices, np.hanning, np.hamming,
    np.blackman, np.bartlett,
)  # fmt: skip
constant(
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.intp,
)  # fmt: skip
constant(
    np.array_repr, np.array_str, np.array2string, np.format_float_positional, np.format_float_scientific,
    np.binary_repr, np.base_repr,
)  # fmt: skip
constant(
    np.isnat, np.busday_count, np.busday_offset, np.is_busday, np.datetime_as_string, np.datetime_data,
)  # fmt: skip
constant(arrays.stop_gradient)
