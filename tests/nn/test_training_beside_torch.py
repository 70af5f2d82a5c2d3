"""Programs that train give PyTorch's numbers where it is installed: the same text, with its names."""

import re
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import tangentx as tx
from tests.nn import training_programs

_NAMES = (
    ("import numpy as np\n", "import torch\n"),
    ("import tangentx as tx\n", ""),
    ("import tangentx.nn.functional", "import torch.nn.functional"),
    ("from tangentx import nn", "from torch import nn"),
    ("from tangentx.optim", "from torch.optim"),
)


def with_torch(folder):
    """The module of programs with PyTorch's names."""
    text = Path(training_programs.__file__).read_text()
    for ours, theirs in _NAMES:
        text = text.replace(ours, theirs)
    path = folder / "training_programs_of_torch.py"
    path.write_text(re.sub(r"\b(tx|np)\.", "torch.", text))
    module = types.ModuleType(path.stem)
    sys.modules[path.stem] = module
    exec(compile(path.read_text(), str(path), "exec"), vars(module))
    return module


@pytest.fixture
def torch():
    """The library, by which Tensors are of float64 as long as the test runs."""
    found = pytest.importorskip("torch")
    before = found.get_default_dtype()
    found.set_default_dtype(found.float64)
    yield found
    found.set_default_dtype(before)


def plain(value):
    return np.asarray(value.detach().numpy() if hasattr(value, "detach") else value)


@pytest.mark.parametrize("name", training_programs.PROGRAMS)
def test_the_numbers_are_those_of_torch(name, torch, tmp_path):
    make, train, loss, args = training_programs.PROGRAMS[name]
    their_make, their_train, their_loss, their_args = with_torch(tmp_path).PROGRAMS[name]
    torch.manual_seed(1)
    theirs, ours = their_make(), make()
    ours.load_state_dict({path: value.numpy().copy() for path, value in theirs.state_dict().items()})
    if loss is not None:
        their_loss(theirs, *their_args()).backward()
        with warnings.catch_warnings():
            warnings.simplefilter("error", tx.FallbackWarning)
            slopes = dict(tx.grad(loss)(ours, *map(plain, args())).named_parameters())
        for path, p in theirs.named_parameters():
            wanted = np.zeros(p.shape) if p.grad is None else p.grad.numpy()
            np.testing.assert_allclose(slopes[path], wanted, rtol=1e-10, atol=1e-13)
        theirs.load_state_dict({path: torch.tensor(value) for path, value in ours.state_dict().items()})
        theirs.zero_grad()
    np.testing.assert_allclose(train(ours), their_train(theirs), rtol=1e-9, atol=1e-12)
    found = ours.state_dict()
    for path, value in theirs.state_dict().items():
        np.testing.assert_allclose(found[path], value.numpy(), rtol=1e-9, atol=1e-12)


def test_without_torch_they_train():
    make, train, _, _ = training_programs.PROGRAMS["losses above the mean"]
    assert np.all(np.isfinite(train(make())))
