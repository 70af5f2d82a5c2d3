"""Bad input of each kind: the error says where, what, and what to do instead; its whole text is a golden one."""

from __future__ import annotations

import importlib.util
import operator
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import spatial, special, stats

import tangentx as tx
from tests.conftest import Golden
from tests.harness.messages import text_of

HERE = Path(__file__)


def with_try(x):
    try:
        return x * 2.0
    finally:
        print(x)


def with_generator(x):
    yield x


def with_class(x):
    class Inner:
        pass

    return x * 2.0


def with_item_of_tuple(x):
    pair = (np.zeros(2), x)
    pair[0] += x
    return np.sum(pair[0])


def with_callers_set(x, seen):
    seen |= {3}
    return x * len(seen)


def with_nested(x):
    def inner():
        yield x

    kept = inner()
    return sum(kept)


def with_match(x):
    kind = dict
    match {"a": x}:
        case kind(a=y):
            return y
    return x * x


async def coroutine(x):
    return x


def eigen(a):
    return np.sum(np.polynomial.polynomial.polyvalfromroots(2.0, a[0]))


def bessel(x):
    return special.jve(1, x)


def unresolved(x):
    return x * no_such_name  # noqa: F821


def unknown_callee(x, function):
    return function(x)


def square(x):
    return x * x


def scaled(x, n=2):
    return x * n


def total(x):
    return np.sum(x)


def whole(x):
    return 3


def nothing(x):
    x * 2.0


def pair(x):
    return x, x


def turned(x):
    return x * 1j


def writes(a, b):
    a[0] = b[1]
    return np.sum(a * b)


SQUARE = tx.differentiate(square)


def product_inside(x):
    value, tangent = SQUARE.jvp((x,), (1.0,))
    return tangent


def with_active_try(x):
    try:
        y = np.log(x)
    except ValueError as error:
        y = len(str(error))
    return y


def with_try_that_prints(x):
    try:
        print(x)
        y = np.log(x)
    except ValueError:
        y = 0.0
    return y


def with_try_half_done(x):
    y = x
    try:
        y = 2.0 * y
        y = np.log(y)
    except ValueError:
        pass
    return y


def with_file(x):
    with open("log.txt", "w") as log:
        log.write("x")
    return x


def with_view(x):
    table = {"a": x}
    values = table.values()
    table["b"] = x * x
    return sum(values)


def with_set(x):
    return len({x, 2.0 * x}) * x


def with_deleted(x):
    y = x * x if x > 2.0 else None
    if x > 1.0:
        del y
    return x if y is None else y


def with_iterator(x):
    pairs = zip([x, 1.0], [2.0, x])
    return sum(a * b for a, b in pairs)


def seeded(seed: Any) -> Callable[[], Any]:
    return lambda: tx.vjp(lambda x: {"a": x * 2.0, "b": x}, np.ones(2))[1](seed)


def with_nothing_in_it(x):
    try:
        y = x * 2.0
    except ValueError:
        y = x
    finally:
        pass
    return y > 1.0


def jacobian_on_tensors(f, x):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            return tx.jacobian(f)(x)
        finally:
            assert told == []  # that it is slow is nothing to be told before an error


def checkpoint_inside(x):
    return tx.checkpoint(square)(x)


class Model:
    def step(self, u):
        return u * u


def attribute_by_name(x, names):
    model = Model()
    model.state = 0.0
    for name in names:
        setattr(model, name, x)
    return model.state


def checkpoint_of_method(x):
    model = Model()
    return tx.checkpoint(model.step, x)


def checkpoint_with_print(x):
    def shown(y):
        print(y)
        return y * y

    return tx.checkpoint(shown, x)


def checkpoint_into_list(x):
    bag = [x]
    tx.checkpoint(lambda items, y: items.append(y * y), bag, x)
    return bag[0] * bag[1]


