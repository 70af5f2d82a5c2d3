"""What travels to other processes, and how."""

import importlib.util
import linecache
import pickle

import numpy as np
import pytest

import tangentx as tx
from tangentx.parallel import worker
from tangentx.parallel.worker import packed, unpacked
from tests.parallel.programs import plain_loss


@tx.differentiate
def marked(x):
    return x**3


def test_functions_of_modules_go_by_name():
    assert unpacked(packed(tx.grad(plain_loss))) is tx.grad(plain_loss)
    assert unpacked(packed(plain_loss)) is plain_loss
    assert unpacked(packed(tx.grad(marked)))(2.0) == 12.0
    assert unpacked(packed(marked.hessian))(2.0) == 12.0


def test_without_cloudpickle_closures_are_refused(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert unpacked(packed(tx.grad(plain_loss))) is tx.grad(plain_loss)
    with pytest.raises(tx.NotDifferentiable, match="f cannot be sent .*\n(.*\n)*Instead: .*install cloudpickle"):
        packed(tx.grad(lambda x: x * x), "f")


@pytest.mark.skipif(importlib.util.find_spec("cloudpickle") is None, reason="cloudpickle is not installed")
def test_with_cloudpickle_closures_travel_with_their_text():
    table = np.array([1.0, 2.0])

    def weighed(x):
        return np.sum(table * x) + marked(x[0])

    data = packed(tx.grad(weighed))
    found = unpacked(data)
    assert found is not tx.grad(weighed)
    assert found(np.ones(2)).tolist() == [4.0, 2.0]
    assert unpacked(packed(tx.jacobian(tx.grad(weighed))))(np.ones(2)).tolist() == [[6.0, 0.0], [0.0, 0.0]]
    texts, _ = pickle.loads(data)
    assert __file__ in texts


@pytest.mark.skipif(importlib.util.find_spec("cloudpickle") is None, reason="cloudpickle is not installed")
def test_a_text_that_only_the_sender_has_comes_along():
    text = "def cube(x):\n    return x * x * x\n"
    linecache.cache["<of a notebook>"] = len(text), None, text.splitlines(keepends=True), "<of a notebook>"
    space = {"__name__": "__main__"}
    exec(compile(text, "<of a notebook>", "exec"), space)
    data = packed(tx.grad(space["cube"]))
    del linecache.cache["<of a notebook>"]
    try:
        assert unpacked(data)(2.0) == 12.0
    finally:
        linecache.cache.pop("<of a notebook>", None)


def test_the_module_needs_no_cloudpickle_to_be_imported():
    assert "cloudpickle" not in vars(worker)
