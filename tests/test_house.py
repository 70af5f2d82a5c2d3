"""The rules of the house: one-way imports, tests that mirror the package, short functions, documented names."""

import ast
import fnmatch
import graphlib
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tangentx"
MODULES = sorted(PACKAGE.rglob("*.py"))
NAMES = [str(path.relative_to(PACKAGE)) for path in MODULES]

# From the ground up. A module imports from lower layers only; those of one layer do not know each other.
LAYERS = (
    ("errors",),
    ("common",),
    ("arrays",),
    ("ir", "templates"),
    ("analysis",),
    ("frontend", "derive", "optimise", "backend", "tensor", "loops"),
    ("dispatch",),
    ("compile",),
    ("sparse",),
    ("api",),
    ("testing", "parallel", "amp"),
    ("optim",),
    ("nn",),
    ("__init__",),
    ("__main__",),
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}

# Who may import what does not come with Python. Everybody may import NumPy.
FOREIGN = {
    "numpy": ("*",),
    "gast": ("frontend/*", "backend/*"),
    "astor": ("backend/printer.py",),
    "numba": ("loops/run_numba.py",),  # when one asks for it
    "scipy": ("optim/lbfgs.py", "templates/scipy/*", "arrays/sparse_matrices.py"),  # the last when a system is solved
}