def checkpoint_of_list(x):
    def listed(y):
        found = []
        for k in range(3):
            found.append(k * y)
        return found

    return tx.checkpoint(listed, x)[1]


def stopped(x):
    return tx.stop_gradient([x, 1.0])[0] * x


CASES: dict[str, Callable[[], Any]] = {
    "syntax_try": lambda: tx.grad(with_try)(1.0),
    "syntax_generator": lambda: tx.grad(with_generator)(1.0),
    "syntax_item_of_tuple": lambda: tx.grad(with_item_of_tuple)(1.0),
    "syntax_callers_set": lambda: tx.grad(with_callers_set)(1.0, {1}),
    "syntax_class": lambda: tx.grad(with_class)(1.0),
    "syntax_nested_generator": lambda: tx.grad(with_nested)(1.0),
    "syntax_try_with_effects": lambda: tx.grad(with_try_that_prints, fallback="error")(1.0),
    "syntax_try_half_done": lambda: tx.grad(with_try_half_done, fallback="error")(1.0),
    "syntax_try_active": lambda: tx.grad(with_active_try, fallback="error")(1.0),
    "syntax_with": lambda: tx.grad(with_file)(1.0),
    "kept_view": lambda: tx.grad(with_view, fallback="error")(1.0),
    "kept_iterator": lambda: tx.grad(with_iterator, fallback="error")(1.0),
    "set_of_differentiated": lambda: tx.grad(with_set, fallback="error")(1.0),
    "name_deleted": lambda: tx.grad(with_deleted, fallback="error")(2.0),
    "syntax_match": lambda: tx.grad(with_match)(1.0),
    "syntax_async": lambda: tx.grad(coroutine)(1.0),
    "syntax_product_inside": lambda: tx.grad(product_inside)(1.0),
    "syntax_checkpoint_inside": lambda: tx.grad(checkpoint_inside)(1.0),
    "attribute_by_name": lambda: tx.grad(attribute_by_name, fallback="error")(1.0, ["state", "other"]),
    "checkpoint_of_method": lambda: tx.grad(checkpoint_of_method, fallback="error")(1.0),
    "checkpoint_with_print": lambda: tx.grad(checkpoint_with_print, fallback="error")(1.0),
    "checkpoint_into_list": lambda: tx.grad(checkpoint_into_list, fallback="error")(1.0),
    "checkpoint_of_list": lambda: tx.grad(checkpoint_of_list, fallback="error")(1.0),
    "operation_numpy": lambda: tx.grad(eigen)(np.eye(2)),
    "operation_scipy": lambda: tx.grad(bessel)(1.0),
    "unresolved_name": lambda: tx.grad(unresolved)(1.0),
    "unresolved_callee": lambda: tx.grad(unknown_callee)(1.0, operator.itemgetter(b"key")),
    "result_array": lambda: tx.grad(square)(np.ones(3)),
    "result_one_element": lambda: tx.grad(square)(np.ones(1)),
    "result_integer": lambda: tx.grad(whole)(1.0),
    "result_none": lambda: tx.grad(nothing)(1.0),
    "result_pair": lambda: tx.grad(pair)(1.0),
    "result_complex": lambda: tx.grad(turned)(1.0),
    "result_integer_vjp": lambda: tx.vjp(whole, 1.0),
    "aux_missing": lambda: tx.grad(square, has_aux=True)(1.0),
    "wrt_integer": lambda: tx.grad(square)(2),
    "wrt_integer_array": lambda: tx.grad(total)(np.ones(2, int)),
    "wrt_boolean": lambda: tx.grad(square)(True),
    "wrt_string": lambda: tx.grad(square)("x"),
    "wrt_out_of_range": lambda: tx.grad(scaled, wrt=2)(1.0),
    "wrt_negative": lambda: tx.grad(scaled, wrt=-1)(1.0),
    "wrt_misspelt": lambda: tx.grad(writes, wrt="bb")(np.ones(2), np.ones(2)),
    "wrt_twice": lambda: tx.grad(scaled, wrt=(0, "x"))(1.0),
    "wrt_empty": lambda: tx.grad(scaled, wrt=())(1.0),
    "wrt_list": lambda: tx.grad(scaled, wrt=[0, 1]),
    "wrt_bool_position": lambda: tx.grad(scaled, wrt=True),
    "seed_shape": seeded({"a": np.ones(3), "b": None}),
    "seed_complex": seeded({"a": np.ones(2) * 1j, "b": None}),
    "seed_structure": seeded((np.ones(2), None)),
    "seed_keys": seeded({"a": np.ones(2)}),
    "vmap_arguments": lambda: tx.vmap(scaled, (0,))(np.ones(3), 1.0),
    "vmap_structure": lambda: tx.vmap(total, ((0, None),))([np.ones(3), 1.0]),
    "vmap_axis": lambda: tx.vmap(total, 1)(np.ones(3)),
    "vmap_number": lambda: tx.vmap(scaled)(np.ones(3), 1.0),
    "vmap_none": lambda: tx.vmap(total, None)(np.ones(3)),
    "vmap_lengths": lambda: tx.vmap(scaled)(np.ones(3), np.ones(4)),
    "vmap_empty": lambda: tx.vmap(scaled)(np.ones(0), np.ones(0)),
    "vmap_out_axis": lambda: tx.vmap(scaled, out_axes=1)(np.ones(3), np.ones(3)),
    "vmap_result": lambda: tx.vmap(lambda x: "text")(np.ones(3)),
    "vmap_shapes": lambda: tx.vmap(lambda n: np.ones(n))(np.arange(3)),
    "vmap_structures": lambda: tx.vmap(lambda x: (x, x) if x > 0.0 else [x])(np.array([1.0, -1.0])),
    "vmap_derivative": lambda: tx.grad(tx.vmap(scaled))(np.ones(3), np.ones(3)),
    "vmap_inside_number": lambda: tx.grad(lambda x: np.sum(tx.vmap(multiplied)(x, 2.0)), fallback="error")(np.ones(3)),
    "vmap_inside_lengths": lambda: tx.grad(lambda x: np.sum(tx.vmap(multiplied)(x, x[1:])))(np.ones(3)),
    "vmap_keywords": lambda: tx.vmap(multiplied, (0,))(np.ones(3), y=np.ones(3)),
    "linear_count": lambda: tx.linearize(scaled, 1.0, 2.0)[1](1.0),
    "linear_shape": lambda: tx.linearize(total, np.ones(3))[1](np.ones(2)),
    "linear_dtype": lambda: tx.linearize(total, np.ones(3))[1](1j * np.ones(3)),
    "linear_of_integers": lambda: tx.linearize(scaled, 1, 2),
    "linear_inside": lambda: tx.grad(lambda x: tx.linearize(square, x)[0], fallback="error")(1.0),
    "sparse_structure": lambda: tx.jacobian(lambda x: (x, x), sparsity="auto")(np.ones(2)),
    "sparse_shape": lambda: tx.jacobian(doubled, sparsity=np.eye(3))(np.ones(2)),
    "sparse_entries": lambda: tx.jacobian(doubled, sparsity=np.eye(2)[::-1])(np.ones(2)),
    "sparse_option": lambda: tx.jacobian(doubled, sparsity="yes"),
    "sparse_wrt": lambda: tx.jacobian(scaled, (0, 1), sparsity="auto"),
    "recursive_derivative": lambda: tx.grad(derived_of_itself, fallback="error")(1.0, 3),
    "tangent_count": lambda: tx.jvp(scaled, (1.0, 2.0), (1.0,)),
    "tangent_shape": lambda: tx.jvp(total, (np.ones(3),), (np.ones(2),)),
    "tangent_of_integer": lambda: tx.jvp(scaled, (1.0, 2), (1.0, 1.0)),
    "jacobian_of_integer": lambda: tx.jacobian(square)(2),
    "jacobian_result_integer": lambda: tx.jacobian(whole)(1.0),
    "jacobian_result_none": lambda: tx.jacobian(nothing)(1.0),
    "jacobian_mode": lambda: tx.jacobian(square, mode="backward"),
    "jacobian_complex": lambda: tx.jacobian(square)(1j),
    "jacobian_complex_forward": lambda: tx.jacfwd(abs_squared)(1j),
    "jacobian_complex_reverse": lambda: tx.jacrev(turned)(1.0),
    "jacobian_aux_missing": lambda: tx.jacobian(square, has_aux=True)(1.0),
    "hessian_of_integer": lambda: tx.hessian(square)(2),
    "hessian_of_integer_array": lambda: tx.hessian(total)(np.ones(2, int)),
    "hessian_of_array": lambda: tx.hessian(square)(np.ones(3)),
    "elementwise_complex": lambda: tx.elementwise_grad(turned)(np.ones(2)),
    "hvp_no_number": lambda: tx.hvp(square, (2,), (1,)),
    "hvp_primal": lambda: tx.hvp(square, 2.0, 1.0),
    "hvp_tangent_shape": lambda: tx.hvp(total, (np.ones(3),), (np.ones(2),)),
    "inside_pullback_acts": lambda: tx.grad(pulled_twice)(np.ones(2)),
    "inside_jacobian_acts": lambda: tx.grad(rows_inside)(np.ones(2)),
    "stopped_list": lambda: tx.grad(stopped, fallback="error")(1.0),
    "source_builtin": lambda: tx.grad(dir)(1.0),
    "source_exec": lambda: tx.grad(made_by_exec())(1.0),
    "source_no_function": lambda: tx.grad(3)(1.0),
    "ndarray_subclass": lambda: tx.grad(total)(np.ma.masked_array([1.0])),
    "object_array": lambda: tx.grad(total)(np.array([1.0, None])),
    "shared_memory": lambda: (lambda x: tx.grad(writes)(x, x[:]))(np.ones(2)),
    "composition_refuses": lambda: tx.grad(padded, fallback="error")(np.ones(2)),
    "windows_written": lambda: tx.grad(writes)(np.lib.stride_tricks.as_strided(np.ones(2), (2, 2), (8, 8)), np.ones(2)),
    "add_at_arguments": lambda: tx.grad(added_short)(np.ones(2)),
    "add_at_into_a_list": lambda: tx.grad(added_to_list)(1.0),
    "fallback_complex_jacobian": lambda: jacobian_on_tensors(with_active_try, 1.0j),
    "fallback_jacobian_of_nothing": lambda: jacobian_on_tensors(with_nothing_in_it, 1.0),
    "option_argnums": lambda: tx.grad(square, argnums=(0,)),
    "option_argnums_of_decorator": lambda: tx.differentiate(argnums=0)(square),
    "array_of_others": lambda: tx.grad(square)(Others()),
    "shown_with_keys": lambda: tx.grad(with_keys).source,
    "shown_with_attributes": lambda: tx.differentiate(with_attributes).grad.source,
    "library_in_python": lambda: tx.grad(distances, fallback="error")(np.eye(2)),
    "library_by_method": lambda: tx.grad(density, fallback="error")(1.0),
    "option_fallback": lambda: tx.grad(square, fallback="none"),
    "option_jit": lambda: tx.grad(square, jit="yes"),
}


