"""The way from ast to gast."""

import ast
import os
import subprocess
import sys

import gast
import pytest

from tangentx.common import source
from tangentx.frontend import parse
from tests.frontend import programs


@pytest.mark.parametrize("text", ["x = 1", "def f(a, *b, c: int = 2, **d):\n    return a[0, 1:] + f'{a}'"])
def test_converts_as_gast_does(text):
    tree = ast.parse(text)
    assert gast.dump(parse.convert(tree), include_attributes=True) == gast.dump(
        gast.ast_to_gast(tree), include_attributes=True
    )


def test_converts_what_is_deep():
    tree = parse.convert(ast.parse(" + ".join(["x"] * 1000), mode="eval"))
    node, terms = tree.body, 1
    while isinstance(node, gast.BinOp):
        node, terms = node.left, terms + 1
    assert terms == 1000 and isinstance(node, gast.Name)


def test_the_given_tree_is_not_changed():
    tree = ast.parse("-".join(["x"] * 100))
    before = ast.dump(tree, include_attributes=True)
    parse.convert(tree)
    assert ast.dump(tree, include_attributes=True) == before


def test_private_names_are_mangled():
    tree = parse.parse(source.find(programs.Box.secret))
    assert [node.attr for node in gast.walk(tree) if isinstance(node, gast.Attribute)] == ["_Box__secret"]


WITHOUT_ASSERTS = """
import warnings
import tangentx as tx

def asserting(x):
    assert x > 2.0, "small"
    return x * x

def caught(x):
    try:
        assert x > 2.0
    except AssertionError:
        return x
    return x * x

def binding(x):
    assert (y := x * 3.0) > 100.0
    return x * x if x > 0.0 else y

def always(x):
    assert isinstance(x, str)
    return x * x

class Positive:
    def __init__(self, value):
        assert value > 100.0
        self.value = value

def of_class(x):
    return Positive(x * x).value

def in_loop(x, n=3):
    y = x
    for _ in range(n):
        assert y < 1.0
        y = y * 1.0
    return y * x

def on_tensors(x):
    assert x > 2.0
    return eval("x * x")

warnings.simplefilter("ignore")
for f in (asserting, caught, binding, always, of_class, in_loop, on_tensors):
    found = tx.grad(f)(1.5), tx.grad(tx.grad(f))(1.5), tx.jvp(f, (1.5,), (1.0,))[1]
    if found != (3.0, 2.0, 3.0):
        print(f.__name__, found)
try:
    print(binding(-1.0))
except UnboundLocalError:
    pass
try:
    print(tx.grad(binding)(-1.0))
except UnboundLocalError:
    print("done")
"""


@pytest.mark.parametrize("option", ["-O", "-OO"])
def test_asserts_that_python_left_out_are_no_part_of_the_derivative(option, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(WITHOUT_ASSERTS)
    run = subprocess.run(
        [sys.executable, option, str(file)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr
