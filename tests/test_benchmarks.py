"""The benchmarks run, and see a gradient that is wrong. Nothing here looks at a clock."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import compiling, measure, pages, table, tensors, texts
from benchmarks.programs import formula_by_hand, programs

ROOT = Path(__file__).parent.parent
ROWS = [
    *(
        f"{program.name}: {what}"
        for program in programs(0.01)
        for what in ("time", "statements", *(["memory"] if program.memory else []))
    ),
    *(f"Tensor {name}: {peer}" for name in tensors.PROGRAMS for peer in tensors.installed()),
    "Tensor 64 cotangents",
    *(f"Tensor no_grad: {name}" for name in tensors.OPERATIONS),
    *("jvp beside the program", "jvp beside one by hand", "hvp beside the gradient", "jacobian, 100 x 100"),
    *("call on three numbers", "cache hit, four numbers", "compile ten lines", "import tangentx"),
]


def test_the_table_is_printed():
    command = [sys.executable, "-W", "error", "-m", "benchmarks", "--seconds", "0.001", "--scale", "0.01"]
    done = subprocess.run([*command, "--repeats", "1"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    _, *lines = done.stdout.splitlines()
    assert [re.split("  +", line)[0] for line in lines] == ROWS
    assert all("goal" in line and re.search(r"\b(met|MISSED)\b", line) for line in lines)


JITTED = [table.Row("heat: jit", 0.22, 0.28, "x", "20 ms beside 90 ms"), table.Row("burgers: jit", 0.4, 0.06, "x")]


def test_a_page_says_on_what_was_measured_and_when():
    text = pages.page(JITTED)
    assert re.search(r"^Measured on \d{4}-\d\d-\d\d, on .*\d+ processors.*Python 3", text, re.MULTILINE)
    assert "| heat | 0.220 | 0.28 | 20 ms beside 90 ms |" in text


def test_a_picture_has_all_ratios(tmp_path):
    pytest.importorskip("matplotlib")
    pages.write_page(str(tmp_path / "page"), JITTED)
    picture = (tmp_path / "page" / pages.PICTURE).read_text()
    assert "<!-- heat -->" in picture and "<!-- burgers -->" in picture
    assert pages.PICTURE in (tmp_path / "page" / pages.PAGE).read_text()


def test_a_wrong_gradient_is_no_result():
    wrong = replace(programs(0.01)[0], by_hand=lambda x, y, z: (*formula_by_hand(x, y, z)[:2], 0.0))
    with pytest.raises(ValueError, match="formula: gradient 2 differs"):
        list(table._rows_of(wrong, 0.001))


@pytest.mark.parametrize("found", [(1.0,), (1.0, np.nan), (1.0, np.ones(2)), (1.0, 2.1)])
def test_gradients_that_differ(found):
    measure.demand_equal("f", (1.0, 2.0), (1.0, 2.0))
    with pytest.raises(ValueError, match="^f: "):
        measure.demand_equal("f", found, (1.0, 2.0))


def test_the_peak_of_memory_is_of_what_lives_at_once():
    def twice():
        for _ in range(2):
            np.ones(100_000)

    assert 800_000 <= measure.peak(twice) < 900_000
    assert 1_600_000 <= measure.peak(lambda: [np.ones(100_000), np.ones(100_000)]) < 1_700_000


def test_statements_are_counted():
    def written(x):
        """Not counted."""
        for _ in range(3):
            x = x + 1
        return x

    assert texts.count_written(written) == 3
    assert (
        texts.count_generated("import numpy\n\ndef f(x):\n    return x\n\ndef g(x):\n    y = f(x)\n    return y") == 3
    )


def test_the_first_function_of_a_text_is_the_gradient():
    text = "def f(x):\n    return g(x) + 1\n\ndef g(x):\n    return 2 * x\n"
    assert texts.load(text)(3) == 7


def test_the_first_call_does_not_count(monkeypatch):
    now = [0.0]
    costs = iter([1.0])

    def call():
        now[0] += next(costs, 2.0**-20)

    monkeypatch.setattr(measure.time, "perf_counter", lambda: now[0])
    assert measure._loops(call, 2.0**-13) == 2**7
    assert measure.undisturbed([call], 0.01) == measure.interleaved([call], 0.01) == [2.0**-20]


def test_the_curve_of_compiling_is_printed(capsys):
    compiling.main(["--longest", "10", "--only", "numbers"])
    line, memory = capsys.readouterr().out.splitlines()
    assert line.startswith("numbers") and " 10 statements" in line and "goal 3" in line and "MiB" in memory


@pytest.mark.parametrize("what", compiling.PROGRAMS)
def test_programs_whose_compiling_is_measured(what):
    write, point = compiling.PROGRAMS[what]
    f = compiling.function(write(10))
    slope, step = np.sum(compiling.tx.grad(f)(point)), 1e-6
    assert write(20).count("\n") > write(10).count("\n") > 9
    np.testing.assert_allclose(slope, (f(point + step) - f(point - step)) / (2 * step), rtol=1e-6)
