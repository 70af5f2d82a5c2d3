"""What temporaries are called."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import tangentx as tx
from tangentx.errors import Span
from tangentx.ir import nodes as ir
from tangentx.ir.value_names import LONGEST, ValueNames, stem, with_stem
from tests.conftest import NOWHERE
from tests.programs import PROGRAMS
