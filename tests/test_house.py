"""The rules of the house: one-way imports, tests that mirror the package, short functions, documented names."""

import ast
import fnmatch
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tangentx"
MODULES = sorted(PACKAGE.rglob("*.py"))
NAMES = [str(path.relative_to(PACKAGE)) for path in MODULES]

# From the ground up. A module imports from lower layers only; those of one layer do not know each other.
LAYERS = (
    ("errors", "axes", "quiet"),
    ("source", "naming", "arrays", "trees", "differences", "hits", "routes", "switches", "spec", "guests"),
    ("ir", "templates", "points"),
    ("analysis",),
    ("frontend", "derive", "optimise", "backend", "tensor"),
    ("pipeline",),
    ("derivative", "demands", "guards", "mapping", "results", "kept", "faults", "matching", "belongings"),
    ("showing", "reference"),
    ("batches",),
    ("transforms",),
    ("fallback",),
    ("observing",),
    ("compilation",),
    ("sweeps", "prediction", "sizes", "nesting"),
    ("linear",),
    ("products", "directions"),
    ("recorded",),
    ("pickling",),
    ("objects",),
    ("differentiable", "inside", "vectorised", "sparse", "opaque"),
    ("api",),
    ("testing", "verification"),
    ("__init__",),
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}

# Who may import what does not come with Python. Everybody may import NumPy.
FOREIGN = {
    "numpy": ("*",),
    "gast": ("frontend/*", "backend/*"),
    "astor": ("backend/printer.py",),
}

