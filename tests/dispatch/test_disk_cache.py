"""Texts kept for other processes: found again where all is as it was, and nowhere else."""

from __future__ import annotations

import importlib.util
import linecache
import marshal
import os
import subprocess
import sys
import textwrap
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import tangentx as tx
from tangentx.common import cache_files, package_digest
from tangentx.dispatch import disk_cache
from tangentx.dispatch.request import held

X = np.array([1.0, 2.0])
_number = [0]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_cache, "_own_rules", [])  # other tests may have declared some
    path = tmp_path / "kept"
    tx.cache(path)
    yield path
    cache_files._chosen.clear()


@pytest.fixture
def module(tmp_path, monkeypatch):
    """``module(text)`` is the module of that text as another process would have it: with objects of its own."""
    monkeypatch.syspath_prepend(tmp_path)

    def made(text, name="program"):
        path = tmp_path / f"{name}.py"
        text = "import numpy as np\nimport tangentx as tx\n" + textwrap.dedent(text)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            _number[0] += 1
            os.utime(path, ns=(_number[0] * 10**10,) * 2)  # linecache goes by it
        spec = importlib.util.spec_from_file_location(name, path)
        found = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, found)
        linecache.checkcache(str(path))
        exec(compile(text, str(path), "exec"), vars(found))
        return found

    return made


def said(derivative):
    """What became of the last text: "read", "kept" or why neither."""
    entry = derivative._cache.last
    assert entry.notes["kept"] in derivative.explain()
    return told(entry)


def told(entry):
    """What became of the text of an entry."""
    notes = entry.notes["kept"]
    return {"read from the directory of kept texts": "read", "compiled, and kept for other processes": "kept"}.get(
        notes, notes
    )


def gradient(module, *args, of="f", **options):
    """The gradient at the arguments, and what became of its text."""
    derivative = tx.grad(getattr(module, of), **options)
    found = derivative(*(args or (X,)))
    return np.asarray(found).tolist(), said(derivative)


def jvp(module, of="f"):
    """The value and a tangent, and what became of the text."""
    product = tx.differentiate(getattr(module, of)).jvp
    value, tangent = product((X,), (np.array([1.0, -1.0]),))
    return [float(value), float(tangent)], said(product._derivative)


def vjp(module, of="f"):
    """The value, the cotangents for one seed and for a batch of them, and what became of the text."""
    product = tx.differentiate(getattr(module, of)).vjp
    value, pullback = product(X)
    batch = tx.vmap(pullback)(np.array([1.0, 2.0, 3.0]))
    return [float(value), pullback(2.0).tolist(), batch.tolist()], said(product._derivative)


def linear(module, of="f"):
    """The value, a tangent and a batch of them, and what became of the text."""
    value, run = tx.linearize(getattr(module, of), X)
    batch = tx.vmap(run)(np.array([[1.0, -1.0], [0.0, 1.0]]))
    return [float(value), float(run(np.array([1.0, -1.0]))), batch.tolist()], told(run.entry)


ASKED = {"gradient": gradient, "jvp": jvp, "vjp": vjp, "linear": linear}


PROGRAM = """
    K = 3.0
    def helper(x, n=2.0):
        return np.sin(x) * n * K
    class Model:
        scale = 2.0
        def run(self, x):
            return x * self.scale
    MODEL = Model()
    def f(x, m=2):
        s = helper(x) + MODEL.run(x)
        for i in range(m):
            s = s * x
        return np.sum(s)
"""


def test_a_text_is_found_again_and_gives_the_same(module) -> None:
    first, how = gradient(module(PROGRAM))
    assert how == "kept"
    again = module(PROGRAM)
    assert gradient(again) == (first, "read")
    derivative = tx.grad(again.f)
    assert "def f_grad" in derivative.source_for(X) and derivative(X).tolist() == first
    again.K = 30.0  # a number is read when the text runs
    assert gradient(again)[0] != first


@pytest.mark.parametrize("ask", ASKED)
def test_each_product_is_found_again_and_gives_the_same(ask, module) -> None:
    first, how = ASKED[ask](module(PROGRAM))
    assert how == "kept"
    assert ASKED[ask](module(PROGRAM)) == (first, "read")
    edited = PROGRAM.replace("np.sin(x)", "np.cos(x)")
    other, how = ASKED[ask](module(edited))
    tx.cache(None)
    plain = module(edited)
    held(plain.f).made.clear()
    assert how == "kept" and other != first
    tx.cache(cache_files.private())
    assert ASKED[ask](plain)[0] == other


