"""Every example runs from anywhere, says what it should, and keeps its progress bar out of pipes."""

import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tangentx.testing import check_grads

ROOT = Path(__file__).parent.parent
SHORT_PROGRAMS = {
    "arma.py": lambda example: (example.surprise, example.START + 0.1),
    "gaussian_process.py": lambda example: (example.surprise, example.START),
    "logistic_regression.py": lambda example: (example.surprise, example.START),
    "mixture.py": lambda example: (example.surprise, example.START),
    "pose.py": lambda example: (example.misfit, example.START),
    "registration.py": lambda example: (example.misfit, 0.9 * example.TRUE),
    "splines.py": lambda example: (example.misfit, np.cos(np.arange(2 * example.KNOTS - 1))),
    "survival.py": lambda example: (example.remission, np.array([2.0, 0.1, 0.2])),
    "transformer.py": lambda example: (
        *(example.loss, example.parameters(np.random.default_rng(0))),
        np.random.default_rng(1).integers(0, example.SYMBOLS, size=(3, example.LENGTH)),
    ),
    "truss.py": lambda example: (example.compliance, np.linspace(1.0, 2.0, len(example.BARS))),
}
"""Examples that take about a second, and what each of them differentiates, where: these share the tests' process."""
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.py")) if path.name not in SHORT_PROGRAMS]


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
    drawn = importlib.util.find_spec("matplotlib") is not None
    assert ("The picture is in" if drawn else "No picture: matplotlib is not installed") in text


def check_digits(text):
    losses = [float(number) for number in re.findall(r"^epoch +\d+ +loss (\S+)$", text, re.MULTILINE)]
    assert len(losses) == 20
    assert losses[-1] < 0.05 * losses[0]
    assert float(re.search(r"^Reads (\S+) % of 360 other images right", text, re.MULTILINE)[1]) > 97.0


def check_two_moons(text):
    losses = [float(number) for number in re.findall(r"^epoch +\d+ +loss (\S+)$", text, re.MULTILINE)]
    assert len(losses) == 11
    assert losses[-1] < 0.1 * losses[0]
    assert float(re.search(r"^Of 2000 other points (\S+) % are told right", text, re.MULTILINE)[1]) > 97.0
    assert float(re.search(r"differs from that of the Tensors by (\S+)\.$", text, re.MULTILINE)[1]) < 1e-12


def check_pinn(text):
    assert float(re.search(r"^Off central differences by (\S+)\.$", text, re.MULTILINE)[1]) < 1e-6
    before, after = (float(number) for number in re.findall(r"^Off the solution by (\S+) ", text, re.MULTILINE))
    assert after < 0.1 * before


def check_vgg11(text):
    assert "10,024,714 parameters." in text
    if importlib.util.find_spec("torch") is None:
        assert float(re.search(r"Off a central difference by (\S+)\.$", text, re.MULTILINE)[1]) < 1e-2
    else:
        assert float(re.search(r"Off PyTorch's gradients by (\S+) of", text, re.MULTILINE)[1]) < 1e-6


def check_sparse_newton(text):
    left = [float(number) for number in re.findall(r"^step +\d+ +residual (\S+)$", text, re.MULTILINE)]
    assert left[0] == 1.0
    assert left[1] < 0.1
    assert left[2] < 1e-3 * left[1]
    assert "3 tangent sweeps for 14998 entries" in text
    assert float(re.search(r"is off by (\S+)\.$", text, re.MULTILINE)[1]) < 1e-7


def check_yield_curve(text):
    assert float(re.search(r"differs from central differences by (\S+)\.$", text, re.MULTILINE)[1]) < 1e-8
    rates = [float(rate) for rate in re.findall(r"^ +\d+ +(\S+) %", text, re.MULTILINE)]
    assert len(rates) == 6
    assert 2.9 < rates[0] < rates[-1] < 3.8
    assert "optimize.brentq(" in text


def check_epidemic(text):
    assert float(re.search(r"differs from central differences by (\S+)\.$", text, re.MULTILINE)[1]) < 1e-5
    # What others have found for these boys: one gave it to about 3.7, and was ill for somewhat more than two days.
    assert abs(float(re.search(r"one gave it to (\S+) at", text)[1]) - 3.75) < 0.15
    assert abs(float(re.search(r"was back after (\S+) days", text)[1]) - 2.2) < 0.15
    assert "integrate.solve_ivp(" in text


