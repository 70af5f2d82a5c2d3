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


def check_greeks(text):
    differences = [float(number) for number in re.findall(r"^  \w+ +(\S+e\S+)$", text, re.MULTILINE)]
    assert len(differences) == 9  # the gradient by all seven inputs, gamma and vanna
    assert max(differences) < 1e-10
    moves = dict(re.findall(r"^ +([+-]\d+) % +(-?\d+) +-?\d+$", text, re.MULTILINE))
    assert len(moves) == 7
    assert moves["+0"] == re.search(r"worth (-?\d+)\.$", text, re.MULTILINE)[1]


def check_fit_ode(text):
    assert float(re.search(r"differs from central differences by (\S+)\.$", text, re.MULTILINE)[1]) < 1e-6
    losses = [float(number) for number in re.findall(r"^step +\d+ +loss (\S+)$", text, re.MULTILINE)]
    assert len(losses) == 11
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.4 * losses[0]
    rates = [float(number) for number in re.findall(r"(?:born at|caught at|die at|gain) (\d\S*)", text)]
    # Carpenter's fit of the same data in Stan: 0.545, 0.028, 0.803, 0.024, each give or take a tenth.
    for rate, published in zip(rates, (0.545, 0.028, 0.803, 0.024), strict=True):
        assert abs(rate / published - 1.0) < 0.1


def check_heat_inverse(text):
    assert float(re.search(r"differs from a central difference by (\S+)\.$", text, re.MULTILINE)[1]) < 1e-6
    losses = [float(number) for number in re.findall(r"^step +\d+ +loss (\S+)$", text, re.MULTILINE)]
    assert len(losses) == 11
    assert losses == sorted(losses, reverse=True)
    # 20 readings of 8 x 8 thermometers: at the noise, the squared error is 1280 in units of it.
    assert 0.8 * 1280 < losses[-1] < 1.2 * 1280
    found, without = re.search(r"found to (\S+); .* off by (\S+)\.$", text, re.MULTILINE).groups()
    assert float(found) < 0.4 * float(without)
    if importlib.util.find_spec("matplotlib") is None:
        assert "No picture: matplotlib is not installed" in text


def check_hidden_states(text):
    assert float(re.search(r"off the sum over all paths by (\S+)\.$", text, re.MULTILINE)[1]) < 1e-12
    assert float(re.search(r"counts of forward-backward, .* by (\S+)\.$", text, re.MULTILINE)[1]) < 1e-9
    likelihoods = [float(number) for number in re.findall(r"^step +\d+ +log-likelihood (\S+)$", text, re.MULTILINE)]
    assert len(likelihoods) == 11
    assert likelihoods == sorted(likelihoods)  # no step of Baum and Welch's goes down
    island = [float(number) for number in re.search(r"^an island +(.*)$", text, re.MULTILINE)[1].split()]
    sea = [float(number) for number in re.search(r"^the sea +(.*)$", text, re.MULTILINE)[1].split()]
    for found, true in zip((*island, *sea), (0.95, 0.12, 0.38, 0.38, 0.12, 0.97, 0.32, 0.18, 0.18, 0.32), strict=True):
        assert abs(found - true) < 0.07
    assert float(re.search(r"at (\S+) % of the places\.$", text, re.MULTILINE)[1]) > 85.0


def check_monte_carlo_greek(text):
    assert float(re.search(r"central differences, relatively, by (\S+)\.$", text, re.MULTILINE)[1]) < 1e-6
    assert "The results are the same to the last bit." in text
    assert "of 20500 paths in 5 shards" in text
    found = {name: float(slope) for name, slope in re.findall(r"^(delta|vega|rho) +(\S+) ", text, re.MULTILINE)}
    # What ten million paths gave.
    for name, wanted in (("delta", 0.57035), ("vega", 23.936), ("rho", 23.754)):
        assert abs(found[name] / wanted - 1.0) < 0.01
    assert re.search(r"^2 workers +\d+\.\d\d s   speed-up \d", text, re.MULTILINE)


def check_sparse_newton(text):
    left = [float(number) for number in re.findall(r"^step +\d+ +residual (\S+)$", text, re.MULTILINE)]
    assert left[0] == 1.0
    assert left[1] < 0.1
    assert left[2] < 1e-3 * left[1]
    assert "3 tangent sweeps for 14998 entries" in text
    assert float(re.search(r"is off by (\S+)\.$", text, re.MULTILINE)[1]) < 1e-7


CHECKS = {
    "fit_ode.py": check_fit_ode,
    "greeks.py": check_greeks,
    "heat_inverse.py": check_heat_inverse,
    "hidden_states.py": check_hidden_states,
    "monte_carlo_greek.py": check_monte_carlo_greek,
    "quickstart.py": check_quickstart,
    "sparse_newton.py": check_sparse_newton,
}


SHORT = {"monte_carlo_greek.py": ["--paths", "20500", "--shard", "5000", "--workers", "2"]}
"""What makes an example shorter here than it is for its reader."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example(path, tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(path), *SHORT.get(path.name, [])]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert not re.search(r"[\r\b\x1b]", done.stdout), "a progress bar in a pipe"
    assert re.search(r"^def \w+_(grad|linear)\(", done.stdout, re.MULTILINE), "no generated source"
    CHECKS[path.name](done.stdout)
    for picture in re.findall(r"^The picture is in (\S+)\.$", done.stdout, re.MULTILINE):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_progress_bar_on_a_terminal(path, monkeypatch):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    monkeypatch.setattr(sys, "stderr", Terminal())
    example.show_progress(50, 100)
    example.show_progress(100, 100)
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
    lines = (ROOT / "examples" / "lynx_hare_pelts.txt").read_text().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    assert "# Source: Hewitt" in lines[1]
    assert [int(row[0]) for row in rows] == list(range(1900, 1921))
    assert all(len(row) == 3 and float(row[1]) > 0.0 and float(row[2]) > 0.0 for row in rows)
