"""The C entry point: a Python-callable function that needs no Python headers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from tangentx.loops import loop_ir as loops

CODES = {"FLAGGED": -1, "OTHER": -2, "SCATTERED": -3}
"""What the entry gives in place of results, beside the codes of `Bail`: floating-point events; arguments that are left
to Python; arrays with gaps between their elements, or not aligned."""

_SUPPORT = r"""
enum { FLAGGED = -1, OTHER = -2, SCATTERED = -3 };
#define LIMIT_EXTENT ((int64_t)1 << 47)

/* Most memory that the last call held. */
static size_t last_bytes;
size_t tangentx_bytes(void) { return last_bytes; }
void tangentx_begin(const python_functions *given) { py = *given; }

/* An argument that is an array: its elements lie row after row. */
static __attribute__((unused)) int64_t take_array(
    PyObject *given, size_t size, int rank, void *data, int64_t *n, int64_t *s, buffer *view, int *viewed)
{
    if (py.view(given, view, 0x18)) { py.forget(); return OTHER; }
    ++*viewed;
    if (view->ndim != rank || (size_t)view->itemsize != size) return OTHER;
    int64_t behind = 1;
    bool dense = true;
    for (int k = rank - 1; k >= 0; k--) {
        n[k] = view->shape[k];
        s[k] = behind;
        if (n[k] > LIMIT_EXTENT) return OTHER;
        dense = dense && (n[k] == 1 || view->strides[k] == behind * (int64_t)size);
        behind = times(behind, n[k]);
    }
    if ((behind && !dense) || (uintptr_t)view->buf % size) return SCATTERED;
    memcpy(data, &view->buf, sizeof view->buf);
    return 0;
}

static __attribute__((unused)) int64_t take_whole(PyObject *given, int64_t *word)
{
    *word = py.as_whole(given);
    if (*word == -1 && py.raised()) { py.forget(); return OTHER; }
    return -LIMIT_EXTENT <= *word && *word <= LIMIT_EXTENT ? 0 : OTHER;
}

/* A number of NumPy's, of one of Python's. */
static __attribute__((unused)) PyObject *of_numpy(PyObject *type, PyObject *number)
{
    PyObject *given = number ? py.tuple(1) : NULL, *found = NULL;
    if (given) {
        py.set_item(given, 0, number);
        found = py.call(type, given);
        py.drop(given);
    }
    return found;
}

/* An item of the results, which are none where it could not be made. */
static __attribute__((unused)) void put(PyObject **found, intptr_t place, PyObject *item)
{
    if (!*found || !item || py.set_item(*found, place, item)) {
        if (!*found && item) py.drop(item);
        if (*found) py.drop(*found);
        *found = NULL;
    }
}