CHECKS = {
    "digits.py": check_digits,
    "epidemic.py": check_epidemic,
    "fit_ode.py": check_fit_ode,
    "greeks.py": check_greeks,
    "heat_inverse.py": check_heat_inverse,
    "hidden_states.py": check_hidden_states,
    "monte_carlo_greek.py": check_monte_carlo_greek,
    "pinn.py": check_pinn,
    "quickstart.py": check_quickstart,
    "sparse_newton.py": check_sparse_newton,
    "two_moons.py": check_two_moons,
    "vgg11.py": check_vgg11,
    "yield_curve.py": check_yield_curve,
}


SHORT = {
    "monte_carlo_greek.py": ["--paths", "20500", "--shard", "5000", "--workers", "2"],
    "pinn.py": ["--steps", "300", "--width", "12"],
    "vgg11.py": ["--width", "32", "--image", "32", "--classes", "10"],
}
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


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


@pytest.fixture
def short_program(request, monkeypatch):
    example = loaded(ROOT / "examples" / request.param)
    monkeypatch.setitem(sys.modules, example.__name__, example)
    return example


@pytest.mark.parametrize("short_program", SHORT_PROGRAMS, indirect=True)
def test_a_short_program(short_program, capsys):
    assert short_program.main() == 0  # each says by this whether it has found what it should
    shown = capsys.readouterr()
    assert shown.err == ""
    assert re.search(r"^def \w+_(grad|jacobian)\(", shown.out, re.MULTILINE), "no generated source"
    f, *args = SHORT_PROGRAMS[f"{short_program.__name__}.py"](short_program)
    check_grads(f, args, order=1)


@pytest.mark.thorough
@pytest.mark.parametrize("short_program", SHORT_PROGRAMS, indirect=True)
def test_a_short_program_of_second_order(short_program):
    f, *args = SHORT_PROGRAMS[f"{short_program.__name__}.py"](short_program)
    check_grads(f, args, order=2)


def digits():
    return loaded(ROOT / "examples" / "digits.py")


def test_digits_go_on_from_a_checkpoint_as_if_never_stopped(tmp_path, monkeypatch, capsys):
    example = digits()
    monkeypatch.chdir(tmp_path)
    images, labels = example.read(example.DATA)
    images, labels = images[:64], labels[:64]
    model, history = example.train(3, images, labels)
    example.CHECKPOINT.unlink()
    kept, saves = example.save, []

    def interrupted(*what):
        kept(*what)
        saves.append(1)
        if len(saves) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(example, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        example.train(3, images, labels)
    monkeypatch.setattr(example, "save", kept)
    again, other_history = example.train(3, images, labels)
    assert "Goes on after epoch 2" in capsys.readouterr().out
    assert other_history == history
    for a, b in zip(model.parameters(), again.parameters(), strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_checkpoint_is_never_half_written(tmp_path, monkeypatch):
    example = digits()
    path = tmp_path / "saved.npz"
    model = example.network().arrays()
    opt = example.tx.optim.Adam(lr=0.1)
    example.save(path, model, opt.init(model), [1.0])
    before = path.read_bytes()

    def half(file, **arrays):
        file.write(b"PK")
        raise OSError("the disk is full")

    monkeypatch.setattr(example.np, "savez", half)
    with pytest.raises(OSError, match="full"):
        example.save(path, model, opt.init(model), [1.0, 2.0])
    assert path.read_bytes() == before
    assert example.load(path, model, opt)[2] == [1.0]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("path", [p for p in EXAMPLES if "show_progress" in p.read_text()], ids=lambda path: path.name)
def test_progress_bar_on_a_terminal(path, monkeypatch):
    example = loaded(path)
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
    lines = (ROOT / "examples" / "digits.txt").read_text().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    assert "# Source: Alpaydin" in lines[1]
    assert len(rows) == 1797
    assert all(len(row[1]) == 64 and row[0] in "0123456789" for row in rows)
    lines = (ROOT / "examples" / "lynx_hare_pelts.txt").read_text().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    assert "# Source: Hewitt" in lines[1]
    assert [int(row[0]) for row in rows] == list(range(1900, 1921))
    assert all(len(row) == 3 and float(row[1]) > 0.0 and float(row[2]) > 0.0 for row in rows)
