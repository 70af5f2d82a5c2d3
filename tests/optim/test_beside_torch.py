"""Drawn optimisers, schedules and clippings are PyTorch's where it is installed, as the extra `torch` does it."""

import pytest

from tests.optim import against_torch


def test_steps_are_those_of_torch(request):
    pytest.importorskip("torch")
    assert against_torch.run(300 if request.config.getoption("--thorough") else 12, seed=0) == []
