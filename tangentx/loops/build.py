"""From a text of C to a library that is loaded: compiled once for each content, compiler and processor, and kept.

What is compiled lies in a directory that nobody else may enter, is written under another name first, and is found again
by other processes.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import hashlib
import os
import platform
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Sequence

from tangentx.errors import NoCompiler

FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-ffp-contract=off", "-fwrapv", "-fPIC", "-shared", "-std=gnu11")
"""No flag that lets the compiler change what a program computes: a division by zero, the order of sums, not a number.

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
            if not _is_whole(path):
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
            library.write(_digest(library.read()))
        os.chmod(made, 0o700)
        os.replace(made, path)


def _digest(content: bytes) -> bytes:
    """What stands behind a library, by which one that was cut off or changed is known."""
    return hashlib.sha256(content).digest()


def _is_whole(path: str) -> bool:
    """Whether a library is there, is the user's alone, and is as it was made."""
    if not is_own(path):
        return False
    with open(path, "rb") as file:
        content = file.read()
    return _digest(content[:-_DIGEST]) == content[-_DIGEST:]


_DIGEST = hashlib.sha256().digest_size


@functools.cache
def _processor() -> str:
    """What code for this very processor may use."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            lines = {line for line in file if line.startswith(("flags", "Features", "model name"))}
    except OSError:
        lines = {platform.processor()}
    return platform.machine() + "".join(sorted(lines))


def directory() -> str:
    """Where libraries are kept: ``$TANGENTX_CACHE``, or the user's directory for caches; for nobody else to enter."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    path = os.environ.get("TANGENTX_CACHE") or os.path.join(home, "tangentx")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        if is_own(path):
            return path
    except OSError:
        pass
    return private()


@functools.cache
def private() -> str:
    """A directory of this process alone, where the other one cannot be trusted or made."""
    made = tempfile.mkdtemp(prefix="tangentx-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def is_own(path: str) -> bool:
    """Whether a file or directory is there, is the user's, and nobody else can write it."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    if stat.S_ISLNK(found.st_mode):
        return False
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return mine and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
