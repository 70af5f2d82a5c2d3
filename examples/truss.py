"""Make a bridge of bars as stiff as its steel allows.

The stiffness matrix is assembled as a sparse one and solved by `scipy.sparse.linalg.spsolve`; the gradient goes through
both. Run ``python examples/truss.py``.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.linalg import spsolve

import tangentx as tx

SPANS = 6
LOWER = np.stack([np.arange(SPANS + 1.0), np.zeros(SPANS + 1)], axis=1)
UPPER = np.stack([np.arange(SPANS) + 0.5, np.full(SPANS, 0.8)], axis=1)
JOINTS = np.concatenate([LOWER, UPPER])
BARS = np.array(
    [(i, i + 1) for i in range(SPANS)]
    + [(SPANS + 1 + i, SPANS + 2 + i) for i in range(SPANS - 1)]
    + [(i, SPANS + 1 + i) for i in range(SPANS)]
    + [(SPANS + 1 + i, i + 1) for i in range(SPANS)]
)
AXES = JOINTS[BARS[:, 1]] - JOINTS[BARS[:, 0]]
LENGTHS = np.hypot(AXES[:, 0], AXES[:, 1])
DIRECTIONS = np.concatenate([-AXES, AXES], axis=1) / LENGTHS[:, None]
PLACES = np.concatenate([2 * BARS[:, :1], 2 * BARS[:, :1] + 1, 2 * BARS[:, 1:], 2 * BARS[:, 1:] + 1], axis=1)
HELD = [0, 1, 2 * SPANS + 1]  # the left bearing, and the height of the right one
FREE = np.setdiff1d(np.arange(2 * len(JOINTS)), HELD)
LOADS = np.zeros(2 * len(JOINTS))
LOADS[3 : 2 * SPANS : 2] = -1.0  # on the joints of the road


def displacements(areas):
    """How far the free joints move, under the loads."""
    stiffness = (areas / LENGTHS)[:, None, None] * DIRECTIONS[:, :, None] * DIRECTIONS[:, None, :]
    rows = np.broadcast_to(PLACES[:, :, None], stiffness.shape)
    columns = np.broadcast_to(PLACES[:, None, :], stiffness.shape)
    whole = coo_array((stiffness.ravel(), (rows.ravel(), columns.ravel())), shape=(len(LOADS), len(LOADS))).tocsc()
    return spsolve(whole[FREE][:, FREE], LOADS[FREE])


def compliance(areas):
    """The work of the loads."""
    return LOADS[FREE] @ displacements(areas)


def main() -> int:
    gradient = tx.value_and_grad(compliance)
    areas = np.ones(len(BARS))
    steel = areas @ LENGTHS
    first, _ = gradient(areas)
    for step in range(61):
        work, slope = gradient(areas)
        if step % 20 == 0:
            print(f"step {step:3}   compliance {work:8.3f}")
        areas = areas * np.sqrt(-slope / LENGTHS)  # at the best all bars are worth their steel alike
        areas = np.maximum(areas * steel / (areas @ LENGTHS), 1e-3)
    print("\nThe steel of the same weight, by what it is used for:")
    parts = {"road": SPANS, "top": SPANS - 1, "rising": SPANS, "falling": SPANS}
    ends = np.cumsum(list(parts.values()))
    for (name, count), end in zip(parts.items(), ends, strict=True):
        print(f"{name:8}" + "".join(f"{area:7.3f}" for area in areas[end - count : end]))
    print(f"\n{gradient.source}")
    return 0 if work < 0.8 * first else 1


if __name__ == "__main__":
    sys.exit(main())
