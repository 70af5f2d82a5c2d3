"""Statements of drawn programs on what holds things: nested lists, lists of arrays, deques, dicts with defaults."""

from __future__ import annotations

from .expressions import array, element, num, num_leaf
from .model import NUM, Draft, list_of
from .places import place, wrap
from .statements import new_array, tame, write_to


def fresh(d: Draft, stem: str) -> str:
    name = f"{stem}{sum(n.startswith(stem) for n in d.used)}"
    d.used.add(name)
    return name


def total(d: Draft, text: str) -> None:
    """A number in scope."""
    target = d.fresh("num")
    d.emit(f"{target} = {tame(d, text)}")
    d.bind(target, NUM)


def nested(d: Draft) -> None:
    """Lists in a list, of which one may be in scope, or there twice."""
    name = fresh(d, "grid")
    lists = [entry.name for entry in d.entries("list") if entry.type.item == NUM]
    first = d.pick(lists) if lists and d.chance(60) else f"[{num_leaf(d)}, {num_leaf(d)}]"
    d.emit(f"{name} = [{first}, [{num_leaf(d)}]]", "lists in a list")
    for _ in range(d.rng.randrange(1, 4)):
        grown = [
            f"{name}[-1].append({num_leaf(d)})",
            f"{name}.append([{num_leaf(d)}])",
            f"{name}[0].extend({name}[-1][:1])",
        ]
        grown += [f"{name}.insert(0, {name}[-1])", f"{name} += [{name}[0] * 2]", f"{name} = {name} + {name}[:1]"]
        changed = [f"{name}[0][-1] {d.pick(['', '+', '*'])}= {tame(d, num(d, 1))}", f"{name}[0] = {name}[-1]"]
        changed += [f"{name}[0], {name}[-1] = {name}[-1], {name}[0]"]
        d.emit(d.pick(changed + grown if d.growing else changed))
    total(d, d.pick([f"{name}[0][-1] * {name}[-1][0]", f"sum([v * {d.const()} for part in {name} for v in part])"]))


def arrays(d: Draft) -> None:
    """A list of arrays changed as a whole, and what it then holds written into."""
    known = [entry for entry in d.rank(1)]
    if not known:
        return new_array(d)
    entry = d.pick(known)
    name, shape = d.fresh("list"), entry.type.shape
    one, other = place(d, shape), array(d, shape, 1)
    d.share(*(e.name for e in known))
    d.emit(f"{name} = [{entry.name}, {other}]", "list of arrays changed as a whole")
    item = d.pick([one, one, other, f"np.sin({one})"])
    for _ in range(d.rng.randrange(1, 3)):
        d.emit(d.pick([
            f"{name}.insert({d.pick(['0', '1', '-1'])}, {item})", f"{name}.extend([{one}, {item}])",
            f"{name} += [{item}]", f"{name} = {name}[::-1]", f"{name}[1:] = [{item}, {one}]", f"{name} = {name} * 2",
            f"{name} = {name} + {name}[:1]",
            f"{name}[:1] = []", f"{name}.append({name}.pop(0))", f"{name}.reverse()", f"del {name}[0]",
            f"{name} = [{d.const()} * v for v in {name}] + {name}", f"{name}.insert(1, {name}[0])",
        ]))  # fmt: skip
        d.emit(f"{name}.append({one})")
    d.bind(name, list_of(entry.type))
    d.tag("write through an alias")
    spot = element(d, name + d.pick(["[0]", "[-1]"]), shape)
    d.emit(f"{spot} {d.pick(['=', '+='])} {tame(d, num(d, 1))}")
    each = f"sum([np.sum(v) * (k + 1.0) for k, v in enumerate({name})])"
    return total(d, d.pick([f"np.sum({name}[0] * {name}[-1])", each, each]))