class Others:
    """An array of another library."""

    def __array__(self, dtype=None, copy=None):
        return np.ones(2)


def with_keys(p):
    return p["mass"] * 2.0


def with_attributes(p):
    return p.mass * 2.0


def distances(x):
    return np.sum(spatial.distance.directed_hausdorff(x, x)[0])


def density(x):
    return stats.skewnorm.logpdf(x, 2.0, loc=0.5)


def multiplied(x, y):
    return x * y


def doubled(x):
    return x * 2.0


def derived_of_itself(x, n):
    return x * x if n == 0 else tx.grad(lambda y: derived_of_itself(y, n - 1) * y)(x)


def made_by_exec() -> Any:
    space: dict[str, Any] = {}
    exec("def made(x):\n    return x * x\n", space)
    return space["made"]


def padded(x):
    return np.sum(np.percentile(np.pad(x, 1, mode="empty"), 30.0))


def added_short(x):
    np.add.at(x, [0, 1])
    return x[0]


def added_to_list(x):
    items = [x, x]
    np.add.at(items, 0, x)
    return items[0]


def abs_squared(z):
    return abs(z) ** 2


def speaks(u):
    print(u[0])
    return u * u


def pulled_twice(x):
    value, pullback = tx.vjp(speaks, x)
    return np.sum(pullback(x))


