"""``try``, kept whole: what it is given, what it binds, and what its text looks like."""

import numpy as np
import pytest

import tangentx as tx
from tangentx.compile import pipeline
from tangentx.errors import UnsupportedSyntax
from tangentx.frontend.lift import lift
from tangentx.ir import walk
from tangentx.ir.opaque_ops import Attempt
from tangentx.testing import check_grads
from tests.frontend.made import defined


def tried(body):
    """The first try statement of a function."""
    function = lift(defined("def f(x, y=0, n=0):\n    " + body.replace("\n", "\n    ") + "\n    return x"))
    ops = (stmt.value for stmt in walk.statements(function.body) if hasattr(stmt, "value"))
    return next(op.fn for op in ops if isinstance(getattr(op, "fn", None), Attempt))


@pytest.mark.parametrize(
    "body, results, names",
    [
        ("try:\n    n = int(x)\nexcept ValueError:\n    n = y", ["n"], ["x", "y"]),
        ("try:\n    n = int(x)\nexcept ValueError:\n    pass", ["n"], ["n", "x"]),
        (
            "try:\n    n = n + 1\n    m = n\nexcept ValueError as e:\n    m = e\nfinally:\n    k = print(n)",
            ["k", "m", "n"],
            ["n"],
        ),
        ("try:\n    len(x)\nexcept TypeError:\n    raise ValueError(y)", [], ["x", "y"]),
        ("try:\n    if x:\n        n = 1\n    else:\n        n = 2\nfinally:\n    print()", ["n"], ["x"]),
    ],
)
def test_what_it_binds_and_what_it_asks_for(body, results, names):
    found = tried(body)
    assert list(found.results) == results
    assert [name for name in found.names() if not name.startswith("%")] == names


def scaled(x, text, table):
    total = 0.0
    for k in range(3):
        try:
            n = int(text[k])
            weight = table[n]
        except (ValueError, KeyError) as error:
            weight = len(str(error))
        total = total + weight * x**2
    return total


@pytest.mark.parametrize("off", [(), "all"])
def test_it_is_run_once_and_stays_as_it_was_written(off):
    args = 1.5, "1x3", {1: 2, 2: 5}
    with pipeline.proofs(off=off):
        gradient = tx.grad(scaled, fallback="error")
        weights = scaled(1.0, *args[1:])
        assert gradient(*args) == pytest.approx(2.0 * weights * 1.5)
        assert tx.grad(gradient)(*args) == pytest.approx(2.0 * weights)
        text = gradient.source_for(*args)
    lines = [line.strip() for line in text.splitlines()]
    assert lines.count("try:") == lines.count("except (ValueError, KeyError) as error:") == 1


def binds_what_varies(x, table):
    try:
        y = np.log(x)
    except ValueError as error:
        y = len(str(error))
    return y


def half_done(x, table):
    y = x
    try:
        y = y * 2.0
        y = table[1] * y
    except KeyError:
        y += 1.0
    return y


def prints(x, table):
    try:
        print(x)
        return x * 2.0
    except KeyError:
        return x


def writes(x, table):
    try:
        table[0] = 1.0
    except KeyError:
        pass
    return x


def leaves_unbound(x, table):
    try:
        n = table[2]
    except IndexError:
        pass
    return x * n


REFUSED = [
    (binds_what_varies, "binds a value that"),
    (half_done, "binds a value that"),
    (prints, "has effects"),
    (writes, "writes into"),
]


@pytest.mark.parametrize("fn, message", REFUSED)
def test_what_is_refused(fn, message):
    with pytest.raises((UnsupportedSyntax, tx.TangentxError), match=message) as caught:
        tx.grad(fn, fallback="error")(2.0, {0: 1.0})
    assert caught.value.span is not None and caught.value.hint


def test_a_name_may_be_left_without_value():
    gradient = tx.grad(leaves_unbound, fallback="error")
    assert gradient(2.0, [1, 2, 3]) == 3.0
    with pytest.raises(UnboundLocalError):
        gradient(2.0, [1])


def test_what_a_handler_raises_is_what_the_caller_meets():
    def checked(x, table):
        try:
            n = table["n"]
        except KeyError as error:
            raise ValueError("n is missing") from error
        return x * n

    gradient = tx.grad(checked, fallback="error")
    assert gradient(2.0, {"n": 3}) == 3.0
    with pytest.raises(ValueError, match="n is missing") as caught:
        gradient(2.0, {"m": 3})
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_cause_outside_of_a_handler():
    def positive(x):
        if x < 0.0:
            raise ValueError(f"negative: {x}") from None
        return x * x

    gradient = tx.grad(positive, fallback="error")
    assert gradient(3.0) == 6.0 and " from None" in gradient.source
    with pytest.raises(ValueError, match="negative: -1.0") as caught:
        gradient(-1.0)
    assert caught.value.__suppress_context__


