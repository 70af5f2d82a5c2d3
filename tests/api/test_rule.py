"""Rules for functions of libraries, declared by whoever uses them or brought by a package."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.dispatch import disk_cache
from tangentx.templates import registry
from tangentx.testing import check_grads, check_rule

special = pytest.importorskip("scipy.special")
signal = pytest.importorskip("scipy.signal")

X = np.array([0.5, 2.0, 3.0])


@pytest.fixture(autouse=True)
def _rules_go_again(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from tangentx.tensor.calls import rules

    monkeypatch.setattr(registry, "_TABLE", dict(registry._TABLE))
    monkeypatch.setattr(disk_cache, "_own_rules", [])
    yield
    for function in (special.powm1, special.it2j0y0, signal.wiener):
        rules.RULES.pop(function, None)


def declare_powm1() -> None:
    @tx.rule(special.powm1).partials
    def powm1(x, y):
        return y * x ** (y - 1.0), np.log(x) * x**y


def declare_it2j0y0() -> Any:
    rule = tx.rule(special.it2j0y0)

    @rule.adjoint
    def it2j0y0(x, *, ans_bar):
        x_bar = ans_bar[0] * (1.0 - special.j0(x)) / x + ans_bar[1] * -special.y0(x) / x
        return x_bar

    return rule


def powers(x, y):
    return np.sum(special.powm1(x, y) * x)


def test_partials_serve_all_modes() -> None:
    with pytest.raises(tx.NoTemplate, match="give it one with `tx.rule`"):
        tx.grad(powers, fallback="error")(X, 2.5)
    declare_powm1()
    found = tx.grad(powers, wrt=(0, 1), fallback="error")(X, 2.5)
    np.testing.assert_allclose(found[0], 3.5 * X**2.5 - 1.0)
    assert found[1] == pytest.approx(np.sum(np.log(X) * X**3.5))
    check_grads(powers, (X, 2.5), wrt=(0, 1))
    check_rule(special.powm1, X, 2.5)
    np.testing.assert_allclose(tx.vmap(tx.grad(powers), in_axes=(0, None))(np.stack([X, X]), 2.5)[1], found[0])
    t = tx.tensor(X, requires_grad=True)
    powers(t, 2.5).backward()
    np.testing.assert_allclose(t.grad.numpy(), found[0])


def test_an_adjoint_of_several_results() -> None:
    rule = declare_it2j0y0()
    assert tx.grad(lambda x: special.it2j0y0(x)[0], fallback="error")(1.3) == pytest.approx(
        (1.0 - special.j0(1.3)) / 1.3
    )
    with pytest.raises(tx.NoTemplate, match="no `tangent` rule"):
        tx.jvp(lambda x: special.it2j0y0(x)[1], (1.3,), (1.0,), fallback="error")
    t = tx.tensor(1.3, requires_grad=True)
    (special.it2j0y0(t)[1] * t).backward()
    assert t.grad.item() == pytest.approx(-special.y0(1.3) + special.it2j0y0(1.3)[1])

    @rule.tangent
    def it2j0y0_tangent(x, *, x_dot):
        return (1.0 - special.j0(x)) / x * x_dot, -special.y0(x) / x * x_dot

    check_rule(special.it2j0y0, X)


def test_a_function_with_more_parameters_than_its_rule() -> None:
    @tx.rule(signal.wiener).adjoint
    def wiener(im, mysize, *, ans_bar):
        im_bar = 0.0 * ans_bar
        return im_bar

    assert np.all(tx.grad(lambda x: np.sum(signal.wiener(x, mysize=3)), fallback="error")(X) == 0.0)
    with pytest.raises(tx.NoTemplate, match="no derivative for .*noise"):
        tx.grad(lambda x: np.sum(signal.wiener(x, 3, noise=0.1)), fallback="error")(X)
    with pytest.raises(AssertionError, match="differences"):
        check_rule(signal.wiener, np.arange(5.0) ** 2, 3, order=1, modes=("reverse",))


def test_what_is_no_rule_is_refused_where_it_is_declared() -> None:
    with pytest.raises(tx.NoTemplate, match="has a rule already"):
        tx.rule(special.erf)
    with pytest.raises(tx.NoTemplate, match="has a rule already"):
        tx.rule(signal.lfilter)
    with pytest.raises(tx.NoTemplate, match="not for 3"):
        tx.rule(3)
    rule = tx.rule(special.powm1)
    with pytest.raises(tx.NoTemplate, match=r"takes 1 arguments, but `powm1` takes 2"):
        rule.partials(lambda x: x)
    with pytest.raises(tx.NoTemplate, match=r"\(image\), but `scipy.signal.wiener` takes \(im, mysize, noise\)"):

        @tx.rule(signal.wiener).adjoint
        def wiener(image, *, ans_bar):
            image_bar = ans_bar
            return image_bar

    declare_powm1()
    with pytest.raises(tx.NoTemplate, match="has a rule already"):
        tx.rule(special.powm1)
    with pytest.raises(tx.NoTemplate, match="kolmogorov` has no derivative rule"):
        check_rule(special.kolmogorov, 1.0)


def test_the_check_finds_what_a_rule_may_not_be_for() -> None:
    class Library:
        @staticmethod
        def kept(x):
            return x

        @staticmethod
        def written(x):
            x *= 2.0
            return x * 1.0

    for function, said in ((Library.kept, "memory of an argument"), (Library.written, "writes into its arguments")):

        @tx.rule(function).adjoint
        def rule(x, *, ans_bar):
            x_bar = ans_bar
            return x_bar

        with pytest.raises(AssertionError, match=said):
            check_rule(function, X.copy())


PACKAGE = {
    "heights.py": "def height(x):\n    return float(x) ** 2\n",
    "heights_for_tangentx.py": (
        "import tangentx as tx, heights\n@tx.rule(heights.height).partials\ndef height(x):\n    return 2.0 * x\n"
    ),
    "heights-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: heights\nVersion: 1.0\n",
    "heights-1.0.dist-info/entry_points.txt": (
        "[tangentx.rules]\nheights = heights_for_tangentx\njson.tool = heights_that_are_not_there\n"
    ),
    "program.py": (
        "import warnings, tangentx as tx, sys\n"
        "def f(x):\n    import heights\n    return 3.0 * heights.height(x)\n"
        "print(tx.grad(lambda x: 2.0 * x)(1.0), 'heights_for_tangentx' in sys.modules)\n"
        "import heights\n"
        "def g(x):\n    return 3.0 * heights.height(x)\n"
        "print(tx.grad(g, fallback='error')(2.0), 'heights_for_tangentx' in sys.modules)\n"
        "import json.tool\n"
        "with warnings.catch_warnings(record=True) as said:\n"
        "    warnings.simplefilter('always')\n"
        "    print(tx.grad(lambda x: abs(heights.height(x)), fallback='error')(2.0))\n"
        "    tx.ops()\n"
        "print(*{str(w.message)[:80] for w in said if 'entry point' in str(w.message)})\n"
    ),
}


def test_a_package_brings_rules(tmp_path: Path) -> None:
    for name, text in PACKAGE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    root = Path(tx.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{root}:{tmp_path}", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    first, second, third, said = run.stdout.splitlines()
    assert (first, second, third) == ("2.0 False", "12.0 True", "4.0")
    assert said.startswith("the rules for json.tool in heights_that_are_not_there")


def test_a_package_brings_rules_for_a_library_that_was_imported_before(tmp_path: Path) -> None:
    """They import this package, of which modules are being imported when the library's own rules are asked for."""
    (tmp_path / "more-1.0.dist-info").mkdir()
    (tmp_path / "more-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1.0\n")
    (tmp_path / "more-1.0.dist-info/entry_points.txt").write_text("[tangentx.rules]\nscipy.special = more_rules\n")
    (tmp_path / "more_rules.py").write_text(
        "import tangentx as tx\nfrom scipy import special\n"
        "@tx.rule(special.itmodstruve0).partials\ndef rule(x):\n    return special.modstruve(0.0, x)\n"
    )
    (tmp_path / "program.py").write_text(
        "from scipy import special\nimport tangentx as tx\n"
        "print(tx.grad(lambda x: special.itmodstruve0(x), fallback='error')(0.5) - special.modstruve(0.0, 0.5))\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "program.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{Path(tx.__file__).parents[1]}:{tmp_path}", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "0.0"


def test_a_rule_need_not_be_linear_so_products_keep_their_guards() -> None:
    @tx.rule(special.it2j0y0).adjoint
    def clipped(x, *, ans_bar):
        x_bar = np.fmin(np.fmax(ans_bar[0], -1.0), 1.0)
        return x_bar

    def f(x):
        return np.sum(np.sqrt(special.it2j0y0(x)[0] * x))

    text = tx.grad(f, fallback="error").source_for(X)
    assert "no guards" not in text and "guarded(" in text
