"""Every example runs from anywhere, says what it should, and keeps its progress bar out of pipes."""

import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def check_quickstart(text):
    losses = [float(number) for number in re.findall(r"^step +\d+ +loss (\S+)$", text, re.MULTILINE)]
    assert len(losses) == 11
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.05 * losses[0]
    assert float(re.search(r"Largest relative difference .*: (\S+)$", text)[1]) < 1e-6


CHECKS = {"quickstart.py": check_quickstart}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example(path, tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert not re.search(r"[\r\b\x1b]", done.stdout), "a progress bar in a pipe"
    assert re.search(r"^def \w+_grad\(", done.stdout, re.MULTILINE), "no generated source"
    CHECKS[path.name](done.stdout)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_bar_on_a_terminal(monkeypatch):
    spec = importlib.util.spec_from_file_location("quickstart", ROOT / "examples" / "quickstart.py")
    quickstart = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(quickstart)
    monkeypatch.setattr(sys, "stderr", Terminal())
    quickstart.show_progress(50, 100)
    quickstart.show_progress(100, 100)
    half, full = sys.stderr.getvalue().split("\r")[1:]
    assert half == "[" + "#" * 20 + "." * 20 + "] 50/100"
    assert full == "[" + "#" * 40 + "] 100/100\n"


def test_the_data_names_its_source_and_is_whole():
    lines = (ROOT / "examples" / "mauna_loa_co2.txt").read_text().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    assert "# Source: Keeling" in lines[1]
    assert [(int(year), int(month)) for year, month, _ in rows] == [
        (year, month) for year in range(1982, 2002) for month in range(1, 13)
    ]
