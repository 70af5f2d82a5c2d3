"""The public face: `differentiate`, `grad` and their like, also inside of programs that are differentiated."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from tangentx.api.decorated import Differentiable, hvp_of
from tangentx.api.derivative import Derivative, derivative_of
from tangentx.api.products import jvp_of, linearize_of, vjp_of
from tangentx.common.options import MAKERS
from tangentx.dispatch.nesting_depth import shallow
from tangentx.dispatch.request import Spec
from tangentx.errors import NotDifferentiable

# `jvp`, `hvp` and `vjp` as seen by programs that are themselves differentiated.


@dataclass(frozen=True)
class Product:
    """One of the products of a function."""

    what: str
    f: Any

    def __tangentx_order__(self, program: Any) -> Any:
        """The function whose parameters the primals fill, and the objects that come first."""
        return self._derivative().__tangentx_order__(program)

    def along(self, program: Any, kinds: Sequence[Any], places: tuple[int, ...], primals: range) -> Any:
        """The function of all arguments, and the tangents of those at `places`; those at `primals` are the caller's.

        It gives ``(value, tangent)``, or the product alone.
        """
        from tangentx.compile import nested

        f, spec = self.f, Spec("jvp", places)
        if self.what == "hvp":
            by = _differentiable(kinds, primals)
            f = derivative_of(self.f, Spec("grad", tuple(i - primals.start for i in by)))
            spec = Spec("hvp", tuple(i if i in by else None for i in primals))
        derivative = derivative_of(f, Spec("jvp", None))
        return nested.nested(derivative, derivative._target, program, kinds, places, spec)

    def pullback(self, program: Any, kinds: Sequence[Any], primals: range) -> tuple[Any, Any]:
        """The function of all arguments, and the pullback, a function of these and a cotangent."""
        from tangentx.compile import nested

        by = _differentiable(kinds, primals)
        spec = Spec("vjp", tuple(i if i in by else None for i in primals))
        derivative = self._derivative()
        return nested.nested_pullback(derivative, derivative._target, program, kinds, by, spec)

    def _derivative(self) -> Derivative:
        return derivative_of(self.f, Spec("jvp", None))


def _differentiable(kinds: Sequence[Any], primals: range) -> tuple[int, ...]:
    """Places of the primals that have a derivative. Raises NotDifferentiable where none has."""
    from tangentx.dispatch.validation import has_leaf

    by = tuple(i for i in primals if has_leaf(kinds[i], ()))
    if not by:
        message = "none of the primals holds a real or complex number"
        raise NotDifferentiable(message, hint="pass a float or an array of floats")
    return by


# The public face: `differentiate`, `grad` and their like.

P = ParamSpec("P")
R = TypeVar("R")


def _by_wrt(transform: Callable[P, R]) -> Callable[P, R]:
    """Names `wrt` to those who know the parameter by the name that it has elsewhere."""

    @functools.wraps(transform)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in ("argnums", "argnum"):
            if name in kwargs:
                hint = f"write wrt={kwargs[name]!r}: a position, a name, or a tuple of them"
                raise NotDifferentiable(f"`{transform.__name__}` has no option `{name}`", hint=hint)
        return transform(*args, **kwargs)

    return called


@_by_wrt
def differentiate(
    function: Any = None,
    *,
    wrt: Any = 0,
    has_aux: bool = False,
    fallback: str = "tensor",
    jit: str | bool | None = None,
    check: bool = False,
    precision: str | None = None,
    guarded: bool = False,
    parallel: bool = False,
) -> Any:
    """Decorator: gives a function its derivatives: ``.grad``, ``.value_and_grad``, ``.vjp``, ``.jvp``, ``.jacobian``,
    ``.hessian`` and ``.hvp``.

    `wrt` is a position or a name, or a tuple of them; the default is the first parameter, after `self` of a method.
    ``precision="float16"`` is mixed precision (see `tangentx.amp`). Decorating reads nothing and never raises for what
    the function contains: the source is read at the first derivative.

    Raises nothing but NotDifferentiable, for an option that means nothing; what cannot be differentiated raises a
    `TangentxError` at the first derivative.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> @tx.differentiate(wrt=("w", "b"))
    ... def loss(w, b, x):
    ...     return np.sum((x @ w + b) ** 2)
    >>> w, b, x = np.array([1.0, -1.0]), 0.5, np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> float(loss(w, b, x))
    0.5
    >>> loss.grad(w, b, x)
    (array([-4., -6.]), -2.0)
    """
    spec = Spec(
        "grad",
        wrt,
        False,
        has_aux,
        fallback,
        jit,
        check=check,
        precision=precision,
        guarded=guarded,
        parallel=parallel,
    )
    if function is None:
        return lambda f: Differentiable(f, spec)
    return Differentiable(function, spec)


@_by_wrt
def grad(
    f: Any,
    wrt: Any = 0,
    *,
    has_aux: bool = False,
    fallback: str = "tensor",
    jit: str | bool | None = None,
    check: bool = False,
    precision: str | None = None,
    guarded: bool = False,
    parallel: bool = False,
) -> Derivative:
    """The gradient of `f`, a function with a real scalar result, with respect to `wrt`.

    Returns a function of the same arguments whose result has the structure, shapes and dtypes of the parameter that
    `wrt` names (a tuple of them for a tuple). With `has_aux`, `f` returns ``(value, extras)`` and the gradient comes
    as ``(gradient, extras)``. With ``precision="float16"`` products run in float16: see `tangentx.amp.autocast`.

    Where nobody can see a program run twice, its products have no guards against ``0 * inf`` at first, and what is not
    finite is computed again with them. With `guarded` they have them always: for a text that is right by itself, or
    for arguments at which they are needed each time. `jit` compiles it as loops, and `parallel` runs those of array
    statements on several threads: see `tangentx.jit`. Raises `TangentxError` for what cannot be differentiated.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> def f(x, y):
    ...     return np.sum(x * x) * y
    >>> tx.grad(f)(np.array([1.0, 2.0]), 3.0)
    array([ 6., 12.])
    >>> tx.grad(f, wrt=("x", "y"))(np.array([1.0, 2.0]), 3.0)
    (array([ 6., 12.]), 5.0)
    """
    spec = Spec(
        "grad",
        wrt,
        False,
        has_aux,
        fallback,
        jit,
        check=check,
        precision=precision,
        guarded=guarded,
        parallel=parallel,
    )
    return derivative_of(f, spec)


@_by_wrt
def value_and_grad(
    f: Any,
    wrt: Any = 0,
    *,
    has_aux: bool = False,
    fallback: str = "tensor",
    jit: str | bool | None = None,
    check: bool = False,
    precision: str | None = None,
    guarded: bool = False,
    parallel: bool = False,
) -> Derivative:
    """As `grad`, returning ``(value, gradient)``, or ``((value, extras), gradient)`` with `has_aux`.

    >>> import tangentx as tx
    >>> tx.value_and_grad(lambda x: x**3)(2.0)
    (8.0, 12.0)
    """
    spec = Spec(
        "grad",
        wrt,
        True,
        has_aux,
        fallback,
        jit,
        check=check,
        precision=precision,
        guarded=guarded,
        parallel=parallel,
    )
    return derivative_of(f, spec)


@shallow
def jvp(
    f: Any,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    fallback: str = "tensor",
    jit: str | bool | None = None,
    check: bool = False,
    precision: str | None = None,
) -> tuple[Any, Any]:
    """``(value, tangent)`` of `f` at `primals` along `tangents`: one for each primal, None holds it constant.

    A tangent has the structure, shape and dtype of its primal. Raises `NotDifferentiable` where it has not.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> value, tangent = tx.jvp(lambda x, a: a * x * x, (np.array([1.0, 2.0]), 3.0), (np.array([1.0, 0.0]), None))
    >>> value, tangent
    (array([ 3., 12.]), array([6., 0.]))
    """
    return jvp_of(
        derivative_of(f, Spec("jvp", None, False, False, fallback, jit, check=check, precision=precision)),
        primals,
        tangents,
    )


@shallow
def vjp(
    f: Any,
    *primals: Any,
    fallback: str = "tensor",
    jit: str | bool | None = None,
    check: bool = False,
    precision: str | None = None,
) -> tuple[Any, Callable[[Any], Any]]:
    """``(value, pullback)`` of `f` at `primals`.

    The pullback takes a cotangent of the structure and shape of the value and returns one cotangent for one primal,
    a tuple for several, None where there is no derivative. It may be called any number of times.

    Raises `TangentxError` for what cannot be
    differentiated, NotDifferentiable for a cotangent that does not fit.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> value, pullback = tx.vjp(lambda x, a: a * x * x, np.array([1.0, 2.0]), 3.0)
    >>> pullback(np.array([1.0, 1.0]))
    (array([ 6., 12.]), 5.0)
    """
    return vjp_of(
        derivative_of(f, Spec("vjp", None, False, False, fallback, jit, check=check, precision=precision)), primals, {}
    )


@shallow
def linearize(
    f: Any,
    *primals: Any,
    fallback: str = "tensor",
    jit: str | bool | None = None,
    check: bool = False,
    precision: str | None = None,
) -> tuple[Any, Callable[..., Any]]:
    """``(value, linear)`` of `f` at `primals`: ``linear(*tangents)`` is the tangent of the value, as `jvp` gives it.

    `linear` takes one tangent for each primal, of its structure and shape, None for a primal that is held constant,
    and may be called any number of times; `tx.vmap` of it takes a batch of tangents. The program is run once, here, and
    keeps its partials: `linear` repeats its control flow and the products and sums of forward mode alone, and changes
    nothing of what is kept. ``linear.source`` shows both functions. Where forward mode cannot be taken apart so (an
    operation on a container of primals and tangents, a program that runs on Tensors), `linear` runs the program anew
    for each tangent, at copies of `primals`, and ``linear.source`` says so. Raises NotDifferentiable where such a
    program acts on something outside, and where tangents do not fit.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> value, linear = tx.linearize(lambda x: np.sum(x**2), np.array([1.0, 2.0]))
    >>> float(value), float(linear(np.array([1.0, 0.0]))), float(linear(np.array([0.0, 1.0])))
    (5.0, 2.0, 4.0)
    """
    return linearize_of(
        derivative_of(f, Spec("linear", None, False, False, fallback, jit, check=check, precision=precision)),
        primals,
        {},
    )


@_by_wrt
def jacobian(
    f: Any,
    wrt: Any = 0,
    mode: str = "auto",
    *,
    sparsity: Any = None,
    has_aux: bool = False,
    fallback: str = "tensor",
    jit: str | bool | None = None,
    check: bool = False,
    precision: str | None = None,
) -> Any:
    """The Jacobian of `f`: the derivative of each number of its result by each number of `wrt`.

    Returns a function of the same arguments. For a result of shape ``s`` and a parameter of shape ``t`` its result
    has the shape ``s + t`` and the dtype of the parameter, complex where the result is; a nested result gives its own
    structure with, in the place of each leaf, the structure of the parameter, and None in the place of what has no
    derivative. A tuple `wrt` counts as a tuple of parameters. `mode` is "forward" (a sweep for each number of the
    parameters), "reverse" (one for each number of the result) or "auto": the shorter one. A program that acts on
    anything outside is run once, so always in reverse. Raises `TangentxError` for what cannot be differentiated.

    With `sparsity` the result is a SciPy sparse matrix (CSR; the extra `scipy`), of one row for each number of the
    result and one column for each number of the parameter, both real arrays in row-major order. "auto" finds the
    pattern anew in each call, by running the linear function of that point on index sets: it is that of the way which
    the program takes there. A matrix, sparse or dense, is a pattern: what is not zero in it. Columns that have no row
    in common move together, or rows where that takes fewer sweeps and `mode` leaves it open. A pattern that lacks
    entries is refused, by one more sweep along a direction of random numbers.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> tx.jacobian(lambda x: x[:2] * x[2])(np.array([1.0, 2.0, 3.0]))
    array([[3., 0., 1.],
           [0., 3., 2.]])
    """
    if sparsity is not None:
        from tangentx.api.sparse_jacobian import SparseJacobian

        if has_aux:
            raise NotDifferentiable("a sparse Jacobian takes no has_aux", hint="return the value alone")
        spec = Spec("jacobian", wrt, False, False, fallback, jit, mode, check, precision)
        return SparseJacobian(f, spec.checked(), sparsity)
    return derivative_of(f, Spec("jacobian", wrt, False, has_aux, fallback, jit, mode, check, precision))


@_by_wrt
def jacfwd(
    f: Any,
    wrt: Any = 0,
    *,
    has_aux: bool = False,
    fallback: str = "tensor",
    jit: str | bool | None = None,
    check: bool = False,
    precision: str | None = None,
) -> Derivative:
    """As `jacobian` in forward mode: a sweep for each number of the parameters.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> tx.jacfwd(lambda t: np.array([1.0, 2.0]) * t * t)(3.0)
    array([ 6., 12.])
    """
    found: Derivative = jacobian(
        f, wrt, "forward", has_aux=has_aux, fallback=fallback, jit=jit, check=check, precision=precision
    )
    return found


@_by_wrt
def jacrev(
    f: Any,
    wrt: Any = 0,
    *,
    has_aux: bool = False,
    fallback: str = "tensor",
    jit: str | bool | None = None,
    check: bool = False,
    precision: str | None = None,
) -> Derivative:
    """As `jacobian` in reverse mode: a sweep for each number of the result.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> tx.jacrev(lambda x: np.array([x[0] * x[1], x[1]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 1.]])
    """
    found: Derivative = jacobian(
        f, wrt, "reverse", has_aux=has_aux, fallback=fallback, jit=jit, check=check, precision=precision
    )
    return found


@_by_wrt
def hessian(
    f: Any,
    wrt: Any = 0,
    *,
    has_aux: bool = False,
    fallback: str = "tensor",
    jit: str | bool | None = None,
    check: bool = False,
    precision: str | None = None,
) -> Derivative:
    """The second derivatives of `f`, a function with a real scalar result: the Jacobian of its gradient.

    It is taken forward over reverse. For a parameter of shape ``t`` its result has the shape ``t + t``; a nested
    parameter gives its structure, each leaf replaced by the structure again, and a tuple `wrt` a tuple of tuples. At a
    kink (`abs` at 0, a tie of `max`) it is the derivative of the gradient that is documented there.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> tx.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    gradient = grad(f, wrt, has_aux=has_aux, fallback=fallback, jit=jit, check=check, precision=precision)
    return jacfwd(gradient, wrt, has_aux=has_aux, fallback=fallback, check=check, precision=precision)