def test_products_by_other_arguments_are_told_apart(module) -> None:
    text = "def f(x, y):\n    return np.sum(x * x * y)\n"
    y = np.array([3.0, 5.0])

    def all_of(m):
        product = tx.differentiate(m.f).jvp
        found = [float(product((X, y), dots)[1]) for dots in ((X, None), (None, X), (X, X))]
        found += [float(tx.linearize(m.f, X, y)[1](*dots)) for dots in ((X, None), (None, X), (X, X))]
        found += [np.sum(one) for wrt in ("x", "y") for one in tx.differentiate(m.f, wrt=wrt).vjp(X, y)[1](1.0)]
        return found

    first = all_of(module(text))
    assert first[:3] == first[3:6] == [55.0 - 9.0, 9.0, 55.0] or len(set(first[:3])) == 3
    assert all_of(module(text)) == first


def test_a_pullback_of_a_kept_text_owns_its_state(module) -> None:
    text = "def f(x):\n    y = x * 2.0\n    x[0] = 3.0\n    return np.sum(x * x * y)\n"
    outcomes = []
    for _ in range(2):
        m, x = module(text), np.array([1.0, 2.0])
        product = tx.differentiate(m.f).vjp
        _, pullback = product(x)
        x[...] = 7.0
        outcomes.append((pullback(1.0).tolist(), pullback(1.0).tolist(), product._derivative.explain().count("copy")))
        assert said(product._derivative) == ("read" if len(outcomes) > 1 else "kept")
    assert outcomes[0] == outcomes[1] and outcomes[0][0] == outcomes[0][1]


