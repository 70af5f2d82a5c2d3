"""A sample of the tests on the oldest and newest versions that `pyproject.toml` declares, and without SciPy.

``python -m tests.versions`` makes an environment for each row in a temporary folder, runs the sample there and prints a
table; the status is the number of rows that fail. ``--only NAME`` runs the rows with that in their name. A Python that
is not on this machine (on the path, or under pyenv) is said to be missing.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOOLS = ("pytest>=8.3", "hypothesis>=6.112")
SAMPLE = [
    "tests/api/test_functions.py",
    "tests/compile/test_fallback.py",
    "tests/api/test_products.py",
    "tests/dispatch/test_guards.py",
    "tests/test_goldens.py",
    "tests/tensor/core/test_methods.py",
    "tests/tensor/writes/test_storage.py",
    "README.md",
]
WITHOUT_SCIPY = [
    "tests/api/test_functions.py",
    "tests/compile/test_fallback.py",
    "tests/dispatch/test_guards.py",
    "tests/tensor/core/test_methods.py",
]


@dataclass(frozen=True)
class Row:
    """Versions to run on: of Python, and what is installed beside the package."""

    name: str
    python: str
    packages: tuple[str, ...]
    tests: list[str]


ROWS = (
    Row("oldest", "3.11", ("numpy==2.0.0", "scipy==1.13.0"), SAMPLE),
    Row("numpy 2.1", "3.11", ("numpy==2.1.0", "scipy==1.14.1"), SAMPLE),
    Row("newest, 3.11", "3.11", ("numpy", "scipy"), SAMPLE),
    Row("newest, 3.12", "3.12", ("numpy", "scipy"), SAMPLE),
    Row("newest, 3.13", "3.13", ("numpy", "scipy"), SAMPLE),
    Row("newest, 3.14", "3.14", ("numpy", "scipy"), SAMPLE),
    Row("without SciPy", "3.11", ("numpy",), WITHOUT_SCIPY),
)


def interpreter(version: str) -> str | None:
    """The path of a Python of this version."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    homes = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(homes[-1]) if homes else shutil.which(f"python{version}")


def run(row: Row, folder: Path) -> tuple[str, str]:
    """What came of a row, and the end of what its tests printed."""
    python = interpreter(row.python)
    if python is None:
        return "no such Python here", ""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    own = str(folder / "bin" / "python")
    install = [own, "-m", "pip", "install", "--quiet", str(ROOT), *row.packages, *TOOLS]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode:
        return "could not be installed", done.stderr[-2000:]
    command = [own, "-m", "pytest", "-q", "-p", "no:cacheprovider", *row.tests]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return ("passed" if done.returncode == 0 else "FAILED"), (done.stderr + done.stdout)[-3000:]


def main(only: str) -> int:
    """Runs the rows and prints the table. Returns how many failed."""
    failed = 0
    for row in ROWS:
        if only not in row.name:
            continue
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            status, output = run(row, Path(folder))
        last = output.strip().rpartition("\n")[2]
        print(f"{row.name:16} {row.python:5} {' '.join(row.packages):32} {status:8} {last}", flush=True)
        if status != "passed":
            failed += 1
            print(output)
        print(f"{'':16} {time.monotonic() - start:.0f} s", flush=True)
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="rows with this in their name")
    sys.exit(main(parser.parse_args().only))