/* An array of NumPy's: the one whose memory this is, or a copy. */
static __attribute__((unused)) PyObject *array_of(
    block *owner, const void *data, PyObject *type, size_t size, int rank, const int64_t *n)
{
    buffer view;
    bool same = owner && owner->array && !py.view(owner->array, &view, 0x18);
    if (same) {
        same = view.buf == data && view.ndim == rank;
        for (int k = 0; same && k < rank; k++) same = view.shape[k] == n[k];
        py.end_view(&view);
    }
    if (same) { py.keep(owner->array); return owner->array; }
    PyObject *made = new_array(py.empty, type, rank, n);
    if (!made || py.view(made, &view, 0)) return made;
    if (view.len) memcpy(view.buf, data, (size_t)view.len);
    py.end_view(&view);
    return made;
}
"""


NAMES = frozenset(re.findall(r"[A-Za-z_]\w*", _SUPPORT)) | {
    "entry",
    "callback",
    "given_count",
    "given_views",
    "given_viewed",
}
"""Names that mean something here."""


class _Names(Protocol):
    def of(self, type: loops.Type) -> str:
        """The name of a type."""


def text_of(function: loops.Function, names: _Names) -> str:
    """The entry, and what it needs."""
    return _SUPPORT.lstrip() + "\n" + "\n".join(_entry(function, names)) + "\n" + _MADE


_MADE = """
/* The function of Python; `self` is the address of what calls functions of Python. */
PyObject *tangentx_function(PyObject *self)
{
    static struct { const char *name; void *call; int flags; const char *told; } method = {
        "tangentx_entry", (void *)entry, 0x80, NULL };
    return py.function(&method, self, NULL);
}
"""


def _entry(function: loops.Function, names: _Names) -> Iterator[str]:
    """The results as a tuple, with one item more where numbers underflowed; or a code."""
    yield "static PyObject *entry(PyObject *callback, PyObject *const *given, intptr_t given_count)"
    yield "{"
    yield "    (void)given_count; (void)given;"
    yield "    interpreter python = { (called_back)(intptr_t)py.as_whole(callback), NULL };"
    yield f"    buffer given_views[{max(1, sum(isinstance(type, loops.Array) for _, type in function.params))}];"
    yield "    int given_viewed = 0, raised = 0;"
    yield "    int64_t bail = 0;"
    yield "    PyObject *found = NULL;"
    yield "    chunks.calls++;"
    for name, type in function.params:
        yield f"    {names.of(type)} {name}{' = { 0 }' if isinstance(type, loops.Array) else ''};"
    results = [(f"result{k}", type) for k, type in enumerate(function.results)]
    for name, type in results:
        yield f"    {names.of(type)} {name};"
        yield f"    memset(&{name}, 0, sizeof {name});"
    for place, (name, type) in enumerate(function.params):
        yield from _taken(place, name, type)
    yield from _run(function, results)
    yield "out:"
    yield from (f"    release({name}.owner);" for name, type in results if isinstance(type, loops.Array))
    yield "    leave_kept();"
    yield "    while (given_viewed) py.end_view(&given_views[--given_viewed]);"
    yield "    return found || py.raised() ? found : py.whole(bail);"
    yield "}"


def _run(function: loops.Function, results: Sequence[tuple[str, loops.Type]]) -> Iterator[str]:
    """The call, while Python's lock is released, and the tuple of what it gives."""
    yield "    python.state = py.release_lock();"
    yield "    held_bytes = most_bytes = 0;"
    yield "    feclearexcept(FE_ALL_EXCEPT);"
    given = [*dict(function.params), *(f"&{name}" for name, _ in results), "&python"]
    yield f"    bail = {function.name}({', '.join(given)});"
    yield "    raised = fetestexcept(FE_ALL_EXCEPT);"
    yield "    py.take_lock(python.state);"
    yield "    last_bytes = most_bytes;"
    yield "    if (!bail && raised & (FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW)) bail = FLAGGED;"
    yield "    if (bail || py.raised()) goto out; /* a handler of signals may have raised something */"
    yield f"    found = py.tuple({len(results)} + !!(raised & FE_UNDERFLOW));"
    for place, (name, type) in enumerate(results):
        yield f"    put(&found, {place}, {_given(name, type)});"
    yield f"    if (raised & FE_UNDERFLOW) put(&found, {len(results)}, py.truth(1));"


def _taken(place: int, name: str, type: loops.Type) -> Iterator[str]:
    """An argument."""
    if isinstance(type, loops.Array):
        given = f"given[{place}], sizeof *{name}.data, {type.rank}, &{name}.data, {name}.n, {name}.s"
        yield f"    if ((bail = take_array({given}, &given_views[given_viewed], &given_viewed))) goto out;"
        return
    assert isinstance(type, loops.Scalar)
    if type.is_float:
        yield f"    {name} = py.as_real(given[{place}]);"
    elif type.code == "b1":
        yield f"    {name} = py.is_true(given[{place}]) == 1;"
    else:
        yield f"    if ((bail = take_whole(given[{place}], &{name}))) goto out;"


def _given(name: str, type: loops.Type) -> str:
    """A result as an object of Python's."""
    if isinstance(type, loops.Array):
        return f"array_of({name}.owner, {name}.data, py.{type.code}, sizeof *{name}.data, {type.rank}, {name}.n)"
    assert isinstance(type, loops.Scalar)
    made = f"py.{'real' if type.is_float else 'truth' if type.code == 'b1' else 'whole'}({name})"
    return f"of_numpy(py.{type.code}, {made})" if type.owner is loops.Owner.NUMPY else made
