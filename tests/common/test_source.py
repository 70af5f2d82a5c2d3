"""The source that is found is the one that runs, or the function is refused."""

from __future__ import annotations
import __future__

import ast
import doctest
import functools
import importlib.util
import linecache
import os
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from tangentx.common import source
from tangentx.errors import NoSource, StaleSource

Write = Callable[[str], ModuleType]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a module's text (over the one before) and import it anew."""
    name, path = "written_source", tmp_path / "written_source.py"

    def make(text: str) -> ModuleType:
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True), module.__dict__)
        return module

    return make


def rewrite(module: ModuleType, text: str) -> None:
    """Edit the module's file under its feet."""
    assert module.__file__ is not None
    path = Path(module.__file__)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 10**9))


def enter(name: str, text: str, **scope: Any) -> dict[str, Any]:
    """Run a text that linecache alone knows, as notebooks do."""
    text = textwrap.dedent(text)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec", dont_inherit=True), scope)
    return scope


def body(function: FunctionType) -> str:
    """Text of a lambda's body, or of a function's statements."""
    tree = source.find(function).tree
    return ast.unparse(tree.body) if isinstance(tree, ast.Lambda) else "\n".join(map(ast.unparse, tree.body))


def test_plain_function_with_lines_of_the_file(write: Write) -> None:
    module = write("import math\n\ndef f(x):\n    y = x * 2\n    return y\n")
    found = source.find(module.f)
    assert (found.file, found.tree.lineno, found.lines[3]) == (module.__file__, 3, "    y = x * 2")
    assert isinstance(found.tree, ast.FunctionDef)
    span = found.span(found.tree.body[1])
    assert (span.line, span.column, span.text) == (5, 4, "    return y")


def test_column_counts_characters_not_bytes(write: Write) -> None:
    found = source.find(write("def f(å, b): return å + (b * 2)\n").f)
    assert isinstance(found.tree, ast.FunctionDef)
    product = found.tree.body[0].value.right  # type: ignore[attr-defined]
    span = found.span(product)
    assert span.text[span.column :] == "b * 2)"


def test_node_without_place_stands_at_the_function(write: Write) -> None:
    found = source.find(write("\ndef f(x): return x\n").f)
    assert found.span(found.tree.args).line == 2


def test_two_lambdas_on_one_line(write: Write) -> None:
    module = write("a, b = (lambda x: x * 2), (lambda x: x * 3)\n")
    assert (body(module.a), body(module.b)) == ("x * 2", "x * 3")


def test_equal_lambdas_on_one_line_have_their_own_columns(write: Write) -> None:
    module = write(
        """
        def outer(p, q):
            return [(lambda c: lambda x: c * x)(p), (lambda c: lambda x: c * x)(q)]
        first, second = outer(1, 2)
        """
    )
    columns = [source.find(f).tree.col_offset for f in (module.first, module.second)]
    line = "    return [(lambda c: lambda x: c * x)(p), (lambda c: lambda x: c * x)(q)]"
    assert columns == [line.index("lambda x"), line.rindex("lambda x")]


def test_equal_lambdas_keep_their_columns_when_shifted(write: Write) -> None:
    text = "a, b = (lambda x: x * 2), (lambda x: x * 2)\n"
    module = write(text)
    rewrite(module, "\n\n\n" + text)
    trees = [source.find(f).tree for f in (module.a, module.b)]
    assert [(tree.lineno, tree.col_offset) for tree in trees] == [(4, 8), (4, 27)]


def test_lambda_over_several_lines_and_inside_another(write: Write) -> None:
    module = write("f = (lambda x: (\n    lambda y: x +\n        y))\ng = f(1)\n")
    assert body(module.f).startswith("lambda y")
    assert body(module.g) == "x + y"


@pytest.mark.parametrize("pair", ["1, 1.0", "1, True", "0.0, -0.0", "'a', b'a'", "0.0, 0j", "1, (1,)"])
def test_constants_that_compare_equal_are_told_apart(write: Write, pair: str) -> None:
    first, _, second = pair.partition(", ")
    module = write(f"def f(x): return x, {first}\n")
    source.find(module.f)
    rewrite(module, f"def f(x): return x, {second}\n")
    with pytest.raises(StaleSource):
        source.find(module.f)


