"""Calls on constants: code that is not the user's own is called as it is, once, and its results are observed.

A table of everyday forms, each compiled and right; the programs that break the obvious version, right or refused; what
is seen outside; results whose kinds change; texts and errors.
"""

from __future__ import annotations

import base64
import bisect
import calendar
import collections
import copy
import csv
import datetime
import decimal
import fractions
import hashlib
import heapq
import inspect
import itertools
import json
import linecache
import logging
import math
import os
import pickle
import platform
import queue
import random
import re
import statistics
import struct
import sys
import sysconfig
import textwrap
import time
import types
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.constants as const
import scipy.fft as sfft
import scipy.integrate as integrate
import scipy.interpolate as interp
import scipy.linalg as sla
import scipy.ndimage as ndi
import scipy.optimize as opt
import scipy.signal as signal
import scipy.sparse as sp
import scipy.sparse.linalg as spl
import scipy.spatial as spatial
import scipy.special as special
import scipy.stats as stats
from scipy.integrate import quad
from scipy.stats import norm

import tangentx as tx
from tangentx.common.generated_text import Text
from tangentx.compile.observation import _repeating

FILES: dict[str, str] = {}
TXT = NPY = CSV = JSON = ""
POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
KNOTS = np.array([0.0, 1.0, 2.0])
RNG = np.random.default_rng(0)
LOG = logging.getLogger("tangentx.tests")
X = np.array([0.3, -1.2, 2.1])


@pytest.fixture(scope="module", autouse=True)
def _files(tmp_path_factory: Any) -> None:
    global TXT, NPY, CSV, JSON
    home = tmp_path_factory.mktemp("data")
    TXT, NPY, CSV, JSON = (str(home / f"a.{kind}") for kind in ("txt", "npy", "csv", "json"))
    np.savetxt(TXT, np.arange(3.0) + 1)
    np.save(NPY, np.arange(3.0) + 1)
    Path(CSV).write_text("1,2,3\n4,5,6\n")
    Path(JSON).write_text('{"a": 2.5, "b": [1, 2, 3], "c": "s"}')