class NoRoot(Exception):
    pass


def root(x, n):
    y = x
    for _ in range(n):
        if y <= 0.0:
            raise NoRoot("negative")
        y = 0.5 * (y + x / y)
    return y


def bound_by_either(x, y):
    total, v = 0.0, x
    for s in (x, -x, 2.0 * y):
        try:
            w = s * y
            v = root(w, 2)
        except NoRoot:
            v = v * s
        else:
            v = v * 2.0
        total += v * v
    return total


def left_by_all_ways(x, y):
    for s in (x, y, -x):
        try:
            return root(-s, 3) * x
        except (NoRoot, ValueError):
            continue
    return x


def added_to(x, y):
    total = y
    for s in (x, -x, y):
        try:
            total += root(s, 2)
        except NoRoot:
            break
        except ZeroDivisionError:
            return 0.0
    return total * total


def factored(x, y):
    jitter = 0.0
    for _ in range(5):
        try:
            L = np.linalg.cholesky(np.array([[x, y], [y, jitter]]))
            break
        except np.linalg.LinAlgError:
            jitter = 2.0 * jitter + 0.5
    else:
        return 0.0
    return np.sum(L * L) + np.log(L[1, 1]) * x


@pytest.mark.share(2)
@pytest.mark.parametrize("fn", [bound_by_either, left_by_all_ways, added_to, factored])
@pytest.mark.parametrize("off", [(), "all"])
def test_what_has_a_part_in_the_derivative_is_a_trial_and_branches(fn, off):
    with pipeline.proofs(off=off):
        check_grads(fn, (0.7, 0.4), wrt=(0, 1))


def test_an_exception_that_no_handler_catches_passes():
    def f(x):
        try:
            y = root(x, 2)
        except KeyError:
            y = x
        return y

    with pytest.raises(NoRoot, match="negative"):
        tx.grad(f, fallback="error")(-1.0)


def noted(x):
    try:
        digits = len(f"{x[0]:.3f}")
    finally:
        pass
    return np.sum(x * x) * digits


def test_a_finally_in_which_nothing_is_done_is_left_out():
    for off in ((), "all"):
        with pipeline.proofs(off=off):
            derivative = tx.grad(noted)
            np.testing.assert_allclose(derivative(np.array([0.5, 0.25])), [5.0, 2.5])
            assert "try:" not in derivative.source


def lengths_shared(x, k):
    words = "3"

    def g():
        return len(words) * k

    r = g()
    words = "45"
    try:
        n = len(words)
    except ValueError:
        n = 5
    return g() * n * x[0] + r


def switched(x, k):
    flag = False

    def g():
        nonlocal flag
        flag = not flag
        return k

    try:
        n = int("7" if flag else "2")
    except ValueError:
        n = 5
    return g() * n * x[0]


def bound_and_shared(x, k):
    s = k
    n = 1

    def g():
        nonlocal s, n
        s = s * x[0]
        n = n + 1
        try:
            n = [1, 1, 5][n]
        except IndexError:
            n = n + 2
        return s * n

    for i in range(4):
        try:
            s = x[i] * s
        except IndexError:
            s = s * n
        s = s + g()
    return g() * s


@pytest.mark.share(3)
@pytest.mark.parametrize("fn", [lengths_shared, switched, bound_and_shared])
@pytest.mark.parametrize("off", [(), "all"])
def test_what_functions_share_is_asked_for_and_bound_in_a_try_statement(fn, off):
    args = np.array([0.1, 0.2]), 0.4
    with pipeline.proofs(off=off):
        check_grads(fn, args, wrt=(0, 1))
        assert tx.value_and_grad(fn, fallback="error")(*args)[0] == pytest.approx(fn(*args), rel=1e-14)


def written_by_a_call(x, k):
    s = k

    def g():
        nonlocal s
        s = s * x[0]
        return s

    try:
        v = x[1] * g() + s
    except IndexError:
        v = s
    return v * s


def test_a_call_in_it_of_a_function_defined_inside_is_refused():
    with pytest.raises(UnsupportedSyntax, match="a try statement that uses `g`, a function that is defined while"):
        tx.grad(written_by_a_call, fallback="error")(np.array([0.1, 0.2]), 0.4)


def left_by_loops(x):
    total, weight = 0.0, 1.0
    for i in range(5):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            total = total + x[i] ** 2 * weight
        finally:
            weight = weight * (1.0 + x[0])
    return total * weight


