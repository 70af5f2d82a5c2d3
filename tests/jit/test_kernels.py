"""Kernels of ``jit="cuda"`` on the double of CuPy, compiled as C++ and run thread after thread in any order; and as PTX
where NVIDIA's compiler is installed."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.arrays import device_double
from tangentx.arrays.kernels import OPTIONS
from tangentx.compile.pipeline import proofs
from tangentx.testing import device_arrays as cp
from tangentx.testing.device_arrays import DeviceArray
from tests.harness import nvrtc
from tests.harness.kernels_on_host import COMPILER, RawKernel, on_host
from tests.jit.kernels_on_device import compared, difference, taken, waves
from tests.programs import PROGRAMS
from tests.programs.case import Program
from tests.testing.device_programs import function_there

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no compiler of C++")
needs_nvrtc = pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC: pip install nvidia-cuda-nvrtc")
FOR_OLD_DEVICES = (*OPTIONS, "--gpu-architecture=compute_75", "-std=c++14")
RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(2, 37))
GRID = RNG.normal(size=(5, 6))


def jit_of(derivative: Any) -> Any:
    return derivative._cache.last.notes["jit"]


def left(derivative: Any) -> list[str]:
    return sorted({why for each in jit_of(derivative).kernels for why in each.left})


def both(f: Any, *args: Any, **options: Any) -> Any:
    """The gradient with kernels, which is that without."""
    plain = tx.value_and_grad(f, fallback="error", **options)
    made = tx.value_and_grad(f, fallback="error", jit="cuda", **options)
    put = [DeviceArray(x) if isinstance(x, np.ndarray) else x for x in args]
    with on_host(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        wanted, _ = plain(*put), made(*put)
        for each in jit_of(made).kernels:  # the function may have been differentiated before
            each.left.clear()
            each.runs = 0
        found = made(*put)
    assert difference(wanted, found) <= 1.0
    return made


@pytest.mark.share(6)
@needs_compiler
@pytest.mark.parametrize("program", list(filter(taken, PROGRAMS)), ids=lambda program: program.name)
def test_the_corpus(program: Program, tmp_path_factory: pytest.TempPathFactory) -> None:
    fn = function_there(program, tmp_path_factory.getbasetemp())
    before = set(RawKernel.made)
    with on_host():
        found = compared(program, fn, DeviceArray)
    assert found.difference <= 1.0
    assert not any("compiled" in why for why in found.left)
    assert found.refusal or found.kernels
    for code in set(RawKernel.made) - before if nvrtc.library() else ():
        assert f".visible .entry {RawKernel.made[code]}(" in nvrtc.ptx(code, RawKernel.made[code], FOR_OLD_DEVICES)


@needs_compiler
def test_a_text_with_kernels() -> None:
    def pull(x, y, rate):
        z = np.exp(x) * y + rate * x
        return np.sum(z * z)

    made = both(pull, X, Y, 0.5, wrt=("x", "y"))
    source = made.source
    assert "exp_x, z, z_squared = pull_grad_kernel1(x, y, rate)" in source
    assert "const double z_at = (exp_x_at * y_at) + (rate * x_at);" in source
    assert "from tangentx.arrays.kernels import kernel" in source
    told = made.explain()
    assert re.search(r"\d kernels of CUDA, of \d+ statements; \d arrays never made", told)
    assert re.search(r"line \d+ stays as it is: `full_like` does not go element by element", told)


@needs_compiler
def test_a_text_is_the_program_without_kernels_where_their_decorators_are_left_out() -> None:
    made = both(waves, X, Y, 0.5, wrt=("x", "y"))
    text = re.sub(r"^@kernel\(.*\)\n", "", made.source, flags=re.M)
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    found = namespace["waves_grad"](DeviceArray(X), DeviceArray(Y), 0.5)
    assert difference(tx.value_and_grad(waves, wrt=("x", "y"))(DeviceArray(X), DeviceArray(Y), 0.5), found) <= 1.0


def outer(x, y):
    z = x * y + x
    return np.sum(z * z)


@needs_compiler
@pytest.mark.parametrize(
    ("f", "args", "why"),
    [
        (outer, (GRID, GRID[:1]), []),
        (outer, (GRID[::2, ::-1], GRID[1:4]), []),
        (outer, (GRID[:, :1], GRID[:1]), []),
        (outer, (GRID, np.array(2.0)), []),
        (outer, (GRID[0], 2.5), []),
        (outer, (GRID[0], 2), []),
        (outer, (GRID[0], True), []),
        (outer, (GRID[0].astype(np.float32), 2.5), []),
        (outer, (GRID[0].astype(np.float32), np.float64(2.5)), []),
        (outer, (RNG.normal(size=(2, 3, 4, 5, 2)), RNG.normal(size=(5, 1))), []),
        (outer, (GRID.T, GRID.T), ["axes in another order"]),
        (outer, (GRID[:0], GRID[:0]), ["no elements"]),
        (lambda x, n: np.sum((x * n + x) * n), (X, 2**70), ["a whole number of more than 64 bits"]),
    ],
)
def test_arguments(f: Any, args: Any, why: list[str]) -> None:
    made = both(f, *args)
    assert left(made) == why
    assert why or all(each.runs for each in jit_of(made).kernels)


@needs_compiler
def test_results_of_several_shapes_in_one_kernel_are_left_to_the_library() -> None:
    def unlike(x, y):
        a = x * x + 1.0
        b = a * y
        return np.sum(a) + np.sum(b)

    assert left(both(unlike, GRID[:1], GRID)) == ["results of several shapes"]


@needs_compiler
def test_shapes_that_do_not_fit_raise_what_they_raise_without_kernels() -> None:
    made = tx.grad(outer, jit="cuda", fallback="error")
    messages = []
    for derivative in (made, tx.grad(outer, fallback="error")):
        with on_host(), pytest.raises(ValueError) as caught:
            derivative(DeviceArray(np.ones(3)), DeviceArray(np.ones(4)))
        messages.append(str(caught.value).partition("\n")[0])
    assert messages[0] == messages[1] and left(made) == ["shapes that do not fit"]


def rebound(u, dt):
    for _ in range(3):
        du = np.sin(u) - 0.1 * u
        u = u + dt * du
    return np.sum(u * u)


def written(u, dt):
    u[1:] = u[:-1] * dt + u[1:]
    v = u * u + 1.0
    u[0] = v[1] * v[2]
    w = u * v + v
    return np.sum(w)


def chosen(x, y):
    inside = (x > 0.0) & (y < 0.5)
    z = np.where(inside, np.log(np.abs(x) + 1.0), np.minimum(x, y) ** 2)
    return np.sum(z * np.maximum(z, 0.25))


def names_of_c(new, this):
    exp = np.exp(new) * this
    auto = exp + new
    x_step0 = auto * auto
    n0 = x_step0 + exp
    return np.sum(n0 * this)


RATE = 0.25


def from_outside(x, y):
    return np.sum((x * RATE + y) * np.pi)


def numbers(x, y):
    a = x[0] * y[1] + x[2]
    return a * a + np.sin(a) * 3.0


def powers(x, y):
    z = (x * x + 1.0) ** 1.5 + np.hypot(x, y) + np.arctan2(y, x * x + 2.0) + np.log1p(x * x)
    return np.sum(z / (1.0 + y * y))


@needs_compiler
@pytest.mark.parametrize("f", [rebound, written, chosen, names_of_c, from_outside, numbers, powers])
def test_programs(f: Any) -> None:
    made = both(f, X.copy(), 0.1 if f in (rebound, written) else Y)
    assert all(each.runs for each in jit_of(made).kernels) and not left(made)


def read_before_it_is_written(x, y):
    v = x[1:]
    z = v * 2.0 + v
    x[0] = z[1]
    w = x * x + y
    return np.sum(w * z[0])


def written_between(x, y):
    a = x * y
    b = a * 2.0
    a[0] = 3.0
    c = a + b
    return np.sum(c * c)


def under_two_names(x, y):
    a = x + y
    b = a
    b[1:] *= 2.0
    c = a * x
    d = c + b
    return np.sum(d * c)


def in_place(x, y):
    x[...] = x * y + 1.0
    z = x + y
    x += z * z
    return np.sum(x * z)


def in_branches(x, y):
    for i in range(3):
        a = x * y
        b = a + x
        if i % 2:
            x = b * 0.1
        else:
            y = b - a
    return np.sum(x * y)


def softmax(x, y):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    s = e / np.sum(e, axis=1, keepdims=True)
    return np.sum(s * y) + np.sum(np.log(s) * y)


def turned(x, y):
    z = x.T * 2.0 + y.T
    w = z.T * x + z.T
    return np.sum(w * w)


ODD = [read_before_it_is_written, written_between, under_two_names, in_place, in_branches, softmax, turned]


@pytest.mark.share(1)
@needs_compiler
@pytest.mark.parametrize("f", ODD)
@pytest.mark.parametrize("way", ["gradient", "proofs off", "forward mode", "second order", "single precision"])
def test_odd_programs(f: Any, way: str) -> None:
    x, y = (GRID, GRID[::-1].copy()) if f in (softmax, turned) else (X, Y)
    dtype = np.float32 if way == "single precision" else np.float64

    def put() -> Any:
        return [DeviceArray(a.astype(dtype)) for a in (x, y)]

    def squares(x, y):
        return np.sum(tx.grad(f)(x, y) ** 2)

    asks: dict[str, Any] = {
        "forward mode": lambda **options: tx.jvp(f, put(), put(), **options),
        "second order": lambda **options: tx.grad(squares, wrt=(0, 1), **options)(*put()),
    }
    plain = asks.get(way, lambda **options: tx.value_and_grad(f, wrt=(0, 1), **options)(*put()))
    with on_host(), warnings.catch_warnings(), proofs(off="all" if way == "proofs off" else ()):
        warnings.simplefilter("ignore")
        assert difference(plain(), plain(jit="cuda")) <= 1.0


@needs_compiler
def test_other_derivatives() -> None:
    x, v = DeviceArray(X), DeviceArray(Y)

    def f(x):
        return np.exp(x) * np.sin(x) + x

    def energy(x):
        return np.sum(f(x) ** 2)

    with on_host():
        for ask in (
            lambda **options: tx.jvp(f, (x,), (v,), **options),
            lambda **options: tx.grad(lambda x: np.sum(tx.grad(energy)(x) ** 2), **options)(x),
            lambda **options: tx.value_and_grad(energy, check=False, **options)(x),
        ):
            assert difference(ask(), ask(jit="cuda")) <= 1.0
        itself = tx.jit(f, jit="cuda")
        assert difference(f(x), itself(x)) <= 1.0
    assert jit_of(itself).kernels[0].runs == 1


def test_a_kernel_that_is_not_compiled_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __init__(self, *_: Any, **__: Any) -> None:
            pass

        def compile(self) -> None:
            raise RuntimeError("no driver\nand more")

    monkeypatch.setattr(device_double, "RawKernel", Broken, raising=False)
    made = tx.grad(waves, jit="cuda")
    assert (
        difference(tx.grad(waves)(DeviceArray(X), DeviceArray(Y), 0.5), made(DeviceArray(X), DeviceArray(Y), 0.5)) <= 1
    )
    assert left(made) == ["the kernel is not compiled: no driver"]
    assert "ran as it stands" in made.explain() and "not compiled: no driver" in made.explain()


def test_what_is_refused_is_said_once_with_its_place() -> None:
    def of_numpy(x):
        return np.sum(x * x + x)

    made = tx.grad(of_numpy, jit="cuda")
    with pytest.warns(tx.JitWarning, match=r"its arrays are NumPy's.*\(test_kernels\.py:\d+\)"):
        made(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made(X).tolist() == (2.0 * X + 1.0).tolist()
    assert "its arrays are NumPy's" in made.explain()

    def alone(x):
        return cp.cumsum(x)[-1]

    with pytest.warns(tx.JitWarning, match=r"no statements of arrays that become a kernel: .*\(test_kernels\.py:\d+\)"):
        tx.grad(alone, jit="cuda")(DeviceArray(X))
    for jit in ("python", True):
        with pytest.warns(tx.JitWarning, match=r"use jit=\"cuda\" \(test_kernels\.py:\d+\)"):
            found = tx.jit(lambda x: x * 2.0 + x, jit=jit)(DeviceArray(X))
        assert type(found) is DeviceArray


def test_no_transfer_is_made() -> None:
    made = tx.value_and_grad(waves, wrt=("x", "y"), jit="cuda")
    x, y = DeviceArray(X), DeviceArray(Y)
    with on_host():
        made(x, y, 0.5)
        cp.transfers.reset()
        made(x, y, 0.5)
    assert (cp.transfers.down, cp.transfers.up) == (0, 0)


@needs_nvrtc
@needs_compiler
def test_products_and_sums_are_rounded_each_by_itself() -> None:
    def plain(x, y):
        z = x * y + x
        return np.sum(z * z + y)

    before = set(RawKernel.made)
    both(plain, X, Y)
    made = {code: RawKernel.made[code] for code in set(RawKernel.made) - before}
    assert not any("fma" in nvrtc.ptx(code, name, FOR_OLD_DEVICES) for code, name in made.items())
    assert any("fma" in nvrtc.ptx(code, name, FOR_OLD_DEVICES[1:]) for code, name in made.items())


def test_what_needs_a_check_stays_as_it_is() -> None:
    def of_whole(x, n):
        k = n * n + n
        return np.sum((x * x + x) * k)

    made = tx.grad(of_whole, jit="cuda")
    made(DeviceArray(X), DeviceArray(np.arange(37)))
    assert "a whole number left the range of 64 bits" in made.explain()
