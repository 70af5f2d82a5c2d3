"""What the tests put around derivative calls: snapshots, faults, differences, structures."""

from tests.harness.differences import curvature, derivative, gradient
from tests.harness.faults import Fault, Stop, assert_same, call_with_fault, each_line, with_fault
from tests.harness.guard import call
from tests.harness.leaves import Leaf, inner, leaves, perturbed, replaced
from tests.harness.snapshot import Snapshot, snapshot

__all__ = [
    "Fault",
    "Leaf",
    "Snapshot",
    "Stop",
    "assert_same",
    "call",
    "call_with_fault",
    "curvature",
    "derivative",
    "each_line",
    "gradient",
    "inner",
    "leaves",
    "perturbed",
    "replaced",
    "snapshot",
    "with_fault",
]