def rows_inside(x):
    return np.sum(tx.jacrev(speaks)(x))


def checkpointed_return(x):
    for n in tx.checkpointed(range(9)):
        x = x * x
        if x > 2.0:
            return x
    return x


def checkpointed_kept(x):
    steps = tx.checkpointed(range(9))
    for n in steps:
        x = x * x
    return x


def checkpointed_arguments(x):
    for n in tx.checkpointed(range(9), states=3):
        x = x * x
    return x


def checkpointed_snapshots(x):
    for n in tx.checkpointed(range(9), snapshots=2.5):
        x = x * x
    return x


def checkpointed_process(x):
    for n in tx.checkpointed(range(9)):
        x = x * os.getpid()
    return x


def checkpointed_print_below(x):
    for n in tx.checkpointed(range(9)):
        x = speaks(x)
    return x[0]


def checkpointed_generator(x):
    for n in tx.checkpointed(range(9)):
        rng = np.random.default_rng()
        x = x * rng.random()
    return x


def checkpointed_try(x):
    for n in tx.checkpointed(range(9)):
        try:
            scale = int("3")
        except ValueError:
            scale = 1
        x = x * scale
    return x


def checkpointed_nest(x):
    nest = [[x]]
    for n in tx.checkpointed(range(9)):
        nest[0].append(x)
        nest.append([x * x])
    return nest[0][1]


