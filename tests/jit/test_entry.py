"""Compiled derivatives beside the generated Python: results, exceptions, what is refused, and who runs when."""

import math
import sys
import threading
import warnings

import numpy as np
import pytest

import tangentx as tx
from tangentx.common import cache_files
from tangentx.common.options import OFF
from tangentx.common.pytrees import leaves
from tangentx.common.scoped_state import Lasting
from tangentx.loops import print_c, run_c
from tests.programs import PROGRAMS

HAS_C = any(run_c.shutil.which(name) for name in ("cc", "gcc", "clang"))
WAYS = ("python", pytest.param("c", marks=pytest.mark.skipif(not HAS_C, reason="no C compiler")))


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("TANGENTX_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


def compiled(derivative):
    """What was compiled last."""
    found = derivative._cache.last.notes["jit"]
    assert found.compiled is not None, found.refusal
    return found.compiled


def scalarised(f, args):
    """The program of the loop language for the gradient."""
    derivative = tx.grad(f, jit="python")
    derivative(*args)
    return derivative._cache.last.notes["jit"].program


def demand_equal(found, expected, exact):
    found, expected = [x for _, x in leaves("", found)], [x for _, x in leaves("", expected)]
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert type(x) is type(y)
        if type(x).__eq__ is object.__eq__ and hasattr(x, "__dict__"):  # an object is equal to itself alone
            demand_equal(vars(x), vars(y), exact)
        elif exact or not isinstance(x, float | np.ndarray | np.generic):
            assert np.array_equal(x, y, equal_nan=True) if isinstance(x, float | np.ndarray | np.generic) else x == y
        else:
            short = np.asarray(x).dtype == np.float32
            scale = max(1.0, float(np.max(np.abs(y), initial=0.0, where=np.isfinite(y))))
            np.testing.assert_allclose(x, y, rtol=0, atol=(1e-5 if short else 1e-12) * scale)
        if isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype.kind == "f"):  # the same zeros
            assert np.array_equal(np.signbit(x)[both := (x == 0) & (y == 0)], np.signbit(y)[both])


def both(f, jit, *args, **options):
    """The value and the gradient of a compiled derivative, which ran and is right."""
    expected = tx.value_and_grad(f, guarded=True, **options)(*args)
    derivative = tx.value_and_grad(f, jit=jit, **options)
    found = derivative(*args)
    demand_equal(found, expected, jit == "python")
    assert not compiled(derivative).gave_up
    return derivative


def van_der_pol(mu, x, steps, dt):
    v = 0.0
    loss = 0.0
    for _ in range(steps):
        a = mu * (1.0 - x * x) * v - x
        x = x + dt * v
        v = v + dt * a
        loss = loss + dt * x * x
    return loss


def gauss_seidel(b, sweeps):
    x = np.zeros_like(b)
    for _ in range(sweeps):
        for i in range(1, len(b) - 1):
            x[i] = 0.5 * (b[i] + x[i - 1] + x[i + 1])
    return np.sum(x * x)


def cholesky(a):
    n = a.shape[0]
    factor = np.zeros_like(a)
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s = s - factor[j, k] * factor[j, k]
        factor[j, j] = math.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j]
            for k in range(j):
                t = t - factor[i, k] * factor[j, k]
            factor[i, j] = t / factor[j, j]
    total = 0.0
    for j in range(n):
        total = total + math.log(factor[j, j])
    return 2.0 * total


def burgers(u, nu, dt, dx, steps):
    u = u.copy()
    for _ in range(steps):
        slope = (u[1:-1] - u[:-2]) / dx
        bend = (u[2:] - 2.0 * u[1:-1] + u[:-2]) / dx**2
        u[1:-1] = u[1:-1] - dt * u[1:-1] * slope + nu * dt * bend
    return np.sum(u * u)


def jacobi(b, sweeps):
    u = np.zeros_like(b)
    for _ in range(sweeps):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] + b[1:-1, 1:-1])
    return np.sum(u**2)


def smooth(x, w):
    return np.mean(np.tanh(x * w) + np.where(x > 0.0, np.exp(-x), x**3))


