"""The mathematics: one derivative rule for each operation. Knows no compiler."""

from tangentx.common import whole_numpy as whole_numpy  # first: it refuses to load rules for what is not NumPy's
from tangentx.common.user_rules import is_own
from tangentx.templates import arithmetic as arithmetic
from tangentx.templates import builtins_ as builtins_
from tangentx.templates import checks as checks
from tangentx.templates import composed_arrays as composed_arrays
from tangentx.templates import composed_calculus as composed_calculus
from tangentx.templates import composed_choices as composed_choices
from tangentx.templates import composed_complex as composed_complex
from tangentx.templates import composed_counts as composed_counts
from tangentx.templates import composed_frames as composed_frames
from tangentx.templates import composed_functions as composed_functions
from tangentx.templates import composed_linear_algebra as composed_linear_algebra
from tangentx.templates import composed_norms as composed_norms
from tangentx.templates import composed_polynomials as composed_polynomials
from tangentx.templates import composed_python as composed_python
from tangentx.templates import composed_series as composed_series
from tangentx.templates import composed_series_algebra as composed_series_algebra
from tangentx.templates import composed_signals as composed_signals
from tangentx.templates import composed_statistics as composed_statistics
from tangentx.templates import composed_statistics_module as composed_statistics_module
from tangentx.templates import composed_ufuncs as composed_ufuncs
from tangentx.templates import constants as constants
from tangentx.templates import creation as creation
from tangentx.templates import elementary as elementary
from tangentx.templates import factorisations as factorisations
from tangentx.templates import fourier as fourier
from tangentx.templates import generators as generators
from tangentx.templates import images as images
from tangentx.templates import implicit_function as implicit_function
from tangentx.templates import interpolation as interpolation
from tangentx.templates import jacobians as jacobians
from tangentx.templates import joining as joining
from tangentx.templates import linear_algebra as linear_algebra
from tangentx.templates import matrix_parts as matrix_parts
from tangentx.templates import normal_distribution as normal_distribution
from tangentx.templates import ordering as ordering
from tangentx.templates import polynomial_objects as polynomial_objects
from tangentx.templates import products as products
from tangentx.templates import quantiles as quantiles
from tangentx.templates import quaternions as quaternions
from tangentx.templates import reductions as reductions
from tangentx.templates import refused_functions as refused_functions
from tangentx.templates import selection as selection
from tangentx.templates import shaping as shaping
from tangentx.templates import sparse_matrices as sparse_matrices
from tangentx.templates import special as special
from tangentx.templates import support as support
from tangentx.templates import tables as tables
from tangentx.templates.compositions import (
    Composition,
    always_composed,
    calculates_with,
    composed,
    composed_body,
    compositions,
    examples,
    has_composition,
    in_double,
    stands_in_place,
    takes_containers,
)
from tangentx.templates.distributions import is_distribution, is_whole, method_of, thawed
from tangentx.templates.library_classes import no_rule_of_member, path_of_member
from tangentx.templates.out_parameters import (
    TWO_STEPS,
    cast_to_that_of_out,
    computes_in_that_of_out,
    from_out,
    overwriting,
    spoken_of,
)
from tangentx.templates.refusals import no_rule, refusal, refused
from tangentx.templates.registry import (
    Template,
    bind,
    find,
    may_be_complex,
    silent_slope,
    templates,
    without_rule,
)
from tangentx.templates.solver_table import solver, solvers

__all__ = [
    "TWO_STEPS",
    "Composition",
    "Template",
    "always_composed",
    "calculates_with",
    "path_of_member",
    "bind",
    "composed",
    "composed_body",
    "compositions",
    "cast_to_that_of_out",
    "computes_in_that_of_out",
    "examples",
    "find",
    "from_out",
    "is_distribution",
    "is_whole",
    "may_be_complex",
    "method_of",
    "thawed",
    "has_composition",
    "in_double",
    "is_own",
    "no_rule",
    "no_rule_of_member",
    "overwriting",
    "refusal",
    "refused",
    "takes_containers",
    "silent_slope",
    "solver",
    "solvers",
    "spoken_of",
    "stands_in_place",
    "templates",
    "without_rule",
]