def test_nested_constants_are_told_apart(write: Write) -> None:
    module = write("def f(x):\n    return lambda: (x, (1, (2, 0.0)), x in {1, 2})\n")
    rewrite(module, "def f(x):\n    return lambda: (x, (1, (2, -0.0)), x in {1, 2})\n")
    with pytest.raises(StaleSource):
        source.find(module.f)
    rewrite(module, "def f(x):\n    return lambda: (x, (1, (2, 0.0)), x in {1, 2})\n")
    assert source.find(module.f).tree.lineno == 1


def test_lines_inserted_above(write: Write) -> None:
    text = "def f(x):\n    return [x for _ in range(3)]\n"
    module = write(text)
    before = source.find(module.f)
    rewrite(module, "import os\n# more\n" + text)
    after = source.find(module.f)
    assert (before.tree.lineno, after.tree.lineno) == (1, 3)
    assert after.lines[0] == "import os"


def test_edited_function_is_stale_until_reloaded(write: Write) -> None:
    module = write("def f(x):\n    return x * 2\n")
    source.find(module.f)
    rewrite(module, "\ndef f(x):\n    return x * 3\n")
    with pytest.raises(StaleSource, match="edited") as caught:
        source.find(module.f)
    span = caught.value.span
    assert span is not None
    assert (span.file, span.line, span.text) == (module.__file__, 2, "def f(x):")
    assert "reload" in caught.value.hint
    assert body(write("\ndef f(x):\n    return x * 3\n").f) == "return x * 3"


def test_renamed_function_is_stale_and_removed_one_has_no_source(write: Write) -> None:
    module = write("def f(x):\n    return x * 2\n")
    rewrite(module, "def g(x):\n    return x * 2\n")
    with pytest.raises(StaleSource, match=r"`f` is not what"):
        source.find(module.f)
    rewrite(module, "x = 1\n")
    with pytest.raises(NoSource, match=r":1: the file holds no function f"):
        source.find(module.f)


def test_file_that_no_longer_compiles(write: Write) -> None:
    module = write("def f(x):\n    return x\n")
    rewrite(module, "def f(x):\n    return x\nx = = 1\n")
    with pytest.raises(StaleSource, match="does not compile") as caught:
        source.find(module.f)
    assert caught.value.span is not None
    assert caught.value.span.line == 3


def test_file_that_is_gone(write: Write) -> None:
    module = write("def f(x):\n    return x\n")
    assert module.__file__ is not None
    Path(module.__file__).unlink()
    with pytest.raises(NoSource, match="cannot be read"):
        source.find(module.f)


def test_one_of_two_definitions_of_one_name(write: Write) -> None:
    module = write("def f(x): return x + 1\nfirst = f\ndef f(x): return x + 2\n")
    assert (body(module.first), body(module.f)) == ("return x + 1", "return x + 2")


def test_equal_definitions_the_nearest_wins(write: Write) -> None:
    text = "def f(x): return x\nfirst = f\n\ndef f(x): return x\n"
    module = write(text)
    assert [source.find(f).tree.lineno for f in (module.first, module.f)] == [1, 4]
    rewrite(module, "#\n" + text)
    assert [source.find(f).tree.lineno for f in (module.first, module.f)] == [2, 5]


def test_replaced_code_is_seen(write: Write) -> None:
    module = write("def f(x): return x + 1\ndef g(x): return x + 2\n")
    assert body(module.f) == "return x + 1"
    module.f.__code__ = module.g.__code__
    assert body(module.f) == "return x + 2"


def test_decorated_function_and_wrapper(write: Write) -> None:
    module = write(
        """
        import functools
        def keep(f): return f
        def wrap(f):
            @functools.wraps(f)
            def inner(*args): return f(*args)
            return inner

        @keep
        @keep
        def plain(x): return x + 1

        @wrap
        def wrapped(x): return x + 2
        """
    )
    assert source.find(module.plain).tree.lineno == 11
    assert body(module.wrapped) == "return f(*args)"
    assert body(module.wrapped.__wrapped__) == "return x + 2"


def test_methods_private_names_and_their_class(write: Write) -> None:
    module = write(
        """
        class Outer:
            def plain(self): return self.__x
            class _Inner:
                def plain(self): return [lambda: self.__x]
                key = lambda self: self.__y
            @staticmethod
            def nested():
                def __f(): return 1
                return __f
        def free(): return 1
        """
    )
    inner = module.Outer._Inner
    owners = [(module.Outer.plain, "Outer"), (inner.plain, "_Inner"), (inner.key, "_Inner"), (module.free, "")]
    assert [source.find(f).owner for f, _ in owners] == [owner for _, owner in owners]
    assert source.find(inner.plain(inner())[0]).owner == "_Inner"
    assert source.find(module.Outer.nested()).tree.name == "__f"  # type: ignore[union-attr]


