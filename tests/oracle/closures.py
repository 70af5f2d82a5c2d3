"""Functions inside drawn programs: closures over what is in scope, lambdas, callbacks, `nonlocal`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .expressions import num, num_leaf
from .model import NUM, Draft, Type
from .statements import tame, write

CLOSURE = Type("fn")
"""A function of one number that gives a number."""

Body = Callable[[Draft, int], None]


def fresh(d: Draft) -> str:
    name = f"fn{sum(n.startswith('fn') for n in d.used)}"
    d.used.add(name)
    return name


def inside(d: Draft, param: str) -> Draft:
    """A draft of the body: everything of the function around may be read and written into, nothing of it rebound."""
    sub = Draft(d.rng, d.width, tags=d.tags, routines=list(d.routines), calls=False, calm=d.calm, whole=d.whole)
    sub.names = {name: replace(entry, fixed=True) for name, entry in d.names.items()}
    sub.used = {*d.used, param}
    sub.indent = d.indent + 1
    sub.depth = 2
    sub.bind(param, NUM)
    return sub


def nested(d: Draft, statements: Body) -> None:
    """A function defined here, and calls of it before and after what it captures may change."""
    name, param = fresh(d), d.fresh("num")
    sub = inside(d, param)
    shared = [entry for entry in d.entries("num") if not entry.fixed and entry.name.isidentifier()]
    d.emit(f"def {name}({param}):", "closure")
    if shared and d.chance(45):
        entry = d.pick(shared)
        sub.emit(f"nonlocal {entry.name}", "nonlocal")
        sub.names[entry.name] = entry
        sub.emit(f"{entry.name} = {tame(sub, f'{entry.name} + {num(sub, 1)} * {param}')}")
    if d.entries("arr") and d.chance(50):
        write(sub)
        d.tag("closure that writes")
    if d.chance(40):
        statements(sub, 1)
    sub.emit(f"return {tame(sub, f'{num(sub, 1)} * {param}')}")
    d.lines += sub.lines
    d.bind(name, CLOSURE, fixed=True)
    called(d)
    if d.chance(60):
        statements(d, 1)
        called(d)


def lambda_(d: Draft, statements: Body) -> None:
    """A lambda, perhaps with a default that holds what a name is now."""
    name = fresh(d)
    held = num_leaf(d)
    if d.chance(40):
        d.emit(f"{name} = lambda v, w={held}: {tame(d, f'v * w + {num(d, 1)}')}", "lambda with a default")
    else:
        d.emit(f"{name} = lambda v: {tame(d, f'v * {num(d, 1)}')}", "lambda")
    d.bind(name, CLOSURE, fixed=True)
    if d.chance(50):
        statements(d, 1)
    called(d)


def called(d: Draft) -> None:
    """A call of a function in scope: plainly, by a function that takes it, mapped over a list."""
    name = d.pick(d.entries("fn")).name
    form = d.rng.randrange(5)
    first, second = num(d, 1), num_leaf(d)
    if form == 0:
        taker = fresh(d)
        d.emit(f"def {taker}(fn, v):", "callback")
        d.emit(f"    return fn(0.5 * fn(v)) + {num_leaf(d)}")
        text = f"{taker}({name}, {first})"
    elif form == 1:
        text = f"sum(map({name}, [{first}, {second}]))"
        d.tag("map")
    elif form == 2:
        text = f"sum([{name}(v) for v in ({first}, {second})])"
    else:
        text = f"{name}({first})"
    text = tame(d, text)
    target = d.fresh("num")
    d.emit(f"{target} = {text}")
    d.bind(target, NUM)


def gathered(d: Draft, statements: Body) -> None:
    """Functions made in a loop and called after it: each sees the last values, or its own by a default."""
    made, kept = d.fresh("list"), num_leaf(d)
    body = d.pick(["lambda v: v * g0 + k0", "lambda v, g0=g0: v * g0 + k0", "lambda v, k0=k0, g0=g0: v * g0 + k0"])
    body = body.replace("k0", loop := d.fresh("loop")).replace("g0", own := d.fresh("num"))
    d.emit(f"{made} = []", "closures made in a loop")
    d.emit(f"for {loop} in range({d.pick([1, 2, 3])}):")
    d.emit(f"    {own} = {tame(d, f'{kept} * {loop} + {num(d, 1)}')}")
    d.emit(f"    {made}.append({body})")
    d.bind(own, NUM)
    if d.chance(50):
        statements(d, 1)
    target = d.fresh("num")
    d.emit(f"{target} = sum([fn({num_leaf(d)}) for fn in {made}])")
    d.bind(target, NUM)


FORMS = (nested, nested, nested, lambda_, lambda_, gathered)