# Modules whose test is not tests/<package>/test_<module>.py: pattern -> the file that covers them.
COVERED_BY = {
    "ir/opaque_ops.py": "tests/compile/test_observation.py",
    "common/free_variables.py": "tests/frontend/test_resolve.py",
    "common/user_rules.py": "tests/api/test_custom_rules.py",
    "common/generated_text.py": "tests/backend/test_module_text.py",
    "common/cache_files.py": "tests/dispatch/test_disk_cache.py",
    "common/package_digest.py": "tests/dispatch/test_disk_cache.py",
    "dispatch/object_digests.py": "tests/dispatch/test_disk_cache.py",
    "dispatch/plain_sweeps.py": "tests/compile/test_plain_sweeps.py",
    "compile/dependencies.py": "tests/dispatch/test_guards.py",
    "api/disk_cache.py": "tests/dispatch/test_disk_cache.py",
    "__main__.py": "tests/templates/test_listing.py",
    "optimise/__main__.py": "tests/optimise/test_listing.py",
    "analysis/types/address_map.py": "tests/analysis/memory/test_outside_overlap.py",
    "api/sparse_jacobian.py": "tests/test_sparse.py",
    "testing/__init__.py": "tests/test_testing.py",
    "loops/*.py": "tests/jit/test_entry.py",
    "compile/jitted.py": "tests/jit/test_entry.py",
    "compile/device_kernels.py": "tests/jit/test_kernels.py",
    "compile/primals.py": "tests/api/test_jitted.py",
    "compile/refusal_search.py": "tests/api/test_program_check.py",
    "arrays/*.py": "tests/test_arrays.py",
    "templates/*.py": "tests/templates/test_templates.py",
    "backend/*.py": "tests/backend/test_module_text.py",
    "analysis/infer/try_statements.py": "tests/frontend/test_try_statements.py",
    "analysis/infer/unbound_names.py": "tests/frontend/test_definite_assignment.py",
    "analysis/infer/constant_calls.py": "tests/compile/test_observation.py",
    "frontend/approximate_lift.py": "tests/tensor/fallback/test_runs.py",
    "optimise/settled_calls.py": "tests/analysis/library/test_solvers.py",
    "analysis/infer/context.py": "tests/analysis/infer/test_program.py",
    "analysis/infer/calling_conventions.py": "tests/analysis/infer/test_special_calls.py",
    "analysis/dependence/control_context.py": "tests/analysis/dependence/test_array_dependence.py",
    "analysis/dependence/affine_forms.py": "tests/analysis/dependence/test_array_dependence.py",
    "analysis/infer/inlining.py": "tests/analysis/library/test_model_bodies.py",
    "analysis/infer/sequences.py": "tests/analysis/infer/test_expressions.py",
    "analysis/infer/containers.py": "tests/analysis/infer/test_expressions.py",
    "analysis/infer/indexing.py": "tests/analysis/infer/test_expressions.py",
    "analysis/infer/methods.py": "tests/analysis/infer/test_expressions.py",
    "frontend/scopes.py": "tests/frontend/test_functions.py",
    "frontend/loop_statements.py": "tests/frontend/test_loops.py",
    "frontend/loop_iterables.py": "tests/frontend/test_loops.py",
    "derive/reverse/context.py": "tests/derive/reverse/test_walker.py",
    "derive/reverse/item_cotangents.py": "tests/derive/reverse/test_tuple_results.py",
    "derive/reverse/calls.py": "tests/derive/reverse/test_callee_pairs.py",
    "derive/prologue.py": "tests/derive/reverse/test_callee_pairs.py",
    "derive/reverse/gradient.py": "tests/derive/reverse/test_callee_pairs.py",
    "ir/upward_exposed.py": "tests/derive/checkpoint/test_loops.py",
    "derive/checkpoint/states.py": "tests/derive/checkpoint/test_loops.py",
    "sparse/*.py": "tests/test_sparse.py",
    "derive/batch/members.py": "tests/api/test_vmap.py",
    "derive/linearize/residuals.py": "tests/derive/linearize/test_split.py",
    "dispatch/structure_check.py": "tests/api/test_products.py",
    "derive/leaf_values.py": "tests/derive/test_jacobians.py",
    "derive/products.py": "tests/analysis/infer/test_inner_derivatives.py",
    "dispatch/batch_axes.py": "tests/api/test_vmap.py",
    "compile/batched.py": "tests/derive/batch/test_walker.py",
    "analysis/batch/varying.py": "tests/derive/batch/test_walker.py",
    "derive/batch/rules.py": "tests/derive/batch/test_walker.py",
    "analysis/types/kind_copies.py": "tests/analysis/infer/test_inner_derivatives.py",
    "compile/nested.py": "tests/analysis/infer/test_inner_derivatives.py",
    "compile/jacobian_mode.py": "tests/derive/test_jacobians.py",
    "compile/transforms.py": "tests/derive/test_jacobians.py",
    "optimise/facts/sweep_pairs.py": "tests/optimise/test_remake_shadows.py",
    "optimise/comment_cleanup.py": "tests/optimise/test_dce.py",
    "optimise/facts/unit.py": "tests/optimise/test_dce.py",
    "optimise/pipeline.py": "tests/compile/test_pipeline.py",
    "optimise/facts/finite_values.py": "tests/optimise/test_guard_elimination.py",
    "optimise/plain_powers.py": "tests/analysis/infer/test_assumptions.py",
    "optimise/facts/dtype_exactness.py": "tests/optimise/test_hazards.py",
    "optimise/facts/uses.py": "tests/optimise/facts/test_liveness.py",
    "dispatch/validation.py": "tests/test_bad_input.py",
    "api/derivative.py": "tests/dispatch/test_entries.py",
    "dispatch/tensor_arguments.py": "tests/api/test_tensor_calls.py",
    "dispatch/request.py": "tests/api/test_functions.py",
    "common/options.py": "tests/compile/test_pipeline.py",
    "analysis/infer/assertions.py": "tests/test_checked.py",
    "optimise/facts/checked_facts.py": "tests/test_checked.py",
    "compile/checked_reference.py": "tests/test_checked.py",
    "testing/verification.py": "tests/test_checked.py",
    "api/pickling.py": "tests/dispatch/test_entries.py",
    "dispatch/results.py": "tests/dispatch/test_entries.py",
    "compile/products.py": "tests/api/test_products.py",
    "testing/test_points.py": "tests/test_testing.py",
    "__init__.py": "tests/tensor/core/test_methods.py",
    "tensor/__init__.py": "tests/tensor/core/test_methods.py",
    "tensor/graph/autograd.py": "tests/tensor/test_reference.py",
    "tensor/graph/rule_blame.py": "tests/tensor/test_reference.py",
    "tensor/graph/gradcheck.py": "tests/tensor/test_reference.py",
    "tensor/graph/checkpoints.py": "tests/tensor/test_reference.py",
    "tensor/graph/compiled.py": "tests/api/test_tensor_calls.py",
    "tensor/graph/solver_nodes.py": "tests/tensor/fallback/test_solver_calls.py",
    "tensor/core/tensor.py": "tests/tensor/core/test_methods.py",
    "tensor/graph/drawing.py": "tests/tensor/graph/test_engine.py",
    "tensor/core/dispatch.py": "tests/tensor/calls/test_apply.py",
    "tensor/core/forms.py": "tests/tensor/calls/test_apply.py",
    "tensor/graph/functions.py": "tests/tensor/test_reference.py",
    "tensor/core/containers.py": "tests/tensor/calls/test_apply.py",
    "tensor/calls/stub_texts.py": "tests/tensor/calls/test_plain_stubs.py",
    "tensor/calls/unrecorded.py": "tests/tensor/calls/test_plain_stubs.py",
    "tensor/graph/nodes.py": "tests/tensor/graph/test_engine.py",
    "tensor/calls/multi_tensor.py": "tests/tensor/calls/test_apply.py",
    "tensor/fallback/jacobians.py": "tests/compile/test_fallback.py",
    "tensor/calls/lifting.py": "tests/tensor/calls/test_apply.py",
    "tensor/fallback/function_rewriting.py": "tests/tensor/fallback/test_tracing.py",
    "tensor/core/making.py": "tests/tensor/core/test_methods.py",
    "tensor/core/members.py": "tests/tensor/core/test_methods.py",
    "tensor/fallback/known_code.py": "tests/tensor/fallback/test_unknown_code.py",
    "tensor/fallback/programs.py": "tests/tensor/fallback/test_equal_values.py",
    "tensor/fallback/library_code.py": "tests/tensor/fallback/test_unknown_code.py",
    "tensor/core/user_lines.py": "tests/tensor/graph/test_engine.py",
    "tensor/public.py": "tests/tensor/core/test_methods.py",
    "tensor/calls/recorded_stubs.py": "tests/tensor/calls/test_apply.py",
    "tensor/core/torch_names.py": "tests/tensor/test_reference.py",
    "tensor/writes/writing.py": "tests/tensor/writes/test_storage.py",
    "nn/activations.py": "tests/nn/test_layers.py",
    "nn/containers.py": "tests/nn/test_layers.py",
    "nn/linear.py": "tests/nn/test_layers.py",
    "nn/normalisation.py": "tests/nn/test_layers.py",
    "nn/transformer.py": "tests/nn/test_against_figures.py",
    "nn/losses.py": "tests/nn/test_functional.py",
    "nn/parameter.py": "tests/nn/test_module.py",
    "nn/utils.py": "tests/nn/test_training.py",
    "optim/sgd.py": "tests/optim/test_optimizer.py",
    "optim/adaptive.py": "tests/optim/test_optimizer.py",
    "optim/parameter_trees.py": "tests/optim/test_optimizer.py",
    "tensor/calls/precision.py": "tests/amp/test_autocasting.py",
    "tensor/writes/numpy_writers.py": "tests/tensor/writes/test_storage.py",
}

