"""The loop language as Python: it runs as it is, and is what the other printers are compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from tangentx.jit.loop_ir import (
    Allocate,
    Apply,
    Array,
    Assign,
    Bail,
    Bind,
    Block,
    Break,
    Call,
    Check,
    Const,
    Continue,
    Expr,
    Extent,
    Fetch,
    For,
    Function,
    If,
    Length,
    List,
    Local,
    Locate,
    Loop,
    NewAxis,
    NewList,
    NewRecord,
    Outside,
    Owner,
    Pick,
    Product,
    Program,
    Pull,
    Push,
    Put,
    Read,
    Record,
    Reduce,
    Remark,
    Return,
    Scalar,
    Span,
    Statement,
    Turn,
    Type,
    View,
    Write,
)

_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "eq": "==", "ne": "!=", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
          "atanh": "arctanh", "atan2": "arctan2"}  # fmt: skip
_DTYPES = {"f8": "np.float64", "f4": "np.float32", "i8": "np.int64", "b1": "np.bool_"}
_LIMITS = f"{-(2**63)} <= {{}} < {2**63}"


def text_of(program: Program) -> str:
    """The functions, as a text that defines them. They raise `Bailout` with the code where they give up."""
    head = "import math\n\nimport numpy as np\nfrom tangentx.jit.loop_ir import Bailout\n"
    return "\n\n".join([head, *("\n".join(_function(f)) + "\n" for f in program.functions)])


def _function(function: Function) -> Iterator[str]:
    yield f"def {function.name}({', '.join(name for name, _ in function.params)}):"
    for name, type in function.locals.items():
        if isinstance(type, List | Record):  # one that nothing has bound yet may be recorded
            yield f"    {name} = None"
    yield from _indented(function.body, {**dict(function.params), **function.locals})


def _indented(block: Block, types: Mapping[str, Type]) -> Iterator[str]:
    lines = [line for s in block for line in _statement(s, types)]
    if all(line.lstrip().startswith("#") for line in lines):
        lines.append("pass")
    for line in lines:
        yield f"    {line}"


def _bail(bail: Bail) -> str:
    return f"    raise Bailout({bail.value})  # {bail.reason}"


def _statement(s: Statement, types: Mapping[str, Type]) -> Iterator[str]:
    match s:
        case Assign(name, value):
            yield f"{name} = {expr(value)}"
        case Write(array, places, value):
            yield f"{_element(array, places)} = {expr(value)}"
        case Locate(name, index, extent):
            yield f"{name} = {expr(index)}"
            yield f"if {name} < 0:"
            yield f"    {name} += {expr(extent)}"
            yield f"if not 0 <= {name} < {expr(extent)}:"
            yield _bail(Bail.INDEX)
        case Check(Const(False), bail):
            yield _bail(bail).strip()
        case Check(test, bail):
            yield f"if not {expr(test)}:"
            yield _bail(bail)
        case Bind(name, source):
            yield f"{name} = {source}"
        case Call(function, args, results):
            found = "".join(f"{name}, " for name in results)
            yield f"{found}{'= ' if found else ''}{function}({', '.join(map(_value, args))})"
        case Outside(names, place, args):
            found = "".join(f"{name}, " for name in names)
            yield f"{found}{'= ' if found else ''}outside[{place}]({', '.join(map(_value, args))})"
        case Product(name, a, b):
            yield f"{name} = np.matmul({a}, {b})"
        case Return(values):
            yield f"return ({''.join(f'{_value(v)}, ' for v in values)})"
        case Break() | Continue():
            yield type(s).__name__.lower()
        case Remark(text):
            yield text if text.startswith("#") else f"# {text}"
        case _:
            yield from _more(s, types)


def _more(s: Statement, types: Mapping[str, Type]) -> Iterator[str]:
    match s:
        case Allocate(name, extents, zeros):
            type = types[name]
            assert isinstance(type, Array)
            shape = ", ".join(map(expr, extents)) + "," * (len(extents) == 1)
            yield f"{name} = np.{'zeros' if zeros else 'empty'}(({shape}), {_DTYPES[type.code]})"
        case View(name, base, parts):
            yield f"{name} = {base}[{', '.join(map(_part, parts))}]"
        case Turn(name, base, axes):
            yield f"{name} = {base}.transpose({axes})"
        case If(test, body, orelse):
            yield f"if {expr(test)}:"
            yield from _indented(body, types)
            if orelse:
                yield "else:"
                yield from _indented(orelse, types)
        case For(name, start, stop, step, backward, body):
            bounds = [start, stop, step] if step != Const(1, step.type) else [start, stop]
            if len(bounds) == 2 and isinstance(start, Const) and start.value == 0:
                bounds = [stop]
            found = f"range({', '.join(map(expr, bounds))})"
            yield f"for {name} in {f'reversed({found})' if backward else found}:"
            yield from _indented(body, types)
        case Loop(body):
            yield "while True:"
            yield from _indented(body, types)
        case _:
            yield from _container(s)


def _container(s: Statement) -> Iterator[str]:
    """What makes, reads or writes a list or a record."""
    match s:
        case NewList(name):
            yield f"{name} = []"
        case NewRecord(name, values):
            yield f"{name} = [{', '.join(map(_value, values))}]"
        case Push(name, value):
            yield f"{name}.append({_value(value)})"
        case Pull(base, name):
            yield f"if not {base}:"
            yield _bail(Bail.EMPTY)
            yield f"{name} = {base}.pop()"
        case Fetch(name, base, place):
            yield f"{name} = {base}[{expr(place)}]"
        case Put(base, place, value):
            yield f"{base}[{expr(place)}] = {_value(value)}"
        case _:
            raise AssertionError(s)


def _value(value: Expr | str) -> str:
    """A scalar, or the name of what is none."""
    return value if isinstance(value, str) else expr(value)


def _part(part: Pick | Span | NewAxis) -> str:
    match part:
        case Pick(place):
            return expr(place)
        case Span(start, count, 1):
            return f"{expr(start)}:{expr(start)} + {expr(count)}"
        case Span(start, count, -1):
            return "::-1"
        case Span(start, count, step):
            return f"{expr(start)}:{expr(start)} + {expr(count)} * {step}:{step}"
    return "None"


def _element(array: str, places: tuple[Expr, ...]) -> str:
    return f"{array}[{', '.join(map(expr, places)) or '()'}]"


def expr(value: Expr) -> str:
    """An expression, in brackets where it has an operator."""
    match value:
        case Const(number):
            if number != number or abs(number) == math.inf:
                return f"float({str(number)!r})"
            return f"({number!r})" if str(number).startswith("-") else repr(number)
        case Local(name):
            return name
        case Extent(array, axis):
            return f"{array}.shape[{axis}]"
        case Length(name):
            return f"len({name})"
        case Read(array, places):
            return _element(array, places)
        case Reduce("sum", array):
            return f"np.add.reduce({array}, axis=None)"
        case Reduce(op, array):
            return f"np.{op}({array})"
        case Apply():
            return _apply(value)
    raise AssertionError(value)


def _apply(value: Apply) -> str:
    args = [expr(arg) for arg in value.args]
    op, type = value.op, value.type
    if op in _SIGNS:
        return f"({args[0]} {_SIGNS[op]} {args[1]})"
    if op in _FORMS:
        return _FORMS[op](args, type)
    if type.owner is Owner.PYTHON and op not in ("maximum", "minimum", "sign", "rint"):
        return f"math.{op}({', '.join(args)})"
    return f"np.{_NAMES.get(op, op)}({', '.join(args)})"


def zero(type: Scalar) -> str:
    """Zero, as a number of the type."""
    return "0.0" if type.owner is not Owner.NUMPY else f"{_DTYPES[type.code]}(0.0)"


def _converted(args: list[str], type: Scalar) -> str:
    if type.owner is Owner.NUMPY or type.code == "f4":
        return f"{_DTYPES[type.code]}({args[0]})"
    return f"{'float' if type.is_float else 'int'}({args[0]})"


def _power(args: list[str], type: Scalar) -> str:
    if type.owner is Owner.NUMPY:
        return f"({args[0]} ** {args[1]})"
    return f"math.pow({args[0]}, {args[1]})"  # raises where `**` gives a complex number


def _slope_power(args: list[str], type: Scalar) -> str:
    if type.owner is Owner.NUMPY:
        return f"np.power({args[0]}, {args[1]} - 1.0)"
    return f"{args[0]} ** ({args[1]} - 1.0)"


_FORMS: dict[str, Callable[[list[str], Scalar], str]] = {
    "neg": lambda a, t: f"(-{a[0]})",
    "abs": lambda a, t: f"abs({a[0]})",
    "not": lambda a, t: f"(not {a[0]})",
    "convert": _converted,
    "pow": _power,
    "select": lambda a, t: f"({a[1]} if {a[0]} else {a[2]})",
    "to_int": lambda a, t: f"int({a[0]})",
    "floor_to_int": lambda a, t: f"math.floor({a[0]})",
    "ceil_to_int": lambda a, t: f"math.ceil({a[0]})",
    "add_fits": lambda a, t: f"({_LIMITS.format(f'{a[0]} + {a[1]}')})",
    "sub_fits": lambda a, t: f"({_LIMITS.format(f'{a[0]} - {a[1]}')})",
    "mul_fits": lambda a, t: f"({_LIMITS.format(f'{a[0]} * {a[1]}')})",
    "guarded": lambda a, t: f"({a[0]} * {a[1]} if {a[0]} != 0.0 and {a[1]} != 0.0 else {zero(t)})",
    "ratio_or_zero": lambda a, t: f"({a[0]} / {a[1]} if {a[1]} != 0.0 else {zero(t)})",
    "over_root": lambda a, t: f"({zero(t)} if {a[0]} == 0.0 and {a[1]} != {a[1]} else {a[0]} / {a[1]})",
    "log_or_zero": lambda a, t: f"({zero(t)} if {a[0]} == 0.0 else np.log({a[0]}))",
    "power_slope": lambda a, t: f"({zero(t)} if {a[1]} == 0.0 else {a[1]} * {_slope_power(a, t)})",
}