CASES |= {
    "checkpointed_return": lambda: tx.grad(checkpointed_return, fallback="error")(1.0),
    "checkpointed_kept": lambda: tx.grad(checkpointed_kept, fallback="error")(1.0),
    "checkpointed_arguments": lambda: tx.grad(checkpointed_arguments, fallback="error")(1.0),
    "checkpointed_snapshots": lambda: tx.grad(checkpointed_snapshots, fallback="error")(1.0),
    "checkpointed_process": lambda: tx.grad(checkpointed_process, fallback="error")(1.0),
    "checkpointed_print_below": lambda: tx.grad(checkpointed_print_below, fallback="error")(np.ones(1)),
    "checkpointed_generator": lambda: tx.grad(checkpointed_generator, fallback="error")(1.0),
    "checkpointed_try": lambda: tx.grad(checkpointed_try, fallback="error")(1.0),
    "checkpointed_nest": lambda: tx.grad(checkpointed_nest, fallback="error")(1.0),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input(name: str, golden: Golden) -> None:
    with pytest.raises(tx.TangentxError) as caught:
        CASES[name]()
    text = text_of(caught.value)
    assert "\nInstead: " in text
    golden(f"bad_{name}", text)


def test_stale_source(tmp_path: Path, golden: Golden) -> None:
    file = tmp_path / "edited.py"
    file.write_text("def f(x):\n    return x * x\n")
    spec = importlib.util.spec_from_file_location("edited", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    file.write_text("def f(x):\n    return x * x * x\n")
    with pytest.raises(tx.StaleSource) as caught:
        tx.grad(module.f)(2.0)
    golden("bad_source_stale", text_of(caught.value).replace(str(tmp_path) + os.sep, ""))


@pytest.mark.parametrize("name", ["syntax_try", "result_array", "wrt_integer", "shared_memory", "operation_scipy"])
def test_the_same_error_again(name: str) -> None:
    texts = []
    for _ in range(2):
        with pytest.raises(tx.TangentxError) as caught:
            CASES[name]()
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_a_right_call_after_a_refused_one() -> None:
    for bad in (np.ones(3), 2, "x", None):
        with pytest.raises(tx.NotDifferentiable):
            tx.grad(square)(bad)
        assert tx.grad(square)(3.0) == 6.0


def with_count(x):
    import itertools

    for k in itertools.count(x):
        if k > 3.0:
            break
    return k


def with_unknown_keyword_of_zip(x, how):
    return sum(a * b for a, b in zip(x, x, **how))


def with_rows_that_are_written(x):
    import itertools

    for a in itertools.chain.from_iterable([x[:2], x[2:]]):
        x[2] = a * a
    return np.sum(x)


def with_columns_of_any_length(x):
    return [max(column) for column in zip(*x)][0]


ITERATED = [
    (with_count, (1.0,)),
    (with_unknown_keyword_of_zip, (np.ones(2), {})),
    (with_rows_that_are_written, (np.ones(4),)),
    (with_columns_of_any_length, (np.ones((2, 2)),)),
]


@pytest.mark.parametrize(("f", "args"), ITERATED)
def test_what_cannot_be_iterated(f: Callable[..., Any], args: tuple[Any, ...], golden: Golden) -> None:
    with pytest.raises(tx.UnsupportedSyntax) as caught:
        tx.grad(f, fallback="error")(*args)
    golden(f"bad_iteration_{f.__name__}", text_of(caught.value))


def added_at(a, c):
    key = (0,) if c > 0.0 else (0, 1)
    np.add.at(a, key, c)
    return np.sum(a * a)


def test_a_key_of_unknown_length(golden: Golden) -> None:
    with pytest.raises(tx.UnsupportedSyntax) as caught:
        tx.grad(added_at, fallback="error")(np.ones((2, 2)), 1.0)
    golden("bad_add_at_key_of_unknown_length", text_of(caught.value))


def with_open_grid(x, n):
    return np.sum(np.mgrid[0:n, 1:] * x)


def with_rows_by_text(x):
    return np.sum(np.r_["0,2,0", x, x])


def with_combinations_of_any_size(x, n):
    import itertools

    return sum(sum(each) for each in itertools.combinations(x, n))


GRIDS = [
    (with_open_grid, (np.ones(3), 2)),
    (with_rows_by_text, (np.ones(3),)),
    (with_combinations_of_any_size, (np.ones(3), 2)),
]


@pytest.mark.parametrize(("f", "args"), GRIDS)
def test_what_makes_grids_and_pairs(f: Callable[..., Any], args: tuple[Any, ...], golden: Golden) -> None:
    with pytest.raises(tx.UnsupportedSyntax) as caught:
        tx.grad(f, fallback="error")(*args)
    golden(f"bad_grid_{f.__name__}", text_of(caught.value))


def with_shared_deleted(x):
    y = x * x

    def half():
        return y / 2

    z = half()
    del y
    y = z
    return half()


def with_perhaps_an_array(x):
    s = x
    u = np.ones(2)

    def grown():
        nonlocal s
        s = s * u
        return x

    s += grown()
    return s


def with_closure_tried(x):
    def half(text):
        return len(text) / 2

    try:
        n = half("three")
    except ValueError:
        n = 1
    return n * x


@pytest.mark.parametrize("f", [with_shared_deleted, with_perhaps_an_array, with_closure_tried])
def test_what_functions_share(f: Callable[..., Any], golden: Golden) -> None:
    with pytest.raises(tx.TangentxError) as caught:
        tx.grad(f, fallback="error")(2.0)
    golden(f"bad_shared_{f.__name__}", text_of(caught.value))