LONGEST_FUNCTION = 40


@cache
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


def test_imports_go_one_way():
    homes = {home(path) for path in MODULES}
    assert homes <= set(LAYER), f"give {homes - set(LAYER)} their layers in LAYERS"
    assert [wrong for path in MODULES for wrong in wrong_imports(path)] == []


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


def graph_of_imports():
    """By each module those of ours that it imports, anywhere in it."""
    known = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in MODULES}
    found = {}
    for name, path in known.items():
        nodes = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.ImportFrom)]
        pairs = [(node.module or "", alias.name) for node in nodes for alias in node.names]
        found[name] = {f"{base}.{item}" if f"{base}.{item}" in known else base for base, item in pairs} & set(known)
    return found


def first_circle(graph):
    """Modules that import one another, annotations counted; None where there are no such."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


def test_modules_do_not_import_one_another_in_circles():
    graph = graph_of_imports()
    assert len(graph) > 400
    assert first_circle(graph) is None
    graph["tangentx.derive.reverse.context"].add("tangentx.derive.reverse.walker")
    assert first_circle(graph) is not None


def test_importing_the_package_loads_no_compiler():
    heavy = ["gast", "astor", "numba", "cupy", "scipy", "matplotlib", "hypothesis", "pytest"]
    heavy += [f"tangentx.{name}" for name in ("templates", "frontend", "analysis", "derive", "optimise", "compile")]
    code = f"import sys, tangentx; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def has_code(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return path.name != "__init__.py" or any(isinstance(node, kinds) for node in parsed(path).body)


def test_every_module_has_its_test():
    for path in filter(has_code, MODULES):
        name = path.relative_to(PACKAGE)
        own = ROOT / "tests" / name.with_name(f"test_{name.name}")
        patterns = [pattern for pattern in COVERED_BY if fnmatch.fnmatch(str(name), pattern)]
        assert own.exists() or patterns, f"write {own.relative_to(ROOT)}, or enter {name} in COVERED_BY"
        assert not (own.exists() and str(name) in patterns), f"{name} has a test of its own: take it out of COVERED_BY"


def test_covered_by_names_what_exists():
    assert [pattern for pattern in COVERED_BY if not fnmatch.filter(NAMES, pattern)] == []
    assert [test for test in COVERED_BY.values() if not (ROOT / test).exists()] == []


def lengths(path):
    """The lines of each function, its docstring not counted."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            doc = node.body[0] if ast.get_docstring(node) is not None else None
            without = 0 if doc is None else doc.end_lineno - doc.lineno + 1
            yield node.name, node.end_lineno - node.lineno + 1 - without


