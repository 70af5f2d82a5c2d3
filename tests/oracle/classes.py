"""Classes of drawn programs: attributes bound and written in methods and from outside, objects under two names."""

from __future__ import annotations

from dataclasses import replace

from .expressions import array, num, num_leaf
from .model import NUM, Draft, Record, Type, arr, list_of
from .places import place
from .statements import new_array, rebind_number, tame, write_to

NAMES = ("Cell", "Layer", "Probe")


def record(d: Draft) -> list[str]:
    """The lines of a class, plain or a dataclass."""
    fields: tuple[tuple[str, Type], ...] = (("u", arr(d.width)), ("gain", NUM))
    if d.chance(30):
        fields += (("trail", list_of(NUM)),)
    name = d.pick(NAMES)
    if d.chance(50):
        d.tag("dataclass")
        hints = {"arr": "np.ndarray", "num": "float", "list": "list"}
        lines = ["@dataclass", f"class {name}:", *(f"    {key}: {hints[type_.kind]}" for key, type_ in fields)]
    else:
        d.tag("class")
        held = {"u": d.pick(["u", "u", "u[::-1]", "u.copy()"])}
        lines = [f"class {name}:", f"    def __init__(self, {', '.join(key for key, _ in fields)}):"]
        lines += [f"        self.{key} = {held.get(key, key)}" for key, _ in fields]
    methods: list[tuple[str, Type | None]] = []
    for key in ("push", "turn")[: d.rng.randrange(1, 3)]:
        text, gives = method(d, key, fields)
        lines += ["", *text]
        methods.append((key, gives))
    d.records.append(Record(name, fields, tuple(methods)))
    return lines


def method(d: Draft, name: str, fields: tuple[tuple[str, Type], ...]) -> tuple[list[str], Type | None]:
    """A method that binds or writes attributes, and gives nothing, a number, or the array."""
    sub = Draft(d.rng, d.width, tags=d.tags, indent=2)
    for key, type_ in fields:
        sub.bind(f"self.{key}", type_, shared=True)
    sub.bind("f", NUM)
    for _ in range(d.rng.randrange(1, 3)):
        sub.tag("attribute written in a method")
        form = d.rng.randrange(4)
        if form == 0:
            sub.emit(f"self.gain {d.pick(['', '+', '*'])}= {tame(sub, num(sub))}")
        elif form == 1:
            sub.emit(f"self.u = {tame(sub, array(sub, (d.width,), 1))}")
        elif form == 2 and len(fields) > 2:
            sub.emit(f"self.trail.append({tame(sub, num(sub, 1))})")
        else:
            write_to(sub, sub.names["self.u"])
    gives: Type | None = d.pick([None, NUM, NUM, arr(d.width)])
    if gives is not None:
        sub.emit(f"return {tame(sub, num(sub, 1)) if gives == NUM else 'self.u'}")
    return [f"    def {name}(self, f):", *sub.lines], gives


# ---- statements ----
def new(d: Draft) -> None:
    """An object, whose attributes from now on are in scope."""
    made = d.records[0]
    known = place(d, (d.width,))
    if not known:
        return new_array(d)
    given = {NUM: num_leaf(d), list_of(NUM): f"[{num_leaf(d)}]", arr(d.width): known}
    d.share(*(entry.name for entry in d.entries("arr")))
    name = d.fresh("obj")
    d.emit(f"{name} = {made.name}({', '.join(given[type_] for _, type_ in made.fields)})", "object made")
    return known_as(d, name)


def known_as(d: Draft, name: str) -> None:
    made = d.records[0]
    d.bind(name, Type("obj", fields=made.fields))
    for key, type_ in made.fields:
        d.bind(f"{name}.{key}", type_, shared=True)


def use(d: Draft) -> None:
    """A method called, an attribute written from outside, or a second name for the object."""
    found = d.entries("obj")
    if not found:
        return new(d)
    name = d.pick(found).name
    form = d.rng.randrange(5)
    if form == 0:
        second = d.fresh("obj")
        d.emit(f"{second} = {name}", "alias of an object")
        return known_as(d, second)
    if form == 1:
        write_to(d, replace(d.names[f"{name}.u"]))
        return d.tag("attribute written from outside")
    if form == 2 and len(found) > 1:
        each, (method, _) = d.fresh("obj"), d.pick(d.records[0].methods)
        d.emit(f"for {each} in [{', '.join(entry.name for entry in found)}]:", "loop over objects")
        return d.emit(f"    {each}.{method}({num_leaf(d)})")
    return called(d, name)


def called(d: Draft, name: str) -> None:
    method, gives = d.pick(d.records[0].methods)
    text = f"{name}.{method}({num(d, 1)})"
    d.tag("method called")
    if gives is None:
        return d.emit(text)
    target = d.fresh(gives.kind)
    d.emit(f"{target} = {text}")
    d.bind(target, gives, shared=True)
    return write_to(d, d.names[target]) if gives != NUM else rebind_number(d)


FORMS = (new, use, use, use)