FORMS = {
    "loadtxt": lambda x: np.sum((x - np.loadtxt(TXT)) ** 2),
    "np_load": lambda x: np.sum((x - np.load(NPY)) ** 2),
    "genfromtxt": lambda x: np.sum(x * np.genfromtxt(TXT)),
    "fromfile": lambda x: np.sum(x * np.fromfile(NPY, dtype=float)[-3:]),
    "json_loads": lambda x: np.sum(x) * json.loads('{"a": 2.5}')["a"],
    "json_list": lambda x: np.dot(x, json.loads("[1.0, 2.0, 3.0]")),
    "json_load": lambda x: np.sum(x) * json.load(open(JSON))["a"],
    "butter": lambda x: np.sum(np.convolve(x, signal.butter(2, 0.1)[0])),
    "leggauss": lambda x: np.sum(x[0] * np.polynomial.legendre.leggauss(6)[0] ** 2),
    "roots": lambda x: np.sum(x[0] * np.real(np.roots([1.0, -3.0, 2.0])) ** 2),
    "diags": lambda x: np.sum((sp.diags([1.0, 2.0, 3.0]).toarray() @ x) ** 2),
    "ppf": lambda x: np.sum(x) * norm.ppf(0.95),
    "frozen": lambda x: np.sum(x * stats.norm(0.0, 1.0).pdf(KNOTS)),
    "read_text": lambda x: np.sum(x) * len(Path(JSON).read_text()),
    "path_name": lambda x: np.sum(x) * len(Path(JSON).name),
    "path_div": lambda x: np.sum(x) * float((Path(TXT).parent / "a.txt").exists()),
    "choice_p": lambda x: np.sum(x[RNG.choice(3, size=2, p=[0.2, 0.3, 0.5])]),
    "choice_one": lambda x: x[RNG.choice(3, p=[0.2, 0.3, 0.5])] * 1.0,
    "re_match": lambda x: np.sum(x) * float(re.match(r"a=(.*)", "a=2.5").group(1)),
    "re_index": lambda x: np.sum(x) * float(re.match(r"a=(.*)", "a=2.5")[1]),
    "re_findall": lambda x: np.sum(x) * len(re.findall(r"\d", "1 2 3")),
    "re_split": lambda x: np.sum(x) * float(re.split(",", "1,2")[1]),
    "now_hour": lambda x: np.sum(x) * (1.0 + 0 * datetime.datetime.now().hour),
    "toordinal": lambda x: np.sum(x) * datetime.date(2020, 1, 1).toordinal(),
    "timedelta": lambda x: np.sum(x) * (datetime.datetime(2020, 1, 2) - datetime.datetime(2020, 1, 1)).days,
    "environ_get": lambda x: np.sum(x) * float(os.environ.get("NOPE_X", "2")),
    "environ_item": lambda x: np.sum(x) * len(os.environ["PATH"]),
    "perf_counter": lambda x: np.sum(x) * (1.0 + 0.0 * time.perf_counter()),
    "rand_random": lambda x: np.sum(x) * (1.0 + 0.0 * random.random()),
    "randint": lambda x: np.sum(x) * (1.0 + 0.0 * random.randint(1, 3)),
    "comb": lambda x: np.sum(x) * math.comb(5, 2),
    "gcd": lambda x: np.sum(x) * math.gcd(12, 8),
    "roots_legendre": lambda x: np.sum(x[0] * special.roots_legendre(5)[0] ** 2),
    "rng_normal": lambda x: np.sum(x * np.random.default_rng(0).normal(size=3)),
    "csv_list": lambda x: np.sum(x) * float(list(csv.reader(open(CSV)))[0][1]),
    "open_read": lambda x: np.sum(x) * len(open(CSV).read()),
    "mean": lambda x: np.sum(x) * statistics.mean([1.0, 2.0, 4.0]),
    "stdev": lambda x: np.sum(x) * statistics.stdev([1.0, 2.0, 4.0]),
    "fraction": lambda x: np.sum(x) * float(fractions.Fraction(1, 3)),
    "decimal_": lambda x: np.sum(x) * float(decimal.Decimal("1.5")),
    "sha": lambda x: np.sum(x) * len(hashlib.sha256(b"a").hexdigest()),
    "counter": lambda x: np.sum(x) * collections.Counter("abca")["a"],
    "combos": lambda x: np.sum(x) * len(list(itertools.combinations([1, 2, 3], 2))),
    "cubic": lambda x: np.sum(x * interp.CubicSpline(KNOTS, KNOTS**2)(KNOTS)),
    "interp1d": lambda x: np.sum(x * interp.interp1d(KNOTS, KNOTS**2)(KNOTS)),
    "quad": lambda x: np.sum(x) * integrate.quad(math.sin, 0.0, 1.0)[0],
    "brentq": lambda x: np.sum(x) * opt.brentq(math.cos, 0.0, 2.0),
    "toeplitz": lambda x: np.sum(sla.toeplitz([1.0, 2.0, 3.0]) @ x),
    "hadamard": lambda x: np.sum(sla.hadamard(2) @ x[:2]),
    "expm": lambda x: np.sum(sla.expm(np.eye(3)) @ x),
    "cdist": lambda x: np.sum(spatial.distance.cdist(POINTS, POINTS) @ x),
    "kdtree": lambda x: np.sum(x * spatial.cKDTree(POINTS).query(POINTS)[0]),
    "window": lambda x: np.sum(x * signal.get_window("hann", 3)),
    "firwin": lambda x: np.sum(x * signal.firwin(3, 0.5)),
    "hanning": lambda x: np.sum(x * np.hanning(3)),
    "binom": lambda x: np.sum(x) * special.binom(5, 2),
    "factorial": lambda x: np.sum(x) * special.factorial(4),
    "dct": lambda x: np.sum(x * sfft.dct(KNOTS)),
    "seed_rand": lambda x: np.sum(x * np.random.rand(3)),
    "histogram": lambda x: np.sum(x * np.histogram(KNOTS, bins=3)[0]),
    "struct_": lambda x: np.sum(x) * struct.unpack("d", struct.pack("d", 2.5))[0],
    "deepcopy": lambda x: np.dot(x, copy.deepcopy([1.0, 2.0, 3.0])),
    "bisect_": lambda x: np.sum(x) * bisect.bisect([1.0, 2.0, 3.0], 2.5),
    "monthrange": lambda x: np.sum(x) * calendar.monthrange(2020, 2)[1],
    "chebpts": lambda x: np.sum(x * np.polynomial.chebyshev.chebpts1(3)),
    "constant_g": lambda x: np.sum(x) * const.g,
    "phys": lambda x: np.sum(x) * const.physical_constants["speed of light in vacuum"][0],
    "spsolve": lambda x: np.sum(x * spl.spsolve(sp.csc_matrix(np.eye(3)), KNOTS)),
    "randomstate": lambda x: np.sum(x * np.random.RandomState(0).randn(3)),
    "crc": lambda x: np.sum(x) * (zlib.crc32(b"a") % 7),
    "b64": lambda x: np.sum(x) * len(base64.b64decode("aGk=")),
    "pickle_": lambda x: np.sum(x) * pickle.loads(pickle.dumps(2.5)),
    "platform_": lambda x: np.sum(x) * len(platform.system()),
    "gaussf": lambda x: np.sum(x * ndi.gaussian_filter(KNOTS, 1.0)),
    "listdir": lambda x: np.sum(x) * len(os.listdir(Path(TXT).parent)),
    "pathjoin": lambda x: np.sum(x) * len(os.path.join("a", "b")),
    "exists": lambda x: np.sum(x) * float(os.path.exists(TXT)),
    "poly1d": lambda x: np.sum(x) * np.poly1d([1.0, 2.0])(3.0),
    "Polynomial": lambda x: np.sum(x) * np.polynomial.Polynomial([1.0, 2.0])(3.0),
    "polyfit": lambda x: np.sum(x) * np.polyfit(KNOTS, KNOTS, 1)[0],
    "minimize": lambda x: np.sum(x) * opt.minimize_scalar(math.cos).x,
    "linregress": lambda x: np.sum(x) * stats.linregress(KNOTS, KNOTS).slope,
    "multivariate": lambda x: np.sum(x) * stats.multivariate_normal([0.0], [[1.0]]).logpdf([0.5]),
    "strptime": lambda x: np.sum(x) * datetime.datetime.strptime("2020", "%Y").year,
    "unpackb": lambda x: np.sum(x) * signal.butter(2, 0.1, output="sos")[0, 0],
    "firstname": lambda x: np.sum(x) * len(textwrap.dedent("  a")),
    "heapq_": lambda x: np.sum(x) * heapq.nsmallest(1, [3.0, 1.0])[0],
    "orthog": lambda x: np.sum(x[0] * special.legendre(2)(KNOTS)),
}

