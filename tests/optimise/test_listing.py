"""The table of passes, and that the documentation has it as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tangentx.optimise.listing import listing
from tangentx.optimise.pipeline import PASSES

ROOT = Path(__file__).parents[2]


def test_each_pass_has_a_line_with_its_file_and_what_it_does() -> None:
    lines = listing().splitlines()[2:]
    assert [line.split("`")[1] for line in lines] == list(PASSES)
    for line in lines:
        _, name, file, when, says, _ = line.replace("\\|", "/").split("|")
        assert (ROOT / "tangentx" / "optimise" / file.strip(" `")).exists()
        assert when.strip() in ("in rounds", "behind the rounds", "at the end") and len(says.strip()) > 20


def test_the_documentation_has_the_table() -> None:
    assert listing() in (ROOT / "ARCHITECTURE.md").read_text(), "paste what `python -m tangentx.optimise` prints"


def test_the_command_prints_it() -> None:
    done = subprocess.run([sys.executable, "-m", "tangentx.optimise"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, listing())