# Modules whose test is not tests/<package>/test_<module>.py: pattern -> the file that covers them.
COVERED_BY = {
    "arrays/*.py": "tests/test_arrays.py",
    "templates/*.py": "tests/templates/test_templates.py",
    "backend/*.py": "tests/backend/test_text.py",
    "analysis/attempts.py": "tests/frontend/test_attempts.py",
    "analysis/unbound.py": "tests/frontend/test_unbound.py",
    "analysis/constants.py": "tests/test_observing.py",
    "analysis/foreign.py": "tests/test_observing.py",
    "ir/observed.py": "tests/test_observing.py",
    "analysis/runs.py": "tests/tensor/test_runs.py",
    "frontend/loosely.py": "tests/tensor/test_runs.py",
    "frontend/loosened.py": "tests/tensor/test_runs.py",
    "frontend/opaque.py": "tests/test_opaque.py",
    "ir/attempts.py": "tests/frontend/test_attempts.py",
    "analysis/apart.py": "tests/analysis/test_checkpoints.py",
    "analysis/collections_.py": "tests/analysis/test_standins.py",
    "analysis/courses.py": "tests/analysis/test_elements.py",
    "analysis/indices.py": "tests/analysis/test_elements.py",
    "derive/staying.py": "tests/derive/test_again.py",
    "derive/steps.py": "tests/derive/test_again.py",
    "analysis/dicts.py": "tests/analysis/test_standins.py",
    "analysis/fills.py": "tests/analysis/test_writers.py",
    "analysis/folds.py": "tests/analysis/test_standins.py",
    "analysis/holders.py": "tests/analysis/test_flats.py",
    "analysis/inlining.py": "tests/analysis/test_standins.py",
    "analysis/lists.py": "tests/analysis/test_standins.py",
    "analysis/parts.py": "tests/analysis/test_flats.py",
    "analysis/sequences.py": "tests/analysis/test_expressions.py",
    "analysis/containers.py": "tests/analysis/test_expressions.py",
    "analysis/outline.py": "tests/analysis/test_layouts.py",
    "analysis/choices.py": "tests/analysis/test_functions.py",
    "analysis/identity.py": "tests/analysis/test_functions.py",
    "analysis/indexing.py": "tests/analysis/test_expressions.py",
    "analysis/methods.py": "tests/analysis/test_expressions.py",
    "analysis/specials.py": "tests/analysis/test_expressions.py",
    "analysis/writes.py": "tests/analysis/test_expressions.py",
    "frontend/cells.py": "tests/frontend/test_functions.py",
    "frontend/scopes.py": "tests/frontend/test_functions.py",
    "frontend/quiet.py": "tests/frontend/test_iterators.py",
    "frontend/cycles.py": "tests/frontend/test_loops.py",
    "frontend/sources.py": "tests/frontend/test_loops.py",
    "derive/calls.py": "tests/derive/test_pairs.py",
    "derive/entry.py": "tests/derive/test_pairs.py",
    "derive/pullbacks.py": "tests/derive/test_pairs.py",
    "derive/roots.py": "tests/derive/test_pairs.py",
    "derive/gifts.py": "tests/derive/test_statements.py",
    "derive/views.py": "tests/derive/test_statements.py",
    "derive/groups.py": "tests/derive/test_records.py",
    "optimise/shaping.py": "tests/optimise/test_shapes.py",
    "derive/contents.py": "tests/derive/test_snapshots.py",
    "ir/exposure.py": "tests/derive/test_snapshots.py",
    "ir/sweeps.py": "tests/optimise/test_cut.py",
    "derive/once.py": "tests/derive/test_snapshots.py",
    "derive/reruns.py": "tests/derive/test_snapshots.py",
    "derive/spots.py": "tests/derive/test_snapshots.py",
    "derive/states.py": "tests/derive/test_snapshots.py",
    "derive/handed.py": "tests/derive/test_results.py",
    "sparse/*.py": "tests/test_sparse.py",
    "derive/members.py": "tests/test_vectorised.py",
    "derive/kept.py": "tests/derive/test_split.py",
    "derive/half.py": "tests/derive/test_split.py",
    "derive/passages.py": "tests/derive/test_split.py",
    "derive/sides.py": "tests/derive/test_split.py",
    "linear.py": "tests/test_products.py",
    "matching.py": "tests/test_products.py",
    "derive/places.py": "tests/derive/test_jacobians.py",
    "derive/products.py": "tests/analysis/test_derivatives.py",
    "inside.py": "tests/analysis/test_derivatives.py",
    "mapping.py": "tests/test_vectorised.py",
    "batches.py": "tests/derive/test_batching.py",
    "analysis/batch_marks.py": "tests/derive/test_batching.py",
    "derive/batch_operands.py": "tests/derive/test_batching.py",
    "derive/batch_keys.py": "tests/derive/test_batching.py",
    "derive/batch_rules.py": "tests/derive/test_batching.py",
    "analysis/batches.py": "tests/derive/test_batching.py",
    "analysis/copied.py": "tests/analysis/test_derivatives.py",
    "nesting.py": "tests/analysis/test_derivatives.py",
    "sizes.py": "tests/derive/test_jacobians.py",
    "transforms.py": "tests/derive/test_jacobians.py",
    "derive/jvp.py": "tests/derive/test_forward.py",
    "derive/tangents.py": "tests/derive/test_forward.py",
    "optimise/memory.py": "tests/optimise/test_dead.py",
    "optimise/notes.py": "tests/optimise/test_dead.py",
    "optimise/summary.py": "tests/optimise/test_dead.py",
    "optimise/unit.py": "tests/optimise/test_dead.py",
    "optimise/__init__.py": "tests/test_pipeline.py",
    "optimise/bounds.py": "tests/optimise/test_guards.py",
    "optimise/exact.py": "tests/optimise/test_hazards.py",
    "optimise/reading.py": "tests/optimise/test_live.py",
    "demands.py": "tests/test_bad_input.py",
    "differentiable.py": "tests/test_api.py",
    "objects.py": "tests/test_derivative.py",
    "belongings.py": "tests/test_derivative.py",
    "guests.py": "tests/test_recorded.py",
    "spec.py": "tests/test_api.py",
    "switches.py": "tests/test_pipeline.py",
    "analysis/claims.py": "tests/test_checked.py",
    "optimise/witness.py": "tests/test_checked.py",
    "reference.py": "tests/test_checked.py",
    "verification.py": "tests/test_checked.py",
    "pickling.py": "tests/test_derivative.py",
    "results.py": "tests/test_derivative.py",
    "sweeps.py": "tests/test_products.py",
    "points.py": "tests/test_testing.py",
    "__init__.py": "tests/tensor/test_methods.py",
    "tensor/__init__.py": "tests/tensor/test_methods.py",
    "tensor/asked.py": "tests/tensor/test_special.py",
    "tensor/autograd.py": "tests/tensor/test_reference.py",
    "tensor/blame.py": "tests/tensor/test_reference.py",
    "tensor/checking.py": "tests/tensor/test_reference.py",
    "tensor/checkpoints.py": "tests/tensor/test_reference.py",
    "tensor/compiled.py": "tests/test_recorded.py",
    "tensor/core.py": "tests/tensor/test_methods.py",
    "tensor/drawing.py": "tests/tensor/test_engine.py",
    "tensor/forms.py": "tests/tensor/test_apply.py",
    "tensor/functions.py": "tests/tensor/test_reference.py",
    "tensor/holding.py": "tests/tensor/test_apply.py",
    "tensor/texts.py": "tests/tensor/test_shortened.py",
    "tensor/unrecorded.py": "tests/tensor/test_shortened.py",
    "tensor/unwrapping.py": "tests/tensor/test_shortened.py",
    "tensor/graph.py": "tests/tensor/test_engine.py",
    "tensor/groups.py": "tests/tensor/test_apply.py",
    "tensor/jacobians.py": "tests/test_fallback.py",
    "tensor/lifting.py": "tests/tensor/test_apply.py",
    "tensor/makers.py": "tests/tensor/test_tracing.py",
    "tensor/making.py": "tests/tensor/test_methods.py",
    "tensor/members.py": "tests/tensor/test_methods.py",
    "tensor/operation.py": "tests/tensor/test_apply.py",
    "tensor/outcome.py": "tests/tensor/test_tracing.py",
    "tensor/known.py": "tests/tensor/test_unknown.py",
    "tensor/programs.py": "tests/tensor/test_histories.py",
    "tensor/reach.py": "tests/tensor/test_unknown.py",
    "tensor/theirs.py": "tests/tensor/test_unknown.py",
    "tensor/places.py": "tests/tensor/test_engine.py",
    "tensor/public.py": "tests/tensor/test_methods.py",
    "tensor/quick.py": "tests/tensor/test_apply.py",
    "tensor/seeds.py": "tests/tensor/test_reference.py",
    "tensor/ufuncs.py": "tests/tensor/test_methods.py",
    "tensor/conversion.py": "tests/tensor/test_tracing.py",
    "tensor/overlaps.py": "tests/tensor/test_tracing.py",
    "tensor/torch_names.py": "tests/tensor/test_reference.py",
    "tensor/units.py": "tests/tensor/test_reference.py",
    "tensor/watching.py": "tests/tensor/test_reference.py",
    "tensor/writes.py": "tests/tensor/test_storage.py",
    "tensor/writing.py": "tests/tensor/test_storage.py",
    "tensor/outputs.py": "tests/tensor/test_storage.py",
    "tensor/states.py": "tests/tensor/test_reference.py",
    "tensor/written.py": "tests/tensor/test_storage.py",
}

