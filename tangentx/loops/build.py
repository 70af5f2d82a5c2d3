"""Builds and loads C libraries, cached by content.

What is compiled lies in a directory that nobody else may enter, is written under another name first, and is found again
by other processes.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence

from tangentx.common.cache_files import digest, directory, private, read
from tangentx.errors import NoCompiler

FLAGS = ("-O3", "-fno-expensive-optimizations", "-fno-gcse-after-reload", "-fno-schedule-insns2",
         "-march=native", "-fno-math-errno", "-ffp-contract=off", "-fwrapv", "-fPIC", "-shared", "-pthread",
         "-std=gnu11")  # fmt: skip
"""No flag that lets the compiler change what a program computes: a division by zero, the order of sums, not a number.

What -O3 is spared takes a third of the time to compile, and loops are as fast without.
`-fwrapv`: where whole numbers may wrap, the program has checked that they do not.
"""
_CANDIDATES = ("cc", "gcc", "clang")
_LIMIT_SECONDS = 120


@functools.cache
def library(source: str) -> ctypes.PyDLL:
    """The text, compiled and loaded. Raises NoCompiler."""
    command, version = compiler()
    told = "\0".join((source, *command, version, *FLAGS, _processor()))
    name = hashlib.sha256(told.encode()).hexdigest()[:32]
    for place in (directory, private):  # the first may be full, read-only, or one from which nothing may be run
        try:
            path = os.path.join(place(), f"{name}.so")
            if read(path) is None:
                _compile(command, source, path)
            return ctypes.PyDLL(path)
        except OSError as error:
            reason = error
    raise NoCompiler(f"what the C compiler made cannot be kept or loaded: {reason}", hint=_HINT)


_HINT = "set CC to a working compiler and TANGENTX_CACHE to a directory for what it makes, or leave out jit"


def compiler() -> tuple[tuple[str, ...], str]:
    """The command of the C compiler, ``$CC`` first, and what it says of its version. Raises NoCompiler."""
    return _compiler(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@functools.cache
def _compiler(given: str, path: str) -> tuple[tuple[str, ...], str]:
    try:
        words = shlex.split(given)
    except ValueError:  # a quotation mark without its fellow
        words = [given]
    candidates = [words] if words else [[name] for name in _CANDIDATES]
    for candidate in candidates:
        found = shutil.which(candidate[0], path=path)
        if found is None:
            continue
        command = (found, *candidate[1:])
        told = _run([*command, "--version"])
        if told.returncode == 0:
            return command, told.stdout
    what = f"CC={given!r} is no C compiler that runs" if words else f"there is no C compiler ({', '.join(_CANDIDATES)})"
    raise NoCompiler(f'jit="c" needs a C compiler: {what}', hint="install gcc or clang, set CC, or leave out jit")


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def _compile(command: Sequence[str], source: str, path: str) -> None:
    """Compiles beside the place where the library is to lie, and puts it there at once."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as place:
        text, made = os.path.join(place, "program.c"), os.path.join(place, "program.so")
        with open(text, "w", encoding="utf-8") as file:
            file.write(source)
        told = _run([*command, *FLAGS, "-o", made, text, "-lm"])
        if told.returncode != 0 or not os.path.exists(made):
            lines = (told.stderr.strip() or "it says nothing").splitlines()
            raise NoCompiler(f"the C compiler `{command[0]}` made nothing: {lines[-1]}", hint=_HINT)
        with open(made, "r+b") as library:
            library.write(digest(library.read()))
        os.chmod(made, 0o700)
        os.replace(made, path)


@functools.cache
def _processor() -> str:
    """What code for this very processor may use."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            lines = {line for line in file if line.startswith(("flags", "Features", "model name"))}
    except OSError:
        lines = {platform.processor()}
    return platform.machine() + "".join(sorted(lines))
