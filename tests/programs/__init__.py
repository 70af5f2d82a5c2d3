"""The corpus: functions as people write them, each with arguments and what to differentiate by."""

from tests.programs import (
    aliases,
    arguments,
    arrays_whole,
    branches,
    closures,
    containers,
    finance,
    helpers,
    higher_order,
    library,
    loops,
    physics,
    pits,
    recursion,
    scalar_programs,
    statistics_,
    structures,
    textbook,
    views,
    writes,
)
from tests.programs.case import Program

MODULES = (
    scalar_programs,
    loops,
    branches,
    arrays_whole,
    writes,
    views,
    aliases,
    helpers,
    arguments,
    higher_order,
    library,
    recursion,
    containers,
    closures,
    structures,
    physics,
    finance,
    statistics_,
    textbook,
    pits,
)
PROGRAMS: tuple[Program, ...] = tuple(program for module in MODULES for program in module.PROGRAMS)