@_by_wrt
def elementwise_grad(
    f: Any,
    wrt: Any = 0,
    *,
    fallback: str = "tensor",
    jit: str | bool | None = None,
    check: bool = False,
    precision: str | None = None,
) -> Derivative:
    """The derivative of each element of ``f(x)`` by the same element of `x`, for an `f` that works element by element.

    It is the gradient of the sum of all elements, of any other `f` too.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> tx.elementwise_grad(lambda x: x**3)(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    return derivative_of(f, Spec("elementwise", wrt, False, False, fallback, jit, check=check, precision=precision))


@shallow
def hvp(
    f: Any,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    fallback: str = "tensor",
    check: bool = False,
    precision: str | None = None,
) -> Any:
    """The Hessian of `f` at `primals` times `tangents`, without the Hessian: forward over reverse.

    One product for one primal, a tuple for several, of the structure, shapes and dtypes of the primals; None for a
    primal without derivative. A tangent None holds its primal constant. Raises NotDifferentiable where primals and
    tangents do not match.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> tx.hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 1.0]),))
    array([ 6., 12.])
    """
    return hvp_of(f, None, primals, tangents, fallback, check, precision)


def vmap(f: Any, in_axes: Any = 0, out_axes: Any = 0) -> Any:
    """`f` for a batch of arguments: its arguments and its results have one more axis.

    Of a pullback and of what `linearize` gives it takes a batch of cotangents, or of tangents, in one sweep.

    `in_axes` is the batch's axis in all arguments, or a tuple with one entry for each, keyword arguments in the order
    of `f`'s parameters: an axis, None for what is the same for all members, or a structure of them like that of the
    argument. `out_axes` is the same for the result. All members move at once, along a batch axis, where the program's
    control flow is the same for all and each operation has a rule; else one after the other, which `explain` says.
    Arguments are never written; `f` gets copies of them where it runs member by member. Tensors are recorded, member by
    member.

    It is differentiated as any other function is, and may be taken inside a differentiated function; there its
    arguments are numbers and arrays.

    Raises NotDifferentiable where axes do not fit arguments, where batches have different lengths, or none, and for
    results that are no numbers or whose shapes differ.

    >>> import numpy as np
    >>> import tangentx as tx
    >>> tx.vmap(lambda x, a: np.sum(x) * a, in_axes=(0, None))(np.array([[1.0, 2.0], [3.0, 4.0]]), 10.0)
    array([30., 70.])
    """
    from tangentx.api.vmap import Vectorised

    batched = getattr(f, "__tangentx_batched__", None)
    if batched is not None:
        return batched(in_axes, out_axes)
    return Vectorised(f, in_axes, out_axes)


def jit(f: Any = None, *, jit: str | bool = True, parallel: bool = False) -> Any:
    """`f` compiled as loops: a function of the same arguments that gives the same value.

    `jit` is "c", "numba", "python" (the loops to read and step through), or True for the first of C and Numba that is
    there; "cuda" makes kernels of statements of arrays of CuPy that go element by element, and leaves all else to CuPy.
    It is compiled for the kinds of its arguments at a call; shapes and numbers are arguments. What cannot be
    compiled runs as it was written, which a `JitWarning` says once, and ``.explain()``: that is also what a function
    does that writes into its arguments, prints or draws, or whose result is memory of an argument. Where something
    exceptional happens (an index out of range, a division by zero, a warning of NumPy's) `f` is run as it was written,
    from the beginning; but a statement that nothing needs may be left out, although it could raise or warn. Reals are
    equal to 1e-12 of the scale of what is summed. ``.source`` is the text that is compiled.

    It may be differentiated as `f` itself, may be the decorator of a method, and ``tx.jit(tx.grad(f))`` is the same as
    ``tx.grad(f, jit=True)``. With `parallel`, C runs long loops of array statements, and long sums, on several threads
    (`TANGENTX_THREADS` of them, else one for each processor): the bits are those of one thread. Raises NoCompiler where
    "c" or "numba" is asked for and is not there.

    >>> import tangentx as tx
    >>> @tx.jit
    ... def total(rate, years):
    ...     owned = 1.0
    ...     for _ in range(years):
    ...         owned = owned + rate * owned
    ...     return owned
    >>> total(0.5, 3)
    3.375
    """
    from tangentx.api.jitted import jitted

    if jit is None or jit is False:
        raise NotDifferentiable(f"jit={jit!r} compiles nothing", hint='use True, "c", "numba", "python" or "cuda"')
    return functools.partial(jitted, how=jit, parallel=parallel) if f is None else jitted(f, jit, parallel)


setattr(linearize, "__tangentx_outside__", "take tx.jvp(f, primals, tangents) there")  # noqa: B010


def _inside(f: Any, in_axes: Any = 0, out_axes: Any = 0) -> Any:
    from tangentx.api.vmap import inside

    return inside(f, in_axes, out_axes)


for _maker in (grad, value_and_grad, jacobian, jacfwd, jacrev, hessian, elementwise_grad, vmap, jit):
    setattr(_maker, "__tangentx_static__", True)  # noqa: B010
setattr(vmap, "__tangentx_inside__", _inside)  # noqa: B010
for _name, _product in {"vjp": vjp, "jvp": jvp, "hvp": hvp}.items():
    setattr(_product, "__tangentx_product__", functools.partial(Product, _name))  # noqa: B010
MAKERS.update(grad=grad, jacfwd=jacfwd)
