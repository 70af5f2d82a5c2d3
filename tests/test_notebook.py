"""Functions that are defined in notebooks, doctests and shells: their source is found, or the error says what to do."""

from __future__ import annotations

import code
import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import tangentx as tx

ROOT = Path(__file__).parent.parent

CELLS = (
    """
    import numpy as np
    import tangentx as tx

    def scaled(x):
        return 2.0 * x
    """,
    """
    @tx.differentiate
    def loss(x):
        total = 0.0
        for value in x:
            total = total + scaled(value) ** 2
        return total

    first = loss.grad(np.array([1.0, 2.0])).tolist()
    before = loss
    """,
    """
    def scaled(x):  # the helper of another cell, defined anew
        return 3.0 * x
    """,
    """
    second = loss.grad(np.array([1.0, 2.0])).tolist()

    @tx.differentiate
    def loss(x):
        return np.sum(np.sin(x))

    third = loss.grad(np.zeros(2)).tolist()
    [first, second, third, before.grad(np.ones(1)).tolist()]
    """,
    """
    loss.grad
    """,
    """
    print(loss.grad.source)
    """,
    """
    def broken(x):
        y = np.histogramdd(x)
        return np.sum(y)

    tx.grad(broken)(np.ones(3))
    """,
)


def dedented(text: str) -> str:
    lines = text.strip("\n").split("\n")
    return "\n".join(line[4:] for line in lines).rstrip()


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[nbformat.NotebookNode]:
    """The cells of the notebook after it was run, in a kernel of its own."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(dedented(cell)) for cell in CELLS])
    where = tmp_path_factory.mktemp("notebook")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(where), "JUPYTER_RUNTIME_DIR": str(where)}
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute(env=env, cwd=str(where))
    found: list[nbformat.NotebookNode] = notebook.cells
    return found


def test_cells_run_and_what_they_define_is_differentiated(cells: list[nbformat.NotebookNode]) -> None:
    for cell in cells[:-1]:
        errors = [output for output in cell.outputs if output.output_type == "error"]
        assert not errors, errors
    # A helper that another cell defines anew counts at once; a function that was replaced keeps its own text.
    wanted = [[8.0, 16.0], [18.0, 36.0], [1.0, 1.0], [18.0]]
    assert cells[3].outputs[0].data["text/plain"] == str(wanted)


def test_a_notebook_shows_the_function_beside_its_gradient(cells: list[nbformat.NotebookNode]) -> None:
    shown = re.sub(r"<[^>]*>", "", cells[4].outputs[0].data["text/html"])
    assert shown.index("np.sum(np.sin(x))") < shown.index("loss_grad")
    text = cells[5].outputs[0].text
    assert "def loss_grad(" in text
    assert "# line 5: return np.sum(np.sin(x))" in text


def test_an_error_in_a_notebook_points_into_the_cell(cells: list[nbformat.NotebookNode]) -> None:
    *_, error = cells[6].outputs  # a warning comes first: it runs on Tensors, which have no rule either
    assert error.ename == "NoTemplate"
    text = "\n".join(error.traceback)
    assert "y = np.histogramdd(x)" in text and "Instead:" in text


def test_doctest_session() -> None:
    text = """
        >>> def helper(x):
        ...     return x * x
        >>> @tx.differentiate
        ... def cubed(x):
        ...     return helper(x) * x
        >>> cubed.grad(2.0)
        12.0
        >>> def helper(x):
        ...     return x
        >>> cubed.grad(2.0)
        4.0
        >>> "# line 3: return helper(x) * x" in cubed.grad.source
        True
    """
    test = doctest.DocTestParser().get_doctest(text, {"tx": tx}, "session", "session.txt", 0)
    result = doctest.DocTestRunner(verbose=False).run(test)
    assert (result.failed, result.attempted) == (0, 6)


SHELL = """import tangentx as tx
def f(x):
    return x * x * x

print("gradient", tx.grad(f)(2.0))
"""


def says_what_to_do(shown: str) -> bool:
    hint = "Instead: define the function in a file or a notebook cell"
    return "NoSource" in shown and "the source text of `f` was not kept" in shown and hint in shown


def test_a_console_that_keeps_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    console = code.InteractiveConsole()
    for line in SHELL.splitlines():
        console.push(line)
    shown = capsys.readouterr()
    assert "gradient" not in shown.out and says_what_to_do(shown.err)


def test_the_shell_of_python(tmp_path: Path) -> None:
    """What is typed is entered in linecache from Python 3.13 on, and runs on Tensors before; scripts are found."""
    script = tmp_path / "script.py"
    script.write_text("def g(x):\n    return 5.0 * x * x\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-i", str(script)]
    typed = SHELL + "print('of the script', tx.grad(g)(2.0))\n"
    done = subprocess.run(command, input=typed, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "of the script 20.0" in done.stdout
    assert "gradient 12.0" in done.stdout
    if sys.version_info < (3, 13):  # it runs on Tensors
        assert says_what_to_do(done.stderr)