LONGEST_FUNCTION = 40


def parsed(path):
    return ast.parse(path.read_text(), str(path))


def imports(path):
    """Every dotted name that a module imports, at its top or inside a function, with the line."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                here = ("tangentx", *path.relative_to(PACKAGE).parent.parts)
                parts = here[: len(here) - node.level + 1]
                base = ".".join((*parts, base) if base else parts)
            if base == "tangentx":
                yield from ((f"tangentx.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield base, node.lineno


def part_of(dotted):
    """The part of the package that a dotted name belongs to; the package's own names belong to `__init__`."""
    parts = dotted.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in LAYER else "__init__"


def home(path):
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def wrong_imports(path):
    here = home(path)
    for dotted, line in imports(path):
        top = dotted.split(".")[0]
        name = str(path.relative_to(PACKAGE))
        if top == "tangentx":
            there = part_of(dotted)
            if there != here and LAYER[there] >= LAYER[here]:
                yield f"{name}:{line}: {here} imports {dotted}, which is not below it"
        elif top not in sys.stdlib_module_names:
            if not any(fnmatch.fnmatch(name, pattern) for pattern in FOREIGN.get(top, ())):
                yield f"{name}:{line}: imports {top}"


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_imports_go_one_way(path):
    assert home(path) in LAYER, f"give {home(path)} its layer in LAYERS"
    assert list(wrong_imports(path)) == []


def test_a_wrong_import_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "ir").mkdir()
    file = tmp_path / "ir" / "bad.py"
    file.write_text(
        "import tangentx.errors\n"
        "from . import nodes\n"
        "def f():\n"
        "    from tangentx import grad\n"
        "    from tangentx.templates import table\n"
        "    from ..derive import reverse\n"
        "    import gast.astn\n"
    )
    assert [text.split(":")[1] for text in wrong_imports(file)] == ["4", "5", "6", "7"]


def test_importing_the_package_loads_no_compiler():
    heavy = ["gast", "astor", "numba", "cupy", "scipy", "matplotlib", "hypothesis", "pytest"]
    code = f"import sys, tangentx; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def has_code(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return path.name != "__init__.py" or any(isinstance(node, kinds) for node in parsed(path).body)


@pytest.mark.parametrize("path", [path for path in MODULES if has_code(path)], ids=str)
def test_every_module_has_its_test(path):
    name = path.relative_to(PACKAGE)
    own = ROOT / "tests" / name.with_name(f"test_{name.name}")
    patterns = [pattern for pattern in COVERED_BY if fnmatch.fnmatch(str(name), pattern)]
    assert own.exists() or patterns, f"write {own.relative_to(ROOT)}, or enter {name} in COVERED_BY"
    assert not (own.exists() and str(name) in patterns), f"{name} has a test of its own: take it out of COVERED_BY"


@pytest.mark.parametrize("pattern, test", COVERED_BY.items())
def test_covered_by_names_what_exists(pattern, test):
    assert fnmatch.filter(NAMES, pattern), f"no module is {pattern}"
    assert (ROOT / test).exists()


def lengths(path):
    """The lines of each function, its docstring not counted."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            doc = node.body[0] if ast.get_docstring(node) is not None else None
            without = 0 if doc is None else doc.end_lineno - doc.lineno + 1
            yield node.name, node.end_lineno - node.lineno + 1 - without


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_functions_are_short(path):
    assert [(name, lines) for name, lines in lengths(path) if lines > LONGEST_FUNCTION] == []


@pytest.mark.parametrize("path", [path for path in MODULES if path.read_text().strip()], ids=str)
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(parsed(path))


def test_public_names_are_documented():
    import tangentx

    text = (ROOT / "README.md").read_text() + (ROOT / "ARCHITECTURE.md").read_text()
    for name in tangentx.__all__:
        assert name in text, f"{name} is neither in README.md nor in ARCHITECTURE.md"
        public = getattr(tangentx, name)
        if callable(public):
            assert (public.__doc__ or "").strip(), f"{name} has no docstring"


def test_version_is_one_and_has_its_changes():
    import tangentx

    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert tangentx.__version__ == version
    assert f"\n## {version} " in (ROOT / "CHANGELOG.md").read_text()