def convergence(x, tol):
    y = x
    while abs(y * y - x) > tol:
        y = 0.5 * (y + x / y)
        if y < 0.0:
            break
    return y


def moving(x):
    y = x
    for _ in range(3):
        y = y + 0.1 * np.sin(y)
    return np.sum(y * x)


MATRIX = np.array([[4.0, 1.0, 0.5], [1.0, 5.0, 0.2], [0.5, 0.2, 3.0]])
ROW = np.sin(np.arange(12.0))
CASES = [
    (van_der_pol, (1.2, 2.0, 30, 0.01)),
    (gauss_seidel, (ROW, 3)),
    (cholesky, (MATRIX,)),
    (burgers, (ROW, 0.07, 0.001, 0.1, 4)),
    (jacobi, (np.outer(ROW, ROW[:9]), 3)),
    (smooth, (ROW, 0.7)),
    (smooth, (ROW.astype(np.float32), 0.7)),
    (smooth, (np.outer(ROW, ROW)[::2, ::-1], 0.7)),
    (convergence, (3.0, 1e-10)),
    (moving, (ROW,)),
]


@pytest.mark.share(1)
@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize(("f", "args"), CASES, ids=[f"{f.__name__}{i}" for i, (f, _) in enumerate(CASES)])
def test_programs_of_loops_and_arrays(f, args, jit):
    both(f, jit, *args)


def test_shapes_and_numbers_are_arguments():
    derivative = both(gauss_seidel, "python", ROW, 3)
    text = derivative.source
    for length, sweeps in ((3, 1), (7, 5)):
        demand_equal(derivative(ROW[:length], sweeps), tx.value_and_grad(gauss_seidel)(ROW[:length], sweeps), True)
    assert derivative.source == text
    assert len(derivative._cache.entries) == 1


def divided(x, n):
    total = 0.0
    for i in range(n):
        total = total + x / (2.0 - i)
    return total


def out_of_range(x, i):
    return x[i] * x[i - 1]


def domain(x):
    return math.sqrt(x) * math.log(x)


def refused_by_the_user(x):
    if x > 1.0:
        raise KeyError("too large")
    return x * x


def whole(x, n):
    k = 1
    for _ in range(n):
        k = k * 10
    return x * (k % 7)


FAULTS = [
    (divided, (1.5, 4), ZeroDivisionError),
    (out_of_range, (ROW, 12), IndexError),
    (out_of_range, (ROW, -13), IndexError),
    (domain, (-1.0,), ValueError),
    (refused_by_the_user, (2.0,), KeyError),
]


@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize(("f", "args", "error"), FAULTS, ids=[f"{f.__name__}{i}" for i, (f, _, _) in enumerate(FAULTS)])
def test_exceptions_are_those_of_the_program(f, args, error, jit):
    derivative = tx.grad(f, jit=jit)
    with pytest.raises(error):
        derivative(*args)
    assert compiled(derivative).gave_up


@pytest.mark.parametrize("jit", WAYS)
def test_whole_numbers_beyond_64_bits(jit):
    derivative = tx.grad(whole, jit=jit)
    assert derivative(1.0, 18) == float(10**18 % 7)
    assert not compiled(derivative).gave_up
    assert derivative(1.0, 40) == float(10**40 % 7)
    assert compiled(derivative).gave_up
    assert derivative(1.0, 3) == float(1000 % 7)


@pytest.mark.parametrize("jit", WAYS)
def test_floating_point_events_warn_as_the_program_does(jit):
    def inverse(x):
        return np.sum(1.0 / x)

    derivative = tx.grad(inverse, jit=jit)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        found = derivative(np.array([1.0, 0.0]))
    assert np.array_equal(found, [-1.0, -np.inf])


@pytest.mark.parametrize("jit", WAYS)
def test_arguments_stay_as_they_are(jit):
    def written(x, steps):
        for _ in range(steps):
            x[1:] = x[1:] * x[0]
        return np.sum(x)

    x = ROW.copy()
    both(written, jit, x, 3)
    assert np.array_equal(x, ROW)
    frozen = ROW.copy()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tx.grad(written, jit=jit)(frozen, 3)


