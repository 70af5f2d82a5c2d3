"""You can own the text: saved to a file it gives the same gradient where the compiler is out of reach."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tests.harness import alone
from tests.programs import PROGRAMS

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def run(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """By the program's name: the gradient here, what its text alone gave, and what the text says it lacks."""
    folder = tmp_path_factory.mktemp("alone")
    listed, here, lacking = [], {}, {}
    for program in PROGRAMS if request.config.getoption("--thorough") else PROGRAMS[1::10]:
        derivative = tx.grad(program.fn, wrt=program.wrt, fallback="error")
        module = program.fn.__module__
        label = f"{module.rpartition('.')[2]}.{program.name}"  # two modules may have programs of one name
        here[label] = alone.leaves(derivative(*program.args()))
        source = derivative.source
        note = next((line for line in source.splitlines() if line.startswith("# No import reaches ")), "")
        if note:
            lacking[label] = note
            continue
        (folder / f"{label}.py").write_text(source)
        listed.append([label, module, program.name, derivative._cache.last.text.functions[0]])
    (folder / "list.json").write_text(json.dumps(listed))
    command = [sys.executable, "-I", str(ROOT / "tests" / "harness" / "alone.py"), str(ROOT), str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return here, pickle.loads((folder / "results.pickle").read_bytes()), lacking


@pytest.mark.long
def test_the_text_alone_gives_the_same_gradient(run: Any) -> None:
    here, there, _ = run
    wrong = {name: found for name, found in there.items() if isinstance(found, str)}
    assert not wrong
    for name, found in there.items():
        assert np.array_equal(np.array(here[name]), np.array(found), equal_nan=True), name


def test_a_text_that_needs_more_says_so(run: Any) -> None:
    here, there, lacking = run
    assert {*there, *lacking} == {*here}
    assert len(lacking) <= len(here) // 20, lacking


def test_the_compiler_is_out_of_reach() -> None:
    block = alone.Block()
    for name in (
        "tangentx.api.functions",
        "tangentx.backend.spelling",
        "gast",
        "astor",
        "scipy",
        "tests.harness",
    ):
        with pytest.raises(ImportError, match="out of reach"):
            block.find_spec(name)
    for name in ("numpy.linalg", "tangentx.arrays.shapes", "tests.programs.loops", "math"):
        assert block.find_spec(name) is None


def test_what_no_import_reaches_is_named() -> None:
    def around(scale: np.ndarray[Any, Any]) -> Any:
        def inner(x: Any) -> Any:
            return np.sum(scale * x)

        return inner

    text = tx.grad(around(np.ones(2))).source_for(np.ones(2))
    assert "# No import reaches `inner_free`: set before this text runs anywhere else.\n" in text
