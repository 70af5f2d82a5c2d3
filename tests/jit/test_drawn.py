"""Random programs of loops and arrays in each way; `python -m tests.jit.drawn` draws more."""

import pytest

from tests.jit.drawn import drawn
from tests.jit.test_entry import WAYS, own_cache  # noqa: F401


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.share(100)) for seed in range(200)])
def test_random_programs(seed, jit):
    found = drawn(seed, [jit])
    assert found["differ"] + found["crashed"] == 0, "printed above"
