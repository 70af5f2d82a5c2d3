"""Sixteen processes that compile the same programs at once, into one directory that is empty."""

import os
import subprocess
import sys

import pytest

from tests.jit.test_entry import HAS_C

PROGRAM = """
import numpy as np
import tangentx as tx
from tests.jit.test_written_places import X, before, behind, summed

for f in (behind, before, summed):
    gradient = tx.grad(f, jit="c")
    assert np.allclose(gradient(X), tx.grad(f)(X), rtol=1e-12, atol=0)
    assert gradient._cache.last.notes["jit"].compiled is not None
"""


@pytest.mark.thorough
@pytest.mark.skipif(not HAS_C, reason="no C compiler")
def test_sixteen_processes(tmp_path):
    place = os.environ | {"TANGENTX_CACHE": str(tmp_path)}
    started = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], env=place, stderr=subprocess.PIPE, text=True)
        for _ in range(16)
    ]
    told = [process.communicate(timeout=600)[1] for process in started]
    assert [process.returncode for process in started] == [0] * 16, told
    libraries = [path for path in tmp_path.rglob("*") if path.suffix == ".so"]
    assert len(libraries) == 3
    assert {path.stat().st_mode & 0o777 for path in libraries} == {0o700}
    assert not [path for path in tmp_path.rglob("program*")]  # what is not finished