EDITS = {
    "the function": ("s = s * x", "s = s + x"),
    "a helper": ("np.sin(x)", "np.cos(x)"),
    "a comment": ("np.sin(x)", "np.sin(x)  # a sine"),
    "the place": ("    K = 3.0", "\n    K = 3.0"),
    "a default": ("m=2", "m=3"),
    "a default of a helper": ("n=2.0", "n=4.0"),
    "a member of a class": ("scale = 2.0", "scale = 4.0"),
    "the kind of a member": ("scale = 2.0", "scale = np.array([2.0, 3.0])"),
    "a method": ("x * self.scale", "x + self.scale"),
    "the kind of a global": ("K = 3.0", "K = np.array([1.0, 2.0])"),
    "the kind of an object": ("MODEL = Model()", "MODEL = Model()\n    MODEL.scale = 5.0"),
    "the class of an object": ("MODEL = Model()", "class Other(Model):\n        pass\n    MODEL = Other()"),
    "a function of a library": ("import numpy", "import numpy"),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_was_edited_is_compiled_again(name, module) -> None:
    gradient(module(PROGRAM))
    edited = PROGRAM.replace(*EDITS[name])
    found, how = gradient(module(edited))
    tx.cache(None)
    assert found == np.asarray(tx.grad(module(edited).f)(X)).tolist()
    assert how == ("kept" if edited != PROGRAM else "read")


def _rebound(m):
    m.helper = lambda x, n=2.0: x * n


def _patched(m):
    m.Model.run = lambda self, x: x * x


def _defaults(m):
    m.helper.__defaults__ = (7.0,)


def _named_defaults(m):
    m.f.__defaults__ = (1,)


def _code(m):
    m.helper.__code__ = m.other.__code__


def _member(m):
    m.Model.scale = 11.0


def _data(m):
    m.K = np.array([3.0, 4.0])


def _attribute(m):
    m.MODEL.scale = np.array([3.0, 4.0])


def _object(m):
    m.MODEL = type("Model", (), {"run": lambda self, x: x - 1.0})()


def _numpy(m):
    m.np = type(sys)("np")
    vars(m.np).update(vars(np), sin=np.cos)


def _builtin(m):
    m.range = lambda m: [1]


def _twin(m):
    """Another function that is written alike."""
    m.helper = m.twins(5.0)


@pytest.mark.parametrize(
    "change",
    [
        *(_rebound, _patched, _defaults, _named_defaults, _code, _member, _data, _attribute, _object),
        *(_numpy, _builtin, _twin),
    ],
)
def test_what_is_changed_while_a_program_runs_counts(change, module) -> None:
    text = PROGRAM + (
        "\n    def other(x, n=2.0):\n        return x * n\n"
        "    def twins(c):\n        def helper(x, n=2.0):\n            return x * c * n\n        return helper\n"
    )
    before, _ = gradient(module(text))
    changed = module(text)
    change(changed)
    found, _ = gradient(changed)
    tx.cache(None)
    plain = module(text)
    change(plain)
    assert found == np.asarray(tx.grad(plain.f)(X)).tolist() != before


def test_closures_are_told_apart(module) -> None:
    text = """
        def made(g, c):
            def f(x):
                return np.sum(g(x) * c)
            return f
        def square(x):
            return x * x
        def cube(x):
            return x * x * x
        f = made(square, 2.0)
        h = made(cube, 2.0)
        k = made(square, 3.0)
        l = made(square, np.array([1.0, 2.0]))
        both = lambda x: np.sum(x) * 2.0, lambda x: np.sum(x * x)
        first, second = both
    """
    names = ("f", "h", "k", "l", "first", "second")
    found = [gradient(module(text), of=name)[0] for name in names]
    again = module(text)
    assert [gradient(again, of=name) for name in names] == [(one, "read") for one in found]
    assert len({str(one) for one in found}) == len(names) and found[2] == [6.0, 12.0]


def test_functions_that_are_given_are_told_apart(module) -> None:
    text = """
        def square(x):
            return x * x
        def cube(x):
            return x * x * x
        def f(x, g):
            return np.sum(g(x))
    """
    m = module(text)
    found = [gradient(m, X, m.square), gradient(m, X, m.cube)]
    m = module(text)
    assert [gradient(m, X, m.square), gradient(m, X, m.cube)] == [(one, "read") for one, _ in found]
    assert found[0] != found[1]


def test_kinds_axes_and_options_are_told_apart(module) -> None:
    text = "def f(x, y, how=None):\n    return np.sum(x * y) if how is None else np.sum(x) * len(how)\n"
    cases = [
        (np.ones(2), np.ones(2)),
        (np.ones(1), np.ones(2)),
        (np.ones((2, 1)), np.ones((1, 2))),
        (np.ones(2, np.float32), np.ones(2)),
        (np.ones(2), np.ones(2), "ab"),
        (np.ones(2), np.ones(2), "abc"),
        (1.0, np.ones(2)),
    ]
    plain = [np.asarray(tx.grad(module(text).f)(*case)) for case in cases]
    again = module(text)
    for case, one in zip(cases, plain, strict=True):
        found = tx.grad(again.f)(*case)
        assert said(tx.grad(again.f)) == "read", case
        assert np.asarray(found).dtype == one.dtype and np.array_equal(found, one)
    assert gradient(again, *cases[0], wrt="y")[1] == "kept"
    with _without("dead"):
        assert gradient(again, *cases[0])[1] == "kept"


def _without(name):
    from tangentx.compile.pipeline import proofs

    return proofs(off=name)


def test_a_result_that_is_not_finite_is_found_with_guards(module) -> None:
    text = "def f(x):\n    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0) * x)\n"
    points = np.array([0.0, 4.0])
    first = tx.grad(module(text).f)(points)
    again = tx.grad(module(text).f)
    assert again(points + 1.0).shape == (2,) and said(again) == "read"
    assert np.array_equal(again(points), first) and np.isfinite(first).all()


def test_what_cannot_be_told_from_others_is_not_kept(module) -> None:
    text = """
        @tx.primitive
        def p(x):
            return x * 2.0
        @p.partials
        def _(x):
            return 2.0
        def f(x):
            return np.sum(p(x))
        LOG = []
        def writes(x):
            LOG.append(x)
            return np.sum(LOG[-1])
        def loops(x):
            return np.sum(x) * sum(1 for _ in iter([1, 2]))
    """
    m = module(text)
    assert "not kept" in gradient(m)[1] and "primitive" in gradient(m)[1]
    assert "not kept" in gradient(m, of="writes")[1]


def test_rules_that_are_declared_keep_texts_out(module, monkeypatch) -> None:
    gradient(module(PROGRAM))
    monkeypatch.setattr(disk_cache, "_own_rules", ["`lib.f`"])
    assert "rules are declared" in gradient(module(PROGRAM))[1]


def test_an_own_module_that_changed_counts(module, monkeypatch) -> None:
    gradient(module(PROGRAM))
    monkeypatch.setattr(package_digest, "digest", lambda: "another")
    assert gradient(module(PROGRAM))[1] == "kept"
    monkeypatch.setattr(np, "__version__", "1.0")
    assert gradient(module(PROGRAM))[1] == "kept"


def files(place):
    return [path for path in Path(place, "texts").rglob("*") if path.is_file()]


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "foreign", "garbage"])
@pytest.mark.parametrize("ask", ASKED)
def test_a_damaged_file_is_no_text(damage, ask, module, place) -> None:
    asked = ASKED[ask]
    first, _ = asked(module(PROGRAM))
    (path,) = files(place)
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[:-100])
    elif damage == "changed":
        path.write_bytes(content[:200] + b"\0" + content[201:])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "garbage":
        cache_files.write(str(path), marshal.dumps({"axes": None}))
    else:
        path.chmod(0o666)
    assert asked(module(PROGRAM)) == (first, "kept")
    assert asked(module(PROGRAM)) == (first, "read")


