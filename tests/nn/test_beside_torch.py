"""Drawn layers and losses are PyTorch's where it is installed, as the extra `torch` does it."""

import pytest

from tests.nn import against_torch


def test_values_gradients_and_buffers_are_those_of_torch(request):
    pytest.importorskip("torch")
    seen, wrong = against_torch.run(2000 if request.config.getoption("--thorough") else 48, seed=0)
    assert wrong == []
    assert sum(seen.values()) >= 48 and len(seen) > 12