TEXTS = {
    "loadtxt": "np.loadtxt(",
    "json_loads": """json.loads('{"a": 2.5}')""",
    "butter": "signal.butter(2, 0.1)",
    "leggauss": "np.polynomial.legendre.leggauss(6)",
    "ppf": "norm.ppf(0.95)",
    "re_index": "re.match(",
    "roots_legendre": "roots_legendre(5)",
    "expm": "expm(np.eye(3))",
    "factorial": "factorial(4)",
}
"""The call as it stands in the text of the derivative: as the user wrote it."""


def seeded() -> None:
    RNG.bit_generator.state = np.random.default_rng(0).bit_generator.state
    np.random.seed(0)


def differences(f: Any, x: Any, reset: Any = seeded) -> Any:
    """The gradient by central differences, each from the same state of the world."""
    found = []
    for i in range(len(x)):
        step = np.zeros(len(x))
        step[i] = 1e-6
        values = []
        for at in (x + step, x - step):
            reset()
            values.append(float(f(at)))
        found.append((values[0] - values[1]) / 2e-6)
    reset()
    return np.array(found)


@pytest.mark.share(1)
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", FORMS)
def test_an_everyday_form_is_compiled_and_right(name):
    f = FORMS[name]
    want = differences(f, X)
    gradient = tx.grad(f, fallback="error")
    np.testing.assert_allclose(gradient(X), want, rtol=1e-4, atol=1e-6)
    seeded()
    np.testing.assert_allclose(gradient(X), want, rtol=1e-4, atol=1e-6)
    assert TEXTS.get(name, "") in gradient.source