def test_private_name_depends_on_the_class(write: Write) -> None:
    module = write("class A:\n    def f(self): return self.__x\n")
    function = module.A.f
    rewrite(module, "class B:\n    def f(self): return self.__x\n")
    with pytest.raises(StaleSource):
        source.find(function)


def test_nested_async_and_generator_functions(write: Write) -> None:
    module = write(
        """
        def outer(n):
            k = n
            try:
                def closure(x): return x + k
            finally:
                last = lambda: k
            async def later(): return k
            def several(): yield k
            return closure, last, later, several
        """
    )
    closure, last, later, several = module.outer(1)
    assert (body(closure), body(last), body(several)) == ("return x + k", "k", "yield k")
    assert isinstance(source.find(later).tree, ast.AsyncFunctionDef)


def test_future_annotations_come_from_the_code(write: Write) -> None:
    module = write("from __future__ import annotations\ndef f(x: Undefined) -> None:\n    y: Other = x\n    return y\n")
    assert source.find(module.f).tree.lineno == 2


def test_future_flag_that_the_text_does_not_hold() -> None:
    text = "def f(x):\n    def g(y: int): return x\n    return g\n"
    name, scope = "<ipython-input-9-future>", {}  # type: ignore[var-annotated]
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec", __future__.annotations.compiler_flag, dont_inherit=True), scope)
    assert source.find(scope["f"]).tree.lineno == 1


def test_notebook_cells_and_a_cell_run_again() -> None:
    first = enter("<ipython-input-3-abc>", "def f(x):\n    return x * 2\n")["f"]
    assert source.find(first).file == "<ipython-input-3-abc>"
    second = enter("<ipython-input-4-abc>", "def f(x):\n    return x * 3\n")["f"]
    assert (body(first), body(second)) == ("return x * 2", "return x * 3")
    third = enter("<ipython-input-4-abc>", "def f(x):\n    return x * 4\n")["f"]
    assert body(third) == "return x * 4"
    with pytest.raises(StaleSource):
        source.find(second)


