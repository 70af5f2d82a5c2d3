"""Prints the loop language as plain Python, the reference for the other printers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from tangentx.loops import loop_ir as loops

SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "eq": "==", "ne": "!=", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
          "atanh": "arctanh", "atan2": "arctan2"}  # fmt: skip
DTYPES = {"f8": "np.float64", "f4": "np.float32", "i8": "np.int64", "b1": "np.bool_"}
_LIMITS = f"{-(2**63)} <= {{}} < {2**63}"


def text_of(program: loops.Program) -> str:
    """The functions, as a text that defines them. They raise `Bailout` with the code where they give up."""
    head = "import math\n\nimport numpy as np\nfrom tangentx.loops.loop_ir import Bailout\n"
    return "\n\n".join([head, *("\n".join(Printer(f).function()) + "\n" for f in program.functions)])


class Printer:
    """Prints one function."""

    def __init__(self, function: loops.Function) -> None:
        self.f = function
        self.types: Mapping[str, loops.Type] = {**dict(function.params), **function.locals}

    def function(self) -> Iterator[str]:
        """Its lines."""
        yield f"def {self.f.name}({', '.join(name for name, _ in self.f.params)}):"
        for name, type in self.f.locals.items():
            if isinstance(type, loops.List | loops.Record):  # one that nothing has bound yet may be recorded
                yield f"    {name} = None"
        yield from self.indented(self.f.body)

    def indented(self, block: loops.Block) -> Iterator[str]:
        """The lines of a block."""
        lines = [line for s in block for line in self.statement(s)]
        if all(line.lstrip().startswith("#") for line in lines):
            lines.append("pass")
        for line in lines:
            yield f"    {line}"

    def bail(self, bail: loops.Bail) -> str:
        """The line, below a test, that gives up."""
        return f"    raise Bailout({bail.value})  # {bail.reason}"

    def statement(self, s: loops.Statement) -> Iterator[str]:
        """The lines of a statement."""
        match s:
            case loops.Assign(name, value):
                yield f"{name} = {self.expr(value)}"
            case loops.Write(array, places, value):
                yield f"{self.element(array, places)} = {self.expr(value)}"
            case loops.Locate(name, index, extent):
                yield f"{name} = {self.expr(index)}"
                yield f"if {name} < 0:"
                yield f"    {name} += {self.expr(extent)}"
                yield f"if not 0 <= {name} < {self.expr(extent)}:"
                yield self.bail(loops.Bail.INDEX)
            case loops.Check(loops.Const(False), bail):
                yield self.bail(bail).strip()
            case loops.Check(test, bail):
                yield f"if not {self.expr(test)}:"
                yield self.bail(bail)
            case loops.Bind(name, source):
                yield f"{name} = {source}"
            case loops.Call(function, args, results):
                found = "".join(f"{name}, " for name in results)
                yield f"{found}{'= ' if found else ''}{function}({', '.join(map(self.value, args))})"
            case loops.Outside(names, place, args):
                found = "".join(f"{name}, " for name in names)
                yield f"{found}{'= ' if found else ''}outside[{place}]({', '.join(map(self.value, args))})"
            case loops.Product(name, a, b):
                yield f"{name} = np.matmul({a}, {b})"
            case loops.Return(values):
                yield f"return ({''.join(f'{self.value(v)}, ' for v in values)})"
            case loops.Break() | loops.Continue():
                yield type(s).__name__.lower()
            case loops.Keep():
                yield from ()  # Python computes all of it
            case loops.Remark(text):
                yield text if text.startswith("#") else f"# {text}"
            case _:
                yield from self.more(s)

    def more(self, s: loops.Statement) -> Iterator[str]:
        """What makes arrays, and statements with blocks."""
        match s:
            case loops.Allocate(name, extents, zeros):
                type = self.types[name]
                assert isinstance(type, loops.Array)
                shape = ", ".join(map(self.expr, extents)) + "," * (len(extents) == 1)
                yield f"{name} = np.{'zeros' if zeros else 'empty'}(({shape}), {DTYPES[type.code]})"
            case loops.View(name, base, parts):
                whole = all(isinstance(part, loops.Pick) for part in parts)  # an element, and no copy of it
                yield f"{name} = {base}[{', '.join([*map(self.part, parts), *['...'] * whole])}]"
            case loops.Turn(name, base, axes):
                yield f"{name} = {base}.transpose({axes})"
            case loops.Reshape(name, base, extents):
                yield f"if not {base}.flags.c_contiguous:"
                yield self.bail(loops.Bail.SHAPE)
                yield f"{name} = {base}.reshape(({''.join(f'{self.expr(n)}, ' for n in extents)}))"
            case loops.If(test, body, orelse):
                yield f"if {self.expr(test)}:"
                yield from self.indented(body)
                if orelse:
                    yield "else:"
                    yield from self.indented(orelse)
            case loops.For(name, start, stop, step, backward, body):
                bounds = [start, stop, step] if step != loops.Const(1, step.type) else [start, stop]
                if len(bounds) == 2 and isinstance(start, loops.Const) and start.value == 0:
                    bounds = [stop]
                found = f"range({', '.join(map(self.expr, bounds))})"
                yield f"for {name} in {f'reversed({found})' if backward else found}:"
                yield from self.indented(body)
            case loops.Loop(body):
                yield "while True:"
                yield from self.indented(body)
            case _:
                yield from self.container(s)

    def container(self, s: loops.Statement) -> Iterator[str]:
        """What makes, reads or writes a list or a record."""
        match s:
            case loops.NewList(name):
                yield f"{name} = []"
            case loops.NewRecord(name, values):
                yield f"{name} = [{', '.join(map(self.value, values))}]"
            case loops.Push(name, value):
                yield f"{name}.append({self.value(value)})"
            case loops.Pull(base, name):
                yield f"if not {base}:"
                yield self.bail(loops.Bail.EMPTY)
                yield f"{name} = {base}.pop()"
            case loops.Fetch(name, base, place):
                yield f"{name} = {base}[{self.expr(place)}]"
            case loops.Put(base, place, value):
                yield f"{base}[{self.expr(place)}] = {self.value(value)}"
            case _:
                raise AssertionError(s)

    def value(self, value: loops.Expr | str) -> str:
        """A scalar, or the name of what is none."""
        return value if isinstance(value, str) else self.expr(value)

    def part(self, part: loops.Pick | loops.Span | loops.NewAxis) -> str:
        """What stands for an axis in the index of a view."""
        match part:
            case loops.Pick(place):
                return self.expr(place)
            case loops.Span(start, count, 1):
                return f"{self.expr(start)}:{self.expr(start)} + {self.expr(count)}"
            case loops.Span(step=step) if step < 0:  # along all of the axis
                return f"::{step}"
            case loops.Span(start, count, step):
                return f"{self.expr(start)}:{self.expr(start)} + {self.expr(count)} * {step}:{step}"
        return "None"

    def element(self, array: str, places: tuple[loops.Expr, ...]) -> str:
        """An element of an array."""
        return f"{array}[{', '.join(map(self.expr, places)) or '()'}]"

    def expr(self, value: loops.Expr) -> str:
        """An expression, in brackets where it has an operator."""
        match value:
            case loops.Const(number):
                if number != number or abs(number) == math.inf:
                    return f"float({str(number)!r})"
                return f"({number!r})" if str(number).startswith("-") else repr(number)
            case loops.Local(name):
                return name
            case loops.Extent(array, axis):
                return f"{array}.shape[{axis}]"
            case loops.Length(name):
                return f"len({name})"
            case loops.Read(array, places):
                return self.element(array, places)
            case loops.Reduce("sum", array):
                return f"np.add.reduce({array}, axis=None)"
            case loops.Reduce(op, array):
                return f"np.{op}({array})"
            case loops.Apply():
                return self.apply(value)
        raise AssertionError(value)

    def apply(self, value: loops.Apply) -> str:
        """An operator or a function."""
        args = [self.expr(arg) for arg in value.args]
        op, type = value.op, value.type
        if op in SIGNS:
            return f"({args[0]} {SIGNS[op]} {args[1]})"
        if op in _FORMS:
            return _FORMS[op](args, type)
        if type.owner is loops.Owner.PYTHON and op not in ("maximum", "minimum", "sign", "rint"):
            return f"math.{op}({', '.join(args)})"
        return f"np.{_NAMES.get(op, op)}({', '.join(args)})"


def zero(type: loops.Scalar) -> str:
    """Zero, as a number of the type."""
    return "0.0" if type.owner is not loops.Owner.NUMPY else f"{DTYPES[type.code]}(0.0)"


def _no_zero(args: list[str]) -> str:
    return " and ".join(f"{arg} != 0.0" for arg in args)


def _converted(args: list[str], type: loops.Scalar) -> str:
    if type.owner is loops.Owner.NUMPY or type.code == "f4":
        return f"{DTYPES[type.code]}({args[0]})"
    return f"{'float' if type.is_float else 'int'}({args[0]})"


def _power(args: list[str], type: loops.Scalar) -> str:
    if type.owner is loops.Owner.NUMPY:
        return f"({args[0]} ** {args[1]})"
    return f"math.pow({args[0]}, {args[1]})"  # raises where `**` gives a complex number


def _slope_power(args: list[str], type: loops.Scalar) -> str:
    if type.owner is loops.Owner.NUMPY:
        return f"np.power({args[0]}, {args[1]} - 1.0)"
    return f"{args[0]} ** ({args[1]} - 1.0)"


_FORMS: dict[str, Callable[[list[str], loops.Scalar], str]] = {
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
    "guarded": lambda a, t: f"({a[0]} * {a[1]} if {_no_zero(a)} or math.isfinite({a[0]} + {a[1]}) else {zero(t)})",
    "ratio_or_zero": lambda a, t: f"({a[0]} / {a[1]} if {a[1]} != 0.0 else {zero(t)})",
    "over_root": lambda a, t: f"({zero(t)} if {a[0]} == 0.0 and {a[1]} != {a[1]} else {a[0]} / {a[1]})",
    "log_or_zero": lambda a, t: f"({zero(t)} if {a[0]} == 0.0 else np.log({a[0]}))",
    "power_slope": lambda a, t: f"({zero(t)} if {a[1]} == 0.0 else {a[1]} * {_slope_power(a, t)})",
}