@pytest.mark.parametrize("jit", WAYS)
def test_overlapping_writes(jit):
    def shifted(x):
        y = x.copy()
        y[1:] = y[:-1] * y[1:]
        y[::2] = y[::2] + 1.0
        y[:-1] += y[1:]
        return np.sum(y**2)

    both(shifted, jit, ROW)


@pytest.mark.parametrize("jit", WAYS)
def test_whose_number_a_result_is(jit):
    def total(x):
        found = 0.0
        for i in range(len(x)):
            found = found + x[i] * x[i]
        return found

    derivative = tx.value_and_grad(total, jit=jit)
    assert type(derivative(ROW)[0]) is np.float64
    assert type(derivative(ROW[:0])[0]) is type(tx.value_and_grad(total)(ROW[:0])[0])


def growing_slices(x, n):
    k, total = 1, 0.0
    for i in range(n):
        part = x[:k]
        made = np.zeros(k)
        k = k + 1
        made[0] = x[i]
        total = total + np.sum(part * part * 2.0) + np.sum((made + 1.0) ** 2)
    return total


def of_the_last_trip(x, n):
    for i in range(n):
        k = i + 1
    return x[k - 1] * x[i]


def of_the_trip_before(x, n):
    total = 0.0
    for i in range(n, 0, -1):
        part = x[:i]
        if i == n:
            k = 0
            last = part * 2.0
        total = total + part[k] + np.sum(last * x[:n])
        last = part * i if i == n else last
        k = i - 2 if i > 2 else 0
    return total


@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("f", [growing_slices, of_the_last_trip, of_the_trip_before])
def test_names_that_are_bound_anew(f, jit):
    both(f, jit, ROW, 4)


@pytest.mark.parametrize("jit", WAYS)
def test_a_name_that_has_no_value(jit):
    derivative = both(of_the_last_trip, jit, ROW, 3)
    with pytest.raises(UnboundLocalError):
        derivative(ROW, 0)


@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("base", [-8.0, np.float64(-8.0)])
def test_a_power_that_would_be_complex(base, jit):
    def root(x, y):
        z = x**y
        return z * 2.0 if y < 1.0 else z

    derivative = both(root, jit, 8.0, 1.0 / 3.0)
    if isinstance(base, np.float64):
        with pytest.warns(RuntimeWarning, match="invalid value"):
            assert math.isnan(derivative(base, 1.0 / 3.0)[0])
        return
    with pytest.raises(tx.NotDifferentiable, match="is a complex number"):
        derivative(base, 1.0 / 3.0)


@pytest.mark.parametrize("jit", WAYS)
def test_the_sign_of_a_negative_zero(jit):
    def angle(x):
        return np.arctan2(np.sign(x), -1.0) * x + np.arctan2(np.sign(x), -1.0)

    both(angle, jit, -0.0)
    both(angle, jit, 0.0)


class Mass:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def step(self, dt):
        self.v = self.v - dt * self.x
        self.x = self.x + dt * self.v


def masses(x, v, n):
    first = Mass(x, v)
    other = first
    for i in range(n):
        first.step(0.1)
        if i == 2:
            other = Mass(first.x * 2.0, v)
        other.x = other.x * 1.01
    return first.x * other.v + other.x


def shared_lists(x, n):
    items = []
    for i in range(n):
        items.append(x * i)
        again = items
        again.append(x)
    kept = items if n > 1 else [x]
    kept[0] = x * x
    total = 0.0
    for item in items:
        total = total + item
    return total


def rows(x, n):
    found = []
    for i in range(n):
        found.append(x * i)
        found[i][0] = found[0][1]
    last = found[-1]
    last[1] = 7.0 * x[2]
    total = 0.0
    for row in found:
        total = total + np.sum(row * x)
    return total


def views_in_a_list(x):
    halves = [x[::2], x[1::2]]
    halves[0][0] = 5.0
    halves[1][:] = halves[0] * 2
    odd = halves.pop()
    odd[1] = x[0]
    return np.sum(x * x) + np.sum(halves[0])