def test_functions_are_short():
    found = ((path.name, name, lines) for path in MODULES for name, lines in lengths(path))
    assert [each for each in found if each[-1] > LONGEST_FUNCTION] == []


def sets_events(path):
    """Whether a module has ``with np.errstate``."""
    items = (item for node in ast.walk(parsed(path)) if isinstance(node, ast.With) for item in node.items)
    return any(ast.unparse(item.context_expr).startswith("np.errstate") for item in items)


def test_floating_point_events_are_set_where_an_interrupt_leaves_them_right():
    """By `tangentx.common.float_events`; ``with np.errstate`` has places where it does not."""
    assert {path.parent.name for path in MODULES if sets_events(path)} == {"testing"}


def test_every_module_says_what_it_is():
    assert [path for path in MODULES if path.read_text().strip() and not ast.get_docstring(parsed(path))] == []


def test_public_names_are_documented():
    import tangentx

    text = (ROOT / "README.md").read_text() + (ROOT / "ARCHITECTURE.md").read_text()
    for name in tangentx.__all__:
        assert name in text, f"{name} is neither in README.md nor in ARCHITECTURE.md"
        public = getattr(tangentx, name)
        if callable(public):
            assert (public.__doc__ or "").strip(), f"{name} has no docstring"
        assert ">>>" in (public.__doc__ or ""), f"the docstring of {name} has no example"


def test_version_is_one_and_has_its_changes():
    import tangentx

    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert tangentx.__version__ == version
    assert f"\n## {version} " in (ROOT / "CHANGELOG.md").read_text()