def test_cell_with_top_level_await() -> None:
    text = "async def nothing(): pass\nawait nothing()\ndef f(x): return x\n"
    name, scope = "<ipython-input-5-await>", {}  # type: ignore[var-annotated]
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    code = compile(text, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    with pytest.raises(StopIteration):
        eval(code, scope).send(None)
    assert source.find(scope["f"]).tree.lineno == 3


def test_doctest_examples() -> None:
    seen: list[str] = []
    text = ">>> def f(x):\n...     return x * 7\n>>> record(f)\n"
    example = doctest.DocTestParser().get_doctest(text, {"record": lambda f: seen.append(body(f))}, "shown", None, 0)
    result = doctest.DocTestRunner(verbose=False).run(example)
    assert (result.failed, seen) == (0, ["return x * 7"])


@pytest.mark.parametrize("name", ["<string>", "<stdin>", "<__array_function__ internals>"])
def test_text_that_nobody_kept(name: str) -> None:
    scope: dict[str, Any] = {}
    exec(compile("def f(x): return x\n", name, "exec"), scope)
    with pytest.raises(NoSource, match="was not kept") as caught:
        source.find(scope["f"])
    assert "linecache" in caught.value.hint
    assert f"{name}:1" in str(caught.value)


def test_exec_in_a_module_under_another_name_is_not_given_the_modules_text(write: Write) -> None:
    module = write("def f(x): return x\n")
    exec(compile("def g(x): return x\n", "no such file.py", "exec"), module.__dict__)
    with pytest.raises(NoSource, match="cannot be read"):
        source.find(module.g)


def test_module_in_a_zip_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("zipped_source.py", "\ndef f(x):\n    return x * 5\n")
    monkeypatch.syspath_prepend(str(tmp_path / "packed.zip"))
    module = importlib.import_module("zipped_source")
    monkeypatch.delitem(sys.modules, "zipped_source")
    assert body(module.f) == "return x * 5"


class Callee:
    def __call__(self, x: float) -> float:
        return x


@pytest.mark.parametrize("thing", [len, np.sin, Callee, Callee(), Callee().__call__, functools.partial(body), 3])
def test_what_is_no_python_function(thing: Any) -> None:
    with pytest.raises(NoSource, match=f"of type {type(thing).__name__}"):
        source.find(thing)


def asserting(x: float) -> float:
    """Holds what pytest rewrites."""
    assert x > 0, "positive"
    check = lambda y: y * 2
    assert (lambda y: y)(x) == x
    return check(x)


def test_functions_that_pytest_rewrote() -> None:
    def inner(x: float) -> float:
        assert x != 1
        return x + 3

    assert "@pytest_ar" in globals()
    assert asserting(2.0) == 4.0
    found = source.find(asserting)
    assert isinstance(found.tree, ast.FunctionDef)
    assert [type(s).__name__ for s in found.tree.body] == ["Expr", "Assert", "Assign", "Assert", "Return"]
    assert body(inner) == "assert x != 1\nreturn x + 3"
    assert found.lines[found.tree.lineno - 1].startswith("def asserting")


def test_rewritten_module_goes_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.register_assert_rewrite("rewritten_source")
    path = tmp_path / "rewritten_source.py"
    path.write_text("def f(x):\n    assert x\n    return x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("rewritten_source")
    monkeypatch.delitem(sys.modules, "rewritten_source")
    assert "@pytest_ar" in module.__dict__
    assert body(module.f) == "assert x\nreturn x"
    rewrite(module, "#\ndef f(x):\n    assert x\n    return x\n")
    assert source.find(module.f).tree.lineno == 2
    rewrite(module, "def f(x):\n    assert not x\n    return x\n")
    with pytest.raises(StaleSource):
        source.find(module.f)


def test_one_parse_serves_a_file_and_one_find_a_function(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    module = write("def f(x): return x\ndef g(x): return x\n")
    first = source.find(module.f)
    monkeypatch.setattr(source, "_surveyed", None)
    source.find(module.g)
    assert source.find(module.f) is first


def test_so_many_characters_of_files_are_kept(write: Write) -> None:
    half = "#" * (source.LIMIT_TEXT // 2)
    for n in range(4):
        source.find(write(f"def f(x): return x + {n}  {half}\n").f)
        assert source._SURVEYS.size() <= source.LIMIT_TEXT
    source.find(write(f"def f(x): return x  {half * 3}\n").f)
    assert len(source._SURVEYS) == 1


def test_files_of_one_text_are_not_mixed_up() -> None:
    names = ["<ipython-input-7-twin>", "<ipython-input-8-twin>"]
    twins = [enter(name, "def f(x): return x\n")["f"] for name in names]
    assert [source.find(f).file for f in twins] == names


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_functions_with_type_parameters(write: Write) -> None:
    module = write("class A[T]:\n    def f[S](self, x: S) -> S:\n        return x\n")
    found = source.find(module.A.f)
    assert (found.tree.lineno, found.owner) == (2, "A")


def test_compiler_warnings_are_not_repeated() -> None:
    name, text = "<ipython-input-6-warn>", "def f(x): return '\\d', x\n"
    scope: dict[str, Any] = {}
    with pytest.warns((SyntaxWarning, DeprecationWarning)):
        exec(compile(text, name, "exec"), scope)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    assert source.find(scope["f"]).tree.lineno == 1


def test_interactive_shell_of_newer_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    scope: dict[str, Any] = {}
    text = "def f(x): return x * 9\n"
    exec(compile(text, "<stdin>", "exec", dont_inherit=True), scope)
    kept = {scope["f"].__code__: [text]}
    monkeypatch.setattr(linecache, "_getlines_from_code", lambda code: kept.get(code, []), raising=False)
    assert body(scope["f"]) == "return x * 9"


SCRIPT = """
from tangentx.common import source
from tangentx.errors import NoSource
one = lambda x: x * 2
a, b = (lambda x: x + 1), (lambda x: x + 2)
def f(x):
    assert x, "dropped by -O"
    return x
print(source.find(one).tree.lineno, source.find(f).tree.lineno)
try:
    print(source.find(a).tree.col_offset, source.find(b).tree.col_offset)
except NoSource as error:
    print(error.span.line, error.hint)
"""


@pytest.mark.parametrize(
    "option, expected",
    [(["-OO"], "4 6\n8 27\n"), (["-X", "no_debug_ranges"], "4 6\n5 write each on a line of its own")],
)
def test_other_ways_to_run_python(tmp_path: Path, option: list[str], expected: str) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    scope = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run([sys.executable, *option, str(path)], capture_output=True, text=True, check=True, env=scope)
    assert done.stdout.startswith(expected)