def of_two_dicts(x, n):
    if n > 0:
        found = {"a": x, "b": x * x}
    else:
        found = {"a": x * 3.0, "b": x}
    if n > 1:
        found["a"] = found["b"] * 2.0
    other = found
    other["b"] = 1.0 * x
    return found["a"] * found["b"]


def pairs_in_a_loop(x, n):
    pair = (x, x * 2.0)
    for _ in range(n):
        pair = (pair[1], pair[0] * x)
    return pair[0] * pair[1]


def filled(a, value, i):
    a[i] = value
    a[i:] = a[i:] * value
    return a


def written_by_a_helper(x, value):
    y = x * 2.0
    z = filled(y, value, 1)
    filled(z, value * value, 3)
    w = filled(x, value, 0)
    return np.sum(y * z) + np.sum(w * x)


def doubled_and_squared(x):
    return x * 2.0, x * x


def of_a_helper_for_two_kinds(x):
    a, b = doubled_and_squared(x)
    c, d = doubled_and_squared(np.sum(a + b))
    return c * d


def matrices(a, b):
    c = a @ b
    return np.trace(c) + np.linalg.norm(a) + np.sum(np.linalg.solve(b, c) ** 2) + np.prod(np.sort(a[0]))


def names_of_c(times, release):
    block = times * release
    python = block + 1.0
    list0 = python * 2.0
    f8_array1 = list0
    found = f8_array1 * times
    outside = found * found
    return outside + block