DRAWN = ("seed_rand", "choice_p", "choice_one", "now_hour")  # not run again on Tensors, should the rest not compile
DRAWN += ("open_read", "json_load", "csv_list")


@pytest.mark.share(1)
@pytest.mark.parametrize("name", [name for name in FORMS if name not in DRAWN])
def test_an_everyday_form_needs_no_fallback(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", tx.FallbackWarning)
        np.testing.assert_allclose(tx.grad(FORMS[name])(X), differences(FORMS[name], X), rtol=1e-4, atol=1e-6)


LIBRARY = """
import numpy as np
VALUES = []; CALLS = []; BUFFER = np.zeros(2)
def manager():
    return open("/dev/null")
def put(v): VALUES.append(v)
def getv(): return VALUES[-1]
def lazy(L): return iter(L)
def gen(L):
    for v in L: yield v
def shuffle(idx):
    with manager(): idx[:] = idx[::-1]
def post(v):
    with manager(): CALLS.append(v)
    return v * 2.0
def buffer():
    with manager(): return BUFFER
def step():
    with manager(): BUFFER[0] += 1.0
def number(i):
    with manager(): return [1, 2.5, 3.5][i % 3]
def mixed(i):
    with manager(): return [1.0, np.ones(2), 3.5][i % 3]
def total(a):
    with manager(): return float(np.sum(a))
def keep(a):
    with manager(): VALUES.append(a)
def kept():
    with manager(): return float(np.sum(VALUES[-1]))
def zero(a):
    with manager(): a[...] = 0.0
    return 1.0
def apply(fn, v):
    with manager(): return fn(v)
def fail():
    with manager(): raise ValueError("the library's own")
def maybe(i):
    with manager(): return None if i == 0 else 2.0
class Box:
    def __init__(self, w):
        with manager(): self.w = w
    def total(self):
        with manager(): return float(np.sum(self.w))
def append(L):
    with manager(): L.append(1.0)
    return 1.0
def same(a):
    with manager(): return a
def fresh():
    with manager(): return np.array([1.0, 2.0])
"""
lib: Any = types.ModuleType("foreign_library")
lib.__file__ = os.path.join(sysconfig.get_paths()["purelib"], "foreign_library", "__init__.py")
linecache.cache[lib.__file__] = (len(LIBRARY), None, LIBRARY.splitlines(True), lib.__file__)
exec(compile(LIBRARY, lib.__file__, "exec"), lib.__dict__)
sys.modules["foreign_library"] = lib

STATE = {"v": 1.0}
W = np.ones(3)
BOX = lib.Box(W)
HISTORY: list[float] = []
PROGRAMS: dict[str, tuple[Any, str]] = {}


def reads_state(t):
    return STATE["v"] * t


def square(t):
    return t * t


def program(outcome: str) -> Any:
    """Enters a program with what becomes of it: "ok", "raises", or "refused" with a part of the message."""

    def enter(f: Any) -> Any:
        PROGRAMS[f.__name__] = (f, outcome)
        return f

    return enter


@program("ok")
def quad_lambda(x):
    return quad(lambda t: x[0] * t, 0, 1)[0]


@program("ok")
def quad_state(x):
    STATE["v"] = x[0]
    return quad(reads_state, 0, 1)[0]


@program("ok")
def quad_const(x):
    return quad(square, 0.0, 1.0)[0] * x[0]


@program("ok")
def put_get(x):
    lib.put(x[0])
    return lib.getv() * x[1]


@program("lib.lazy")
def lazy_(x):
    L = [1.0]
    g = lib.lazy(L)
    L.append(x[0])
    return sum(g) * x[1]


@program("lib.gen")
def lazy_gen(x):
    L = [1.0]
    g = lib.gen(L)
    L.append(x[0])
    return sum(g) * x[1]


@program("may write into what it is given")
def shuffle_after(x):
    idx = np.array([0, 1])
    y = x * x
    z = y[idx[0]]
    lib.shuffle(idx)
    return z * y[idx[0]] ** 2


@program("may write into what it is given")
def shuffle_np(x):
    idx = np.array([0, 1])
    y = x * x
    z = y[idx[0]] ** 3
    np.random.default_rng(3).shuffle(idx)
    return z * y[idx[1]]


@program("ok")
def post_once(x):
    return lib.post(3.0) * x[0]


@program("changes an array")
def buffer_step(x):
    b = lib.buffer()
    y = x[0] * b[0]
    lib.step()
    return y * y


@program("ok")
def buffer_sum(x):
    b = lib.buffer()
    return np.sum(b) * x[0] ** 2


@program("ok")
def kinds_loop(x):
    s = x[0]
    for i in range(3):
        s = s + x[1] * lib.number(i)
    return s


@program("ok")
def kinds_loop2(x):
    s = x[0]
    for i in range(3):
        s = s + np.sum(x[1] * lib.mixed(i))
    return s


@program("may keep what it is given")
def total_written(x):
    A = np.zeros(2)
    A[0] = 3.0
    return lib.total(A) * x[0]


@program("lib.total")
def total_written_after(x):
    A = np.ones(2)
    t = lib.total(A)
    A[0] = x[1]
    return t * A[0] * x[0]


@program("may keep")
def keep_then_write(x):
    A = np.ones(2)
    lib.keep(A)
    A[0] = 5.0
    return lib.kept() * x[0]


@program("lib.keep")
def keep_varied(x):
    lib.keep(x)
    return lib.kept() * x[0]


@program("changes an array")
def zeroed(x):
    A = np.ones(2)
    y = x[0] * A[0]
    t = lib.zero(A)
    return y * y * t


@program("lib.apply")
def applied_lambda(x):
    return lib.apply(lambda t: t * x[0], 2.0)


@program("ok")
def applied_const(x):
    return lib.apply(square, 2.0) * x[0]


@program("writes into `STATE`")
def applied_state(x):
    STATE["v"] = 3.0
    r = lib.apply(reads_state, 2.0) * x[0]
    STATE["v"] = 1.0
    return r


@program("ok")
def branch(x):
    if x[0] > 0:
        a = lib.post(2.0)
    else:
        a = lib.number(0)
    return a * x[0]


@program("ok")
def boxed(x):
    return BOX.total() * x[0]


@program("ok")
def box_made(x):
    b = lib.Box(2.0)
    return b.total() * x[0]


@program("foreign_library.Box")
def box_varied(x):
    b = lib.Box(x)
    return b.total() * x[0]


@program("writes into `W`")
def outside_write(x):
    W[0] = x[0]
    return BOX.total() * x[1]


@program("ok")
def maybe_loop(x):
    s = x[0]
    for i in range(3):
        m = lib.maybe(i)
        if m is not None:
            s = s + m * x[1]
    return s


@program("may write into what it is given")
def list_mut(x):
    L = [1.0, 2.0]
    y = x[0] * L[0]
    t = lib.append(L)
    return y * t * len(L)


@program("memory that others hold")
def same_arr(x):
    A = np.ones(2)
    B = lib.same(A)
    B[0] = x[0]
    return A[0] * x[1]


@program("lib.same")
def same_arr2(x):
    A = np.ones(2)
    B = lib.same(A)
    A[0] = x[0]
    return np.sum(B) * x[1]


@program("ok")
def load_write(x):
    A = np.array(json.loads("[1.0, 2.0]"))
    A[0] = x[0]
    return np.sum(A * x)


@program("ok")
def json_write(x):
    c = json.loads('{"a": 1.0, "b": [1.0, 2.0]}')
    c["a"] = x[0]
    c["b"][0] = x[1]
    return c["a"] * c["b"][0] ** 2 + c["b"][1] * x[0]


@program("ok")
def butter_write(x):
    b, a = signal.butter(2, 0.1)
    b[0] = x[0]
    return np.sum(b * a) * x[1]


@program("ok")
def prints(x):
    print("", end="")
    r = lib.post(1.0)
    print("", end="")
    return r * x[0]


@program("ok")
def draws(x):
    u = np.random.rand()
    r = lib.post(1.0)
    v = np.random.rand()
    return r * x[0] * u + v * x[1]


@program("no derivative rule")
def q(x):
    line = queue.Queue()
    line.put(x[0])
    return line.get() * x[1]


@program("ok")
def q2(x):
    line = queue.Queue()
    line.put(2.0)
    return line.get() * x[1]


@program("HISTORY")
def history(x):
    HISTORY.append(1.0)
    c = json.loads("2.5")
    return c * x[0]


@program("ok")
def nested_grad(x):
    c = json.loads("2.5")
    return tx.grad(lambda y: np.sum(c * y**3))(x)[0]


@program("ok")
def for_items(x):
    s = x[0]
    for k, v in json.loads('{"a": 1.0, "b": 2}').items():
        s = s + v * x[1]
    return s


@program("ok")
def for_rows(x):
    s = 0.0
    for r in json.loads('[{"a": 1.0}, {"a": 2}]'):
        s = s + r["a"] * x[1] ** 2
    return s


@program("ok")
def while_q(x):
    it = iter([1.0, 2.0])
    s = x[0]
    while True:
        v = next(it, None)
        if v is None:
            break
        s = s + v * x[1]
    return s


@program("known only when it runs")
def tryit(x):
    try:
        c = json.loads("2.5")
    except ValueError:
        c = 1.0
    return c * x[0]


@program("raises")
def raising(x):
    lib.post(1.0)
    lib.fail()
    return x[0]


@program("ok")
def fresh_written(x):
    a = lib.fresh()
    a[0] = x[0]
    return np.sum(a * a) * x[1]


@program("ok")
def one_text_then_others(x):
    first = json.loads("1")
    rest = [json.loads(text) for text in ("1", "2.5", "3")]
    return x[0] * first * sum(rest)


def read_by_hand(text):
    with open(os.devnull) as nothing:
        left = nothing.read()
    return json.loads(text + left)


@program("ok")
def helper_that_cannot_be_compiled(x):
    return read_by_hand('{"k": 2.0}')["k"] * x[0] ** 2


def world() -> Any:
    """What can be seen outside."""
    draws = np.random.get_state()
    return lib.CALLS[:], len(lib.VALUES), lib.BUFFER.tolist(), HISTORY[:], W.tolist(), dict(STATE), draws[2]


def reset() -> None:
    STATE["v"] = 1.0
    W[:] = 1.0
    lib.VALUES.clear()
    lib.CALLS.clear()
    lib.BUFFER[:] = 1.0
    HISTORY.clear()
    np.random.seed(5)


Y = np.array([0.7, -1.3])


def by_jvp(f: Any, x: Any) -> Any:
    found = []
    for dot in np.eye(2):
        reset()
        found.append(tx.jvp(f, (x,), (dot,), fallback="error")[1])
    return np.array(found)


WAYS = {
    "reverse": lambda f, x: tx.grad(f, fallback="error")(x),
    "value": lambda f, x: tx.value_and_grad(f, fallback="error")(x)[1],
    "pullback": lambda f, x: tx.vjp(f, x, fallback="error")[1](1.0),
    "forward": by_jvp,
    "default": lambda f, x: tx.grad(f)(x),
}


STRICT = ("same_arr2", "fresh_written")
"""Programs that are compiled with ``fallback="error"`` alone: else code with effects is run when all is known, and
the runtime refuses what they write."""


def right_or_refused(way: Any, f: Any, allowed: bool) -> Any:
    """What a way gives; None where it refuses, which must be allowed."""
    try:
        return way(f, Y)
    except tx.TangentxError:
        if not allowed:
            raise
        return None


@pytest.mark.share(2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_right_or_refused(name, way):
    f, outcome = PROGRAMS[name]
    reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.FallbackWarning)
        if outcome == "raises":
            with pytest.raises(ValueError, match="the library's own"):
                WAYS[way](f, Y)
            assert lib.CALLS == [1.0]
            return
        if outcome != "ok" and way != "default":
            with pytest.raises(tx.TangentxError) as caught:
                WAYS[way](f, Y)
            assert outcome in str(caught.value)
            return
        found = right_or_refused(WAYS[way], f, outcome != "ok" or name in STRICT)
        if found is None:
            return
    seen = world()
    np.testing.assert_allclose(found, differences(f, Y, reset), rtol=1e-4, atol=1e-6)
    reset()
    f(Y.copy())
    if way != "forward":
        assert seen == world()


@pytest.mark.share(1)
@pytest.mark.parametrize("name", [name for name, (_, outcome) in PROGRAMS.items() if outcome == "ok"])
def test_second_order(name):
    f, _ = PROGRAMS[name]
    reset()
    found = tx.hessian(f, fallback="error")(Y)
    seen = world()
    gradient = tx.grad(f, fallback="error")
    rows = []
    for i in range(2):
        step = np.eye(2)[i] * 1e-5
        both = []
        for at in (Y + step, Y - step):
            reset()
            both.append(gradient(at))
        rows.append((both[0] - both[1]) / 2e-5)
    np.testing.assert_allclose(found, rows, rtol=1e-3, atol=1e-4)
    reset()
    f(Y.copy())
    assert seen == world()


def scaled(x, text):
    return np.sum(x) * np.sum(np.asarray(json.loads(text)))


def test_results_of_changing_kinds_each_have_their_text():
    gradient = tx.grad(scaled, fallback="error")
    for text, slope in (("1", 1.0), ("2.5", 2.5), ("[1.0, 2.0]", 3.0), ("1", 1.0), ("[[1, 2], [3, 4]]", 10.0)):
        np.testing.assert_allclose(gradient(Y, text), [slope, slope])


def posted(x, n):
    total = x[0]
    for i in range(n):
        total = total + lib.post(float(i)) * x[1]
    return total * lib.number(n)


def test_every_call_happens_once_and_in_order_whatever_is_compiled():
    reset()
    gradient = tx.grad(posted, fallback="error")
    for n in (0, 3, 1, 2):
        lib.CALLS.clear()
        slope = lib.number(n)
        np.testing.assert_allclose(gradient(Y, n), [slope, slope * n * (n - 1)])
        assert lib.CALLS == [float(i) for i in range(n)]


def test_a_pullback_calls_nothing_again():
    reset()
    value, pull = tx.vjp(lambda x: lib.post(3.0) * x[0] * x[1], Y, fallback="error")
    for seed in (1.0, 2.0):
        np.testing.assert_allclose(pull(seed), [6.0 * seed * Y[1], 6.0 * seed * Y[0]])
    assert lib.CALLS == [3.0]
    assert value == 6.0 * Y[0] * Y[1]


def test_a_pullback_has_copies_of_what_is_outside():
    reset()
    outside = np.array([2.0, 3.0])

    def f(x):
        return lib.post(3.0) * np.sum(x * outside) + np.sum(outside**2) * x[0]

    _, pull = tx.vjp(f, Y[:2], fallback="error")
    wanted = 6.0 * outside + np.array([13.0, 0.0])
    outside[:] = 0.0
    for _ in range(2):
        np.testing.assert_allclose(pull(1.0), wanted)
    np.testing.assert_allclose(tx.vjp(f, Y[:2], fallback="error")[1](1.0), 0.0)


def test_a_text_that_is_only_shown_runs_nothing():
    reset()
    gradient = tx.grad(lambda x: lib.post(3.0) * x[0], fallback="error")
    with pytest.raises(tx.NotResolved, match="call the derivative once"):
        gradient.source_for(Y)
    assert lib.CALLS == []
    gradient(Y)
    assert lib.CALLS == [3.0]
    assert "observed(" in gradient.source_for(Y)
    assert lib.CALLS == [3.0]


def test_a_refusal_points_at_the_users_line_and_names_what_they_called():
    with pytest.raises(tx.NoTemplate) as caught:
        tx.grad(lambda x: integrate.tanhsinh(math.sin, 0.0, x[0]).integral, fallback="error")(Y)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__
    assert "tanhsinh`" in caught.value.message


def test_a_failing_call_raises_what_it_raises():
    with pytest.raises(FileNotFoundError):
        tx.grad(lambda x: np.sum(x * np.loadtxt("/nowhere/at/all.txt")))(Y)


@pytest.fixture
def often_switched():
    """Threads take turns so often that what one learns while another compiles is met in most runs."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("often_switched")
def test_threads_each_have_their_own_run():
    gradient = tx.grad(scaled, fallback="error")
    texts = ["1", "2.5", "[1.0, 2.0]", "[[1, 2], [3, 4]]"] * 8
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: gradient(Y, text), texts))
    for text, one in zip(texts, found, strict=True):
        np.testing.assert_allclose(one, np.full(2, float(np.sum(json.loads(text)))))


def test_what_python_would_warn_of_in_our_text_is_not_said() -> None:
    """Warnings are errors here: it was a SyntaxError of our own, in the part of a program that is known."""
    text = Text("def f(x):\n    return x * None[0]\n", functions=("f",))
    (f,) = _repeating(text, "<tangentx f>")
    with pytest.raises(TypeError, match="not subscriptable"):
        f(1.0)


def pairs_that_were_met(x):
    met, total = set(), 0.0
    for i, j in [(0, 1), (1, 0), (0, 1), (2, 2)]:
        pair = min(i, j), max(i, j)
        if pair in met:
            continue
        met.add(pair)
        total = total + x[i] * x[j]
    return total * len(met)


def sets_in_a_dict(x):
    groups = {}
    for i in range(3):
        groups.setdefault(i % 2, set()).add((i,))
    return len(groups[0]) * x[0] * x[1]


def a_set_beside_code_that_is_not_read(x):
    met = set()
    for k in range(3):
        met.add(k)
        found = json.loads(str(k + 1))
    return len(met) * x[0] * x[1] * found


def a_set_that_is_used_up(x):
    left, total = {0, 1, 2}, 0.0
    while left:
        total = total + x[left.pop()] * len(left)
    return total * x[0]


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize(
    ("f", "compiled"),
    [
        (pairs_that_were_met, True),
        (sets_in_a_dict, True),
        (a_set_beside_code_that_is_not_read, False),
        (a_set_that_is_used_up, False),
    ],
)
def test_what_changes_a_set_is_done_in_each_run_or_refused(f: Any, compiled: bool) -> None:
    """A set is made by the text itself, so that a run that goes on where another one ended begins with an empty one."""
    x = np.array([0.5, 1.5, 2.0])
    wanted = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    if compiled:
        np.testing.assert_allclose(tx.grad(f, fallback="error")(x), wanted, rtol=1e-7)
    else:
        with pytest.raises(tx.UnsupportedSyntax, match="whose calls are not repeated"):
            tx.grad(f, fallback="error")(x)
    value, found = tx.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-7)


def over_a_kept_range(x):
    numbers, total = iter(range(10)), 0.0
    for i in numbers:
        if i >= 3:
            break
        total = total + x[i] * next(numbers, 0)
    return total * len(list(numbers))


def within_itself(x):
    numbers, total = iter([0, 1, 2]), 0.0
    for i in numbers:
        for j in numbers:
            total = total * 2.0 + x[i] * x[j]
    return total * total


def over_kept_pairs(x):
    pairs, total = zip([0, 1], [2, 1], strict=True), 0.0
    for i, j in pairs:
        total = total * 2.0 + x[i] * x[j]
    return total * total + len(list(pairs))


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("f", [over_a_kept_range, within_itself, over_kept_pairs])
def test_an_iterator_that_is_kept_is_read_as_python_reads_it_or_refused(f: Any) -> None:
    x = np.array([0.5, 1.5, 2.0])
    wanted = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    with pytest.raises(tx.UnsupportedSyntax, match="iteration over"):
        tx.grad(f, fallback="error")(x)
    np.testing.assert_allclose(tx.grad(f)(x), wanted, rtol=1e-7)


def of_the_caller():
    return sys._getframe(1).f_locals["scale"]


def of_the_caller_by_another():
    return named_of(inspect.stack()[2].frame)


def named_of(frame):
    return frame.f_locals["scale"]


def calls_one(x):
    scale = 3.0
    return of_the_caller() * x * scale


def calls_another(x):
    scale = 3.0

    def between():
        return of_the_caller_by_another()

    return between() * x * scale


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("program", [calls_one, calls_another])
def test_a_function_that_looks_at_its_caller_is_not_called_from_a_text(program: Any) -> None:
    """There it met our frames: a KeyError, or the number of a line of ours."""
    with pytest.raises(tx.UnsupportedSyntax, match="sees the frame"):
        tx.grad(program, fallback="error")(2.0)
    assert tx.grad(program)(2.0) == 9.0
