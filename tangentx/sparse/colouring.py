"""Column colouring: columns of one colour have no entry in a common row.

That is a colouring of the column intersection graph (T.F. Coleman and J.J. Moré, "Estimation of sparse Jacobian
matrices and graph coloring problems", SIAM J. Numer. Anal. 20, 1983), found greedily in the order of the columns, as
in A.R. Curtis, M.J.D. Powell and J.K. Reid, "On the estimation of sparse Jacobian matrices", J. Inst. Maths Applics 13,
1974. For a banded matrix the number of colours is the width of the band.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def colours(rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    """A colour, counted from 0, for each column of a matrix of `shape` with entries at `rows` and `columns`."""
    order = np.argsort(columns, kind="stable")
    by_column = rows[order].tolist()
    ends = np.searchsorted(columns[order], np.arange(1, shape[1] + 1)).tolist()
    taken = [0] * shape[0]  # the colours in each row, as bits
    found, start = [], 0
    for end in ends:
        met = 0
        for row in by_column[start:end]:
            met |= taken[row]
        free = ~met & (met + 1)  # the lowest bit that is not set
        for row in by_column[start:end]:
            taken[row] |= free
        found.append(free.bit_length() - 1)
        start = end
    return np.array(found, dtype=int)