@pytest.mark.share(3)
@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (masses, (1.0, 0.5, 5)),
        (masses, (1.0, 0.5, 0)),
        (shared_lists, (2.0, 3)),
        (shared_lists, (2.0, 1)),
        (rows, (ROW, 3)),
        (views_in_a_list, (ROW,)),
        (of_two_dicts, (1.5, 0)),
        (of_two_dicts, (1.5, 2)),
        (pairs_in_a_loop, (1.5, 3)),
        (written_by_a_helper, (ROW, 2.0)),
        (of_a_helper_for_two_kinds, (ROW,)),
        (matrices, (MATRIX, MATRIX[::-1] + 3.0)),
        (names_of_c, (1.0, 2.0)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_containers_and_calls(f, args, jit):
    both(f, jit, *args)


def largest_of_numbers(x, y):
    return max(x, y) * 2.0 + min(x, y, 1.5) * 3.0 + np.maximum(x, y) * 5.0 + np.minimum(x, y) * 7.0


def products(a, b, v):
    return np.sum(a @ b) + np.sum((a @ v) ** 2) + np.sum(v @ b) * (v @ v) + np.sum(np.outer(v, v) * a)


def scattered(x, places, mask):
    y = np.zeros_like(x)
    y[places] = x[places] * 2.0
    y[mask] = x[mask] ** 2
    y[places] += x[0]
    return np.sum(y * y)


def of_containers(numbers, named, c):
    total = 0.0
    for number in numbers:
        total = total * c + number
    return total * named["a"] * np.sum(named["w"])


def of_an_object(mass, c):
    mass.step(0.1)
    return mass.x * mass.v * c


@pytest.mark.share(3)
@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (largest_of_numbers, (1.0, 2.0)),
        (largest_of_numbers, (2.0, 2.0)),
        (largest_of_numbers, (np.float64(1.5), 1.5)),
        (products, (MATRIX, MATRIX.T + 1.0, ROW[:3])),
        (products, (MATRIX[::-1], MATRIX[:, ::-1], ROW[:6:2])),
        (products, (np.eye(40), np.eye(40) * 2.0, np.ones(40))),
        (scattered, (ROW, np.array([1, 1, 3]), ROW > 0)),
        (of_containers, ([1.0, 2.0, 3.0], {"a": 2.0, "w": ROW}, 0.5)),
        (of_an_object, (Mass(1.0, 2.0), 0.5)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_arguments_products_and_choices(f, args, jit):
    wrt = {scattered: 0, of_an_object: 1}.get(f, tuple(range(len(args))))
    expected = tx.value_and_grad(f, guarded=True, wrt=wrt)(*args)
    derivative = tx.value_and_grad(f, jit=jit, wrt=wrt)
    demand_equal(derivative(*args), expected, False)
    assert not compiled(derivative).gave_up


@pytest.mark.parametrize("jit", WAYS)
def test_items_of_tuples_at_places_that_only_the_program_knows(jit):
    def chosen(x, y, n):
        items, total = (x, y, x * y), 0.0
        for i in range(n):
            total = total + items[i] * i + items[-i]
        return total

    for x in (1.5, np.float64(1.5)):
        derivative = both(chosen, jit, x, 2.5, 3)
        with pytest.raises(IndexError):
            derivative(x, 2.5, 5)


@pytest.mark.parametrize("jit", WAYS)
def test_a_container_in_two_places(jit):
    def written(p):
        p["first"]["c"] = p["first"]["c"] * p["second"]["c"]
        return p["first"]["c"] * p["second"]["c"]

    derivative = both(written, jit, {"first": {"c": 2.0}, "second": {"c": 3.0}})
    one = {"c": 2.0}
    with pytest.raises(tx.SharedMemory):
        derivative({"first": one, "second": one})
    assert one == {"c": 2.0}


@pytest.mark.parametrize("jit", WAYS)
def test_what_is_refused_where_a_loop_is_written(jit):
    def clipped(x):
        return np.sum(np.minimum(x, 0.3))

    x = ROW.astype(np.float32)
    found = tx.jvp(clipped, (x,), (np.ones_like(x),), jit=jit)
    demand_equal(found, tx.jvp(clipped, (x,), (np.ones_like(x),)), False)


@pytest.mark.skipif(not HAS_C, reason="no C compiler")
def test_threads_with_functions_of_numpy():
    def settled(w, x, steps):
        h = x * 0.0
        for _ in range(steps):
            h = np.tanh(np.sort(w @ h) + x)
        return np.sum(h * h)

    derivative, plain = tx.grad(settled, jit="c"), tx.grad(settled)
    derivative(np.eye(3), np.ones(3), 2)
    wrong = []

    def work(k):
        for _ in range(10):
            w, x = np.eye(30) * 0.1 * k + 0.01, np.full(30, 0.3 * k)
            if not np.allclose(derivative(w, x, 10), plain(w, x, 10), rtol=0, atol=1e-10):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("jit", WAYS)
def test_exceptions_of_a_helper(jit):
    def looked_up(x, i):
        if i == 3:
            raise KeyError("three")
        return x[i] * 1.0

    def doubled(x, i):
        return looked_up(x, i) * 2.0

    derivative = both(doubled, jit, ROW, 1)
    for i, error in ((3, KeyError), (12, IndexError), (-13, IndexError)):
        with pytest.raises(error):
            derivative(ROW, i)


@pytest.mark.parametrize("jit", WAYS)
def test_exceptions_of_numpy(jit):
    def solved(a, b):
        return np.sum(np.linalg.solve(a, b))

    derivative = both(solved, jit, MATRIX, ROW[:3])
    with pytest.raises(np.linalg.LinAlgError):
        derivative(np.zeros((3, 3)), ROW[:3])
    assert compiled(derivative).gave_up


@pytest.mark.parametrize("jit", WAYS)
def test_items_of_a_list_whose_owner_is_not_known(jit):
    def last(x, more):
        items, others, total = [], [], 0.0
        items.append(x[0])
        others.append(x[1] * 2.0)
        chosen = items if more else others
        chosen.append(x[2])
        while len(items) > 0:
            total = total + items.pop() * 3.0
        while len(others) > 0:
            total = total * others.pop()
        return total

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.JitWarning)
        for more in (True, False):
            demand_equal(tx.value_and_grad(last, jit=jit)(ROW, more), tx.value_and_grad(last)(ROW, more), True)


def test_numbers_of_several_precisions_are_left_to_python():
    def scaled(x, s):
        return np.sum(np.sqrt(np.abs(x * s + 0.1)) / 3)

    derivative = tx.grad(scaled, jit="python")
    with pytest.warns(tx.JitWarning, match="numbers of several precisions"):
        found = derivative(ROW.astype(np.float32), 0.1)
    assert np.array_equal(found, tx.grad(scaled)(ROW.astype(np.float32), 0.1))


GAIN = 2.5
WEIGHTS = np.array([2.0, 3.0])


def weighed(x, i):
    return x * WEIGHTS[i]


def of_the_module(x):
    total = 0.0
    for i in range(2):
        total = total + weighed(x, i) * GAIN
    return total


@pytest.mark.parametrize("jit", WAYS)
def test_numbers_and_arrays_from_outside_are_read_at_each_call(jit, monkeypatch):
    derivative = both(of_the_module, jit, 1.5)
    for name, value in (
        ("GAIN", 3.5),
        ("GAIN", 4),
        ("GAIN", np.float64(1.5)),
        ("WEIGHTS", np.array([5.0, 7.0])),
        ("WEIGHTS", np.array([1, 2])),
        ("WEIGHTS", np.arange(6.0)[::-2]),
        ("WEIGHTS", [0.5, 2.0]),
    ):
        monkeypatch.setitem(globals(), name, value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tx.JitWarning)
            demand_equal(derivative(1.5), tx.value_and_grad(of_the_module, guarded=True)(1.5), jit == "python")
    monkeypatch.setitem(globals(), "WEIGHTS", np.zeros(1))
    with pytest.raises(IndexError):
        derivative(1.5)


@pytest.mark.parametrize("jit", WAYS)
def test_whose_number_a_function_gives(jit):
    def chosen(x, n):
        for k in range(n):
            x = np.sin(x) if k == 0 else math.cos(x) if k == 1 else x * 2.0
        return x

    for x in (1.5, np.float64(1.5)):
        derivative = both(chosen, jit, x, 0)
        for n in (1, 2, 3):
            demand_equal(derivative(x, n), tx.value_and_grad(chosen, guarded=True)(x, n), jit == "python")


def test_what_is_refused_is_said_once_and_explained():
    def spectrum(x):
        return np.sum(np.abs(np.fft.fft(x)) ** 2)

    derivative = tx.grad(spectrum, jit="python")
    with pytest.warns(tx.JitWarning, match=r"`spectrum` is not compiled by jit.*test_entry.py:\d+"):
        found = derivative(ROW)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(derivative(ROW), found)
    assert "runs as Python, though jit='python'" in derivative.explain()


def test_the_text_that_is_compiled_is_shown():
    assert "raise Bailout" in tx.grad(cholesky, jit="python").source_for(MATRIX)


def test_options():
    for wrong in ("numba?", 1, "llvm"):
        with pytest.raises(tx.NotDifferentiable, match="jit"):
            tx.grad(domain, jit=wrong)


def test_without_a_compiler(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)

    def cube(x):
        return x * x * x

    with pytest.raises(tx.NoCompiler, match="needs a C compiler") as caught:
        tx.grad(cube, jit="c")(2.0)
    assert "install gcc" in str(caught.value)
    assert tx.grad(cube, jit="python")(2.0) == 12.0
    monkeypatch.setitem(sys.modules, "numba", None)  # importing it fails
    derivative = tx.grad(cube, jit=True)
    with pytest.warns(tx.JitWarning, match=r"there is no C compiler.*; .*needs Numba"):
        assert derivative(2.0) == 12.0
    assert "runs as Python, though jit=True: " in derivative.explain()


@pytest.mark.skipif(not HAS_C, reason="no C compiler")
def test_true_leaves_to_python_what_c_would_call_python_for():
    def ordered(x):
        return np.sum(np.sort(x) * x)

    derivative = tx.grad(ordered, jit=True)
    assert np.array_equal(derivative(ROW), tx.grad(ordered)(ROW))
    assert "compiled loops would leave `sort` to Python" in derivative.explain()
    derivative = tx.grad(van_der_pol, jit=True)
    derivative(1.2, 2.0, 3, 0.01)
    assert compiled(derivative).how == "c"


def test_a_broken_compiler(monkeypatch):
    monkeypatch.setenv("CC", "/bin/false")
    with pytest.raises(tx.NoCompiler, match="CC='/bin/false'"):
        tx.grad(lambda x: x * x, jit="c")(2.0)


@pytest.mark.parametrize("given", ["/bin/true", 'gcc "'])
def test_what_is_no_compiler(given, monkeypatch):
    monkeypatch.setenv("CC", given)
    with pytest.raises(tx.NoCompiler, match="CC=|made nothing"):
        tx.grad(lambda x: x * x, jit="c")(2.0)


@pytest.mark.skipif(not HAS_C, reason="no C compiler")
@pytest.mark.parametrize("damage", ["short", "empty", "a directory", "no place"])
def test_a_library_that_is_damaged_is_made_again(damage, tmp_path, monkeypatch):
    text = print_c.text_of(scalarised(convergence, (3.0, 1e-10)))
    monkeypatch.setenv("TANGENTX_CACHE", str(tmp_path))
    run_c.library.cache_clear()
    run_c.library(text)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    path.unlink()  # not written over: it is loaded
    if damage in ("short", "empty"):
        path.write_bytes(content[: len(content) // 2] if damage == "short" else b"")
        path.chmod(0o700)
    elif damage == "a directory":
        path.mkdir(mode=0o700)
    else:
        monkeypatch.setenv("TANGENTX_CACHE", "/proc/nowhere")
    run_c.library.cache_clear()
    assert hasattr(run_c.library(text), "tangentx_function")
    assert damage in ("a directory", "no place") or path.read_bytes() == content


@pytest.mark.parametrize("jit", WAYS)
@pytest.mark.parametrize("program", [pytest.param(p, id=p.name, marks=pytest.mark.share(23)) for p in PROGRAMS])
def test_corpus(program, jit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tx.JitWarning)
        warnings.simplefilter("ignore", tx.FallbackWarning)
        derivative = tx.value_and_grad(program.fn, wrt=program.wrt, jit=jit)
        found = derivative(*program.args())
        if derivative._cache.last.notes["jit"] is not None:
            with Lasting(OFF, lambda off: off | {"products"}):  # which sums in the order of a product of matrices
                expected = tx.value_and_grad(program.fn, wrt=program.wrt, guarded=True)(*program.args())
            text = derivative.source_for(*program.args())
            # Arrays whose axes are turned are summed in an order of their own.
            demand_equal(found, expected, jit == "python" and "transpose" not in text)


@pytest.mark.skipif(not HAS_C, reason="no C compiler")
def test_vector_functions_are_used_where_nothing_is_decided_by_their_results():
    def waves(x):
        return np.sum(np.exp(-x * x) * np.tanh(x))

    def decided(x):
        e = np.exp(-x * x)
        return np.sum(e) if e[0] > 0.5 else np.sum(e * x)

    x = np.linspace(-2.0, 2.0, 101)
    assert 'simd("notinbranch")' in both(waves, "c", x).source
    assert 'simd("notinbranch")' not in both(decided, "c", x).source


def test_a_directory_that_others_may_write_is_not_used(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("TANGENTX_CACHE", str(shared))
    assert cache_files.directory() != str(shared)
    monkeypatch.setenv("TANGENTX_CACHE", str(tmp_path / "own"))
    assert cache_files.directory() == str(tmp_path / "own")
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("jit", WAYS)
def test_loops_that_count_down(jit):
    def down(x):
        total = 0.0
        for i in range(len(x) - 1, -1, -1):
            total = total * 0.5 + x[i] * x[i - 1] * i
        return total

    both(down, jit, ROW)


@pytest.mark.parametrize("jit", WAYS)
def test_names_of_pythons_functions(jit):
    def named(x, n):
        len = x * x
        range = len + 1.0
        total = 0.0
        k = 0
        while k < n:
            total = total * len + range
            k += 1
        return total

    both(named, jit, 1.5, 3)