def test_a_directory_that_others_can_write_is_not_used(module, tmp_path, place) -> None:
    gradient(module(PROGRAM))
    place.chmod(0o777)
    assert "others can write" in gradient(module(PROGRAM))[1]
    with pytest.raises(PermissionError, match="others can write"):
        tx.cache(place)
    with pytest.raises(OSError):
        tx.cache("/proc/nowhere")
    tx.cache(tmp_path / "fresh")
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == 0o700


def test_a_directory_at_home(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    tx.cache("~/kept")
    assert cache_files.chosen() == str(tmp_path / "kept")
    cache_files._chosen.clear()
    monkeypatch.setenv("TANGENTX_CACHE", "~/other")
    assert cache_files.chosen() == cache_files.directory() == str(tmp_path / "other")


def test_texts_for_one_question_are_bounded(module, place) -> None:
    for i in range(disk_cache.LIMIT_VARIANTS + 3):
        m = module("def f(x):\n    return np.sum(x * K)\n")
        m.K = {f"k{i}": 1.0} and (np.ones(2) if i == 0 else np.ones((2,) * 0 + (2,), f"f{4 + 4 * (i % 2)}"))
        gradient(m)
    assert 0 < len(files(place)) <= disk_cache.LIMIT_VARIANTS


def dated(place):
    """The kept texts, as if they had been written a minute after one another, the ones without a date last."""
    found = sorted(files(place), key=lambda path: os.lstat(path).st_mtime)
    for i, path in enumerate(found):
        os.utime(path, (60.0 * i,) * 2)
    return found


def test_the_oldest_of_a_directory_are_removed(module, place, monkeypatch) -> None:
    programs = [PROGRAM.replace("3.0", f"{i}.5") for i in range(6)]
    for text in programs[:5]:
        gradient(module(text))
    before = dated(place)
    assert len(before) == 5
    monkeypatch.setattr(disk_cache, "LIMIT_BYTES", 3 * max(os.path.getsize(path) for path in before))
    monkeypatch.setattr(disk_cache, "_grown", {})  # as in another process
    assert gradient(module(programs[5]))[1] == "kept"
    left = files(place)
    assert set(before) & set(left) == set(before[3:]) and len(left) == 3
    assert not any(path.parent.exists() for path in before[:3])
    assert [gradient(module(text))[1] for text in (programs[5], programs[4], programs[3])] == ["read"] * 3
    assert gradient(module(programs[0]))[1] == "kept"


def test_processes_may_bound_a_directory_at_once(tmp_path) -> None:
    for i in range(300):
        (tmp_path / str(i % 20)).mkdir(exist_ok=True)
        (tmp_path / str(i % 20) / str(i)).write_bytes(bytes(10))
        os.utime(tmp_path / str(i % 20) / str(i), (60.0 * i,) * 2)
    threads = [threading.Thread(target=cache_files.bound, args=(str(tmp_path), 1000)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == set(map(str, range(200, 300)))


def test_threads_that_ask_at_once_get_the_same(module) -> None:
    m = module(PROGRAM)
    first, _ = gradient(m)
    m, found = module(PROGRAM), []
    threads = [threading.Thread(target=lambda: found.append(tx.grad(m.f)(X).tolist())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [first] * 8


def test_errors_name_the_line_still(module) -> None:
    text = "def f(x):\n    y = np.sum(x * x)\n    return y * TABLE[int(y)]\nTABLE = [1.0]\n"
    with pytest.raises(IndexError):
        gradient(module(text))
    derivative = tx.grad(module(text).f)
    with pytest.raises(IndexError):
        derivative(X)
    assert said(derivative) == "read"


SCRIPT = """
import sys
import numpy as np
import tangentx as tx
import program
gradient = tx.grad(program.f)
print(gradient(np.array([1.0, 2.0])).tolist(), gradient._cache.last.notes["kept"])
x = np.array([1.0, 2.0])
print([name for name in sys.modules if name.startswith(HEAVY)])
_, tangent = tx.jvp(program.f, (x,), (x,))
_, pullback = tx.vjp(program.f, x)
_, linear = tx.linearize(program.f, x)
print(float(tangent), pullback(1.0).tolist(), float(linear(x)))
print([name for name in sys.modules if name.startswith(HEAVY)])
"""
HEAVY = tuple(f"tangentx.{name}" for name in ("frontend", "analysis", "derive", "optimise", "templates", "compile"))


def processes(tmp_path, place, count):
    (tmp_path / "program.py").write_text("import numpy as np\n" + textwrap.dedent(PROGRAM))
    (tmp_path / "script.py").write_text(SCRIPT.replace("HEAVY", repr(HEAVY)))
    surroundings = {**os.environ, "TANGENTX_CACHE": str(place), "PYTHONPATH": os.pathsep.join((".", *sys.path))}
    command = [sys.executable, "script.py"]
    return [
        subprocess.Popen(command, cwd=tmp_path, env=surroundings, stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]


def test_other_processes_import_no_compiler(tmp_path, place) -> None:
    both = [process.communicate()[0].splitlines() for process in processes(tmp_path, place, 2)]
    (last,) = [process.communicate()[0].splitlines() for process in processes(tmp_path, place, 1)]
    assert last[1] == last[3] == "[]" and "read from" in last[0] and "tangentx.derive" in both[0][1]
    assert both[0][2] == both[1][2] == last[2]
    assert {lines[0].partition("]")[0] for lines in (*both, last)} == {last[0].partition("]")[0]}


@pytest.mark.parametrize("ask", ASKED)
def test_a_process_that_is_ended_while_it_writes_leaves_nothing_wrong(ask, module, place, monkeypatch) -> None:
    gradient = ASKED[ask]

    def ended(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "replace", ended)
        gradient(module(PROGRAM))
    assert files(place) == []
    (rest,) = [path for path in Path(place, "texts").rglob("*") if not any(path.iterdir())]
    (rest / ".half").write_bytes(b"half")  # as of one that was killed
    assert gradient(module(PROGRAM))[1] == "kept"
    assert gradient(module(PROGRAM))[1] == "read"


def test_parts_that_have_another_length_are_another_text(module) -> None:
    text = "def f(u, d):\n    return np.sum(d[1:] * (u[1:] - u[:-1]))\n"
    cases = [(np.arange(5.0), np.arange(5.0)), (np.arange(5.0), np.arange(2.0)), (np.arange(2.0), np.arange(5.0))]
    plain = [tx.grad(module(text).f)(*case) for case in cases]
    again = module(text)
    for case, one in zip(cases, plain, strict=True):
        found = tx.grad(again.f)(*case)
        assert said(tx.grad(again.f)) == "read" and np.array_equal(found, one)


VALUES = {
    "an axis": ("AXIS = 0", "AXIS = 1", "np.sum(np.sum(M * x, axis=AXIS)[0])"),
    "a shape": ("SHAPE = (2, 1)", "SHAPE = (1, 2)", "np.sum((x.reshape(SHAPE) * M)[0])"),
    "a place": ("PLACE = 0", "PLACE = 1", "x[PLACE] ** 2"),
    "a count": ("COUNT = 2", "COUNT = 3", "sum(x[0] ** i for i in range(COUNT))"),
    "a power": ("POWER = 2", "POWER = 3", "np.sum(x ** POWER)"),
    "a text": ("HOW = 'sum'", "HOW = 'prod'", "getattr(np, HOW)(x * x)"),
    "a member of an enumeration": (
        "class E(enum.Enum):\n    A = 2.0",
        "class E(enum.Enum):\n    A = 3.0",
        "np.sum(x) * E.A.value",
    ),
    "a partial": ("g = functools.partial(np.power, 2.0)", "g = functools.partial(np.power, 3.0)", "np.sum(g(x))"),
    "functions in a tuple": ("FS = (np.sin, np.cos)", "FS = (np.cos, np.sin)", "np.sum(FS[0](x))"),
    "a base": ("class B:\n    k = 2.0", "class B:\n    k = 3.0", "np.sum(x) * C().k"),
    "a property": (
        "class B:\n    @property\n    def k(self):\n        return 2.0",
        "class B:\n    @property\n    def k(self):\n        return 3.0",
        "np.sum(x) * C().k",
    ),
    "a wrapped helper": (
        "@functools.lru_cache\ndef h(n):\n    return n * 2.0",
        "@functools.lru_cache\ndef h(n):\n    return n * 3.0",
        "np.sum(x) * h(1)",
    ),
    "a list": ("L = [1.0, 2.0]", "L = [1.0, 2.0, 3.0]", "np.sum(x) * sum(L)"),
    "a dict": ("D = {'a': 1.0}", "D = {'b': 2.0}", "np.sum(x) * sum(D.values())"),
    "whether there is something": ("D = {'a': 1.0}", "D = {'a': 1.0, 'b': 2.0}", "np.sum(x) * ('b' in D) + x[0]"),
    "a boolean": ("NEGATIVE = False", "NEGATIVE = True", "-np.sum(x) if NEGATIVE else np.sum(x)"),
    "a dtype": ("T = np.float32", "T = np.float64", "np.sum(x.astype(T) * (1.0 + 1e-9))"),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_a_program_reads_is_what_it_reads_now(name, module) -> None:
    """In the same file with another value at run time, and in another file."""
    before, after, result = VALUES[name]
    head = "import enum\nimport functools\nM = np.arange(4.0).reshape(2, 2)\n"
    tail = "\nclass C(B):\n    pass\n" if "class B" in before else ""
    body = f"{tail}\ndef f(x):\n    return {result}\n"
    text = head + before + body
    outcome(module(text))
    edited = module(head + after + body)
    changed = module(text)
    exec(after + (tail if "class" in after else ""), vars(changed))
    found = [outcome(m) for m in (edited, changed)]
    tx.cache(None)
    for m in (edited, changed):
        held(m.f).made.clear()
    assert found == [outcome(m) for m in (edited, changed)]


def outcome(module):
    """The gradient, or the class of the error: code that no file has is refused."""
    try:
        return np.asarray(tx.grad(module.f, fallback="error")(X)).tolist()
    except tx.TangentxError as error:
        return type(error)


def test_a_text_of_which_python_would_warn_is_kept_without_a_word(module) -> None:
    """Warnings are errors here: it was a SyntaxError of our own."""
    for how in ("kept", "read"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = module("def f(x, n=3): return np.sum(x * x) if n is 3 else np.sum(x)")
        assert gradient(program) == ([2.0, 4.0], how)


def test_functions_of_a_script_and_of_a_shell(module, monkeypatch) -> None:
    import __main__

    text = "def g(x):\n    return x * K\ndef f(x):\n    return np.sum(g(x) * g(x))\n"
    spaces = []
    for k in (2.0, 3.0, np.ones(2)):
        name = "<ipython-input-7>"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        space = {"np": np, "K": k, "__name__": "__main__"}
        exec(compile(text, name, "exec"), space)
        spaces.append(space)
    found = [gradient(_Space(space)) for space in spaces]
    assert [how for _, how in found] == ["kept", "read", "kept"]
    assert [one for one, _ in found] == [[8.0, 16.0], [18.0, 36.0], [2.0, 4.0]]
    for name in ("f", "g", "K", "np"):
        monkeypatch.setattr(__main__, name, spaces[0][name], raising=False)
    assert gradient(_Space(spaces[0]))[0] == [8.0, 16.0]


class _Space:
    def __init__(self, names):
        self.__dict__.update(names)