def queue(d: Draft) -> None:
    """A deque of numbers, or of arrays, at both ends of which things come and go."""
    name, known = fresh(d, "queue"), d.rank(1) if d.chance(50) else []
    if known:
        entry = d.pick(known)
        one, other = entry.name, place(d, entry.type.shape)
        d.share(*(e.name for e in known))
    else:
        one, other = num_leaf(d), tame(d, num(d, 1))
    bound = d.pick(["", "", ", maxlen=2", ", maxlen=3"])
    d.emit(f"{name} = deque([{one}, {other}]{bound})", "deque of arrays" if known else "deque of numbers")
    for _ in range(d.rng.randrange(1, 4)):
        d.emit(d.pick([
            f"{name}.append({one})", f"{name}.appendleft({other})", f"{name}.rotate({d.pick(['1', '-1'])})",
            f"{name}.extend([{one}, {other}])", f"{name}.append({name}.popleft())", f"{name}.appendleft({name}.pop())",
            f"{name}[0] = {other}", f"{name}.reverse()",
        ]))  # fmt: skip
    if known:
        taken = d.bind(d.fresh("arr"), entry.type, shared=True)
        d.emit(f"{taken} = {name}[{d.pick(['0', '-1'])}]")
        write_to(d, d.names[taken])
        return total(d, f"np.sum({name}[0] * {name}[-1])")
    return total(d, d.pick([f"{name}[0] * {name}[-1] + {name}.pop()", f"sum(v * {d.const()} for v in {name})"]))


def defaults(d: Draft) -> None:
    """Sums or lists by key, made where a key is asked for the first time."""
    name, kind = fresh(d, "groups"), d.rng.randrange(3)
    start = ("defaultdict(float)", "defaultdict(list)", "{}")[kind]
    d.emit(f"{name} = {start}", "dict with defaults")
    many = d.chance(60)
    if many:
        i = d.fresh("loop")
        d.emit(f"for {i} in range({d.rng.randrange(2, 5)}):")
        d.indent += 1
    add = ("{}[{}] += {}", "{}[{}].append({})", "{}.setdefault({}, []).append({})")[kind]
    value = f"{wrap(num(d, 1))} * {i}" if many else num(d, 1)
    d.emit(add.format(name, f"{i} % 2" if many else d.pick(["0", "1"]), value))
    d.indent -= many
    d.emit(add.format(name, "1", num_leaf(d)))
    if kind == 0:
        return total(d, d.pick([f"{name}[0] + {name}[1] * {num_leaf(d)}", f"sum({name}.values())"]))
    return total(d, d.pick([f"{name}[1][-1] * {num_leaf(d)}", f"sum([v[0] * len(v) for v in {name}.values()])"]))


def by_name(d: Draft) -> None:
    """Arrays in a dict: stored, replaced, taken out, written into."""
    known = d.rank(1)
    if not known:
        return new_array(d)
    entry = d.pick(known)
    name, shape = d.fresh("dict"), entry.type.shape
    d.share(*(e.name for e in known))
    d.emit(f'{name} = {{"u": {entry.name}, "v": {place(d, shape)}}}', "arrays in a dict")
    for _ in range(d.rng.randrange(1, 3)):
        d.emit(d.pick([
            f'{name}.update(u={place(d, shape)})', f'{name}["u"], {name}["v"] = {name}["v"], {name}["u"]',
            f'{name}["v"] = {name}.pop("u")', f'{name}["u"] = {name}.get("w", {entry.name})',
            f'{name}.setdefault("u", {place(d, shape)})', f'{name}["v"] = {tame(d, array(d, shape, 1))}',
        ]))  # fmt: skip
        d.emit(f'{name}.setdefault("u", {entry.name})')
    d.tag("write through an alias")
    spot = element(d, name + d.pick(['["u"]', '["v"]']), shape)
    d.emit(f"{spot} {d.pick(['=', '*='])} {tame(d, num(d, 1))}")
    return total(d, f'np.sum({name}["u"] * {name}["v"]) + {wrap(num_leaf(d))} * len({name})')


FORMS = (nested, arrays, arrays, queue, queue, defaults, by_name)