def in_handlers(x):
    total = 0.0
    for v in (x[0], 0.0, x[1]):
        try:
            total += 1.0 / float(v)
        except ZeroDivisionError:
            total += 5 * x[2]
            try:
                total += np.sum(np.linalg.cholesky(x[:1, None] * -1.0))
            except np.linalg.LinAlgError:
                total *= x[1]
        finally:
            total *= 1.0 + x[0]
    return total


def returned(x):
    scale = x[0]
    try:
        return scale * np.sum(x**2)
    finally:
        scale = 100.0


def otherwise(x):
    table = {"gain": x[0]}
    try:
        gain = table["gain"]
    except (KeyError, TypeError):
        gain = x[1]
    else:
        gain = gain * x[2]
    finally:
        width = x[1] * 2
    return gain * width


@pytest.mark.parametrize("f", [left_by_loops, in_handlers, returned, otherwise])
def test_what_stands_behind_finally_is_done_whichever_way_it_is_left(f):
    check_grads(f, (np.array([0.4, 0.3, 0.8, 1.1]),), order=2)


def always_caught(x):
    done = False
    try:
        y = 1 / 0  # has no value on any way
    except ZeroDivisionError:
        done = True
    if done:
        return x[0] * 2.0
    return x[1]


def test_a_name_that_no_way_binds() -> None:
    check_grads(always_caught, (np.array([0.4, 0.3]),), order=2)
    assert tx.grad(always_caught, fallback="error")(np.ones(2)).tolist() == [2.0, 0.0]


def left_before_two_names(x, table):
    missing = False
    try:
        n = table[2]
        m = 2
    except IndexError:
        missing = True
    if missing:
        return x * 3.0
    return x * n * m


def test_names_that_one_way_leaves_without_value() -> None:
    gradient = tx.grad(left_before_two_names, fallback="error")
    assert gradient(2.0, [1.0]) == 3.0
    assert gradient(2.0, [1.0, 2.0, 3.0]) == 6.0


# ---- exceptions that hold what is differentiated ----
class OutOfRange(ValueError):
    def __init__(self, value, what="value"):
        super().__init__(f"{what} is out of range")
        self.value = value


def in_range(v, low):
    if v < low:
        raise OutOfRange(v * 2.0, what="distance")
    return v * v


def guarded_by_exceptions(x):
    if x[0] < -5.0:
        raise ValueError("too small", x[0], x)
    assert x[1] < 9.0, (x[1], [x[0]])
    try:
        y = in_range(x[0], 0.5)
    except OutOfRange:
        y = x[0] * x[1]
    return y + in_range(x[1], 0.0)


def test_exceptions_may_hold_what_is_differentiated_where_nobody_reads_them():
    for first in (0.3, 0.8):
        check_grads(guarded_by_exceptions, (np.array([first, 0.7]),))
    gradient = tx.grad(guarded_by_exceptions, fallback="error")
    with pytest.raises(ValueError, match="too small") as small:
        gradient(np.array([-6.0, 0.7]))
    assert small.value.args[1] == -6.0
    with pytest.raises(AssertionError) as large:
        gradient(np.array([0.3, 9.5]))
    assert large.value.args[0] == (9.5, [0.3])
    with pytest.raises(OutOfRange, match="distance") as low:
        gradient(np.array([0.3, -0.7]))
    assert low.value.value == -1.4


def of_its_handler(x):
    w = 0.0
    try:
        in_range(x, 5.0)
    except OutOfRange as error:
        w = float(error.value)
    return w * x


def of_its_name(x):
    error = ValueError(x * x)
    return error.args[0] * x


def of_its_cause(x):
    error = OutOfRange(x * x)
    try:
        raise KeyError("text") from error
    except KeyError as other:
        value = float(other.__cause__.value)
    return value * x


def of_a_list(x):
    errors = [ValueError(x * k) for k in range(3)]
    return sum(error.args[0] for error in errors) * x


def kept_elsewhere(v):
    error = OutOfRange(v * v)
    if error.value > 0.0:
        raise error
    return v


def of_a_helper_on_tensors(x):
    w = 0.0
    try:
        kept_elsewhere(x)
    except OutOfRange as error:
        w = float(error.value)
    return w * x


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize(
    "f, slope",
    [
        (of_its_handler, 2.0),
        (of_its_name, 0.75),
        (of_its_cause, 0.75),
        (of_a_list, 3.0),
        (of_a_helper_on_tensors, 0.75),
    ],
)
def test_exceptions_that_are_read_are_refused_when_compiled_and_right_on_tensors(f, slope):
    with pytest.raises(tx.TangentxError):
        tx.grad(f, fallback="error")(0.5)
    assert tx.grad(f)(0.5) == pytest.approx(slope)
