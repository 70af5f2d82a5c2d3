"""The C of the corpus under the address and undefined-behaviour sanitisers: ``python -m tests.jit.sanitised``.

It starts itself again with the sanitisers' libraries loaded first, which gcc names, and ends with an error at the first
fault. Results are compared with those of the generated Python. ``python -m tests.jit.sanitised 3 20`` takes every 20th
program from the third on.
"""

import itertools
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import tangentx as tx
from tangentx.common.pytrees import leaves
from tests.jit import test_entry, test_forms, test_hard_cases, test_kept_shapes, test_several_ways_out
from tests.programs import PROGRAMS

COMPILER = """#!/bin/sh
exec gcc -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer "$@" -O1
"""


def programs() -> Iterator[tuple[str, Any, tuple[Any, ...], dict[str, Any]]]:
    """The corpus, and the hard cases."""
    for program in PROGRAMS:
        yield program.name, program.fn, program.args(), {"wrt": program.wrt}
    ways_out = (*test_several_ways_out.TAKEN, *test_several_ways_out.OTHERS)
    cases = (*test_hard_cases.CASES, *test_forms.CASES, *test_kept_shapes.CASES, *test_entry.CASES)
    for f, args in (*ways_out, *cases):
        yield f.__name__, f, tuple(x.copy() if isinstance(x, np.ndarray) else x for x in args), {}


def outcome(f: Any, args: tuple[Any, ...]) -> list[Any]:
    """The numbers that a function gives, or the exception."""
    try:
        return [x for _, x in leaves("", f(*args))]
    except Exception as error:
        return [type(error), str(error)]


def alike(a: Any, b: Any) -> bool:
    """Whether two results are the same but for rounding."""
    if isinstance(a, float | np.ndarray | np.generic):
        size = float(np.max(np.abs(a), initial=1.0, where=np.isfinite(a)))
        short = np.asarray(a).dtype == np.float32
        return bool(np.allclose(a, b, rtol=0, atol=(1e-5 if short else 1e-12) * size, equal_nan=True))
    return bool(a == b)


def run() -> int:
    """How many programs went wrong; a fault that a sanitiser finds ends the process."""
    warnings.simplefilter("ignore")
    count = wrong = 0
    first, step = map(int, sys.argv[1:3] or (0, 1))
    for number, (name, f, args, options) in enumerate(itertools.islice(programs(), first, None, step), 1):
        if number % 20 == 0:
            print(f"{number} programs, {count} compiled, {wrong} differ", flush=True)
        for form in ("gradient", "function"):
            if form == "function":
                plain, derivative = f, tx.jit(f, jit="c", parallel=True)
            else:
                plain = tx.value_and_grad(f, guarded=True, **options)
                derivative = tx.value_and_grad(f, jit="c", parallel=True, **options)
            found, wanted = outcome(derivative, args), outcome(plain, args)
            entry = derivative._cache.last
            if entry is None or entry.notes["jit"] is None or entry.notes["jit"].compiled is None:
                continue
            count += 1
            if len(found) != len(wanted) or not all(map(alike, wanted, found)):
                wrong += 1
                print(f"{name}, {form}: {found} for {wanted}", flush=True)
    print(f"{count} compiled, {wrong} differ")
    return wrong


def main() -> int:
    """Starts the run with the sanitisers, or is it."""
    if os.environ.get("TANGENTX_SANITISED"):
        return run()
    libraries = [
        subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    with tempfile.TemporaryDirectory() as place:
        compiler = os.path.join(place, "compiler")
        with open(compiler, "w", encoding="utf-8") as file:
            file.write(COMPILER)
        os.chmod(compiler, 0o700)
        settings = {
            "CC": compiler, "LD_PRELOAD": ":".join(libraries), "TANGENTX_CACHE": place, "TANGENTX_SANITISED": "1",
            "ASAN_OPTIONS": "detect_leaks=0", "TANGENTX_THREADS": "2",
        }  # fmt: skip
        command = [sys.executable, "-m", "tests.jit.sanitised", *sys.argv[1:]]
        return subprocess.run(command, env=os.environ | settings).returncode


if __name__ == "__main__":
    sys.exit(main())
