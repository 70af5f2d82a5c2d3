"""Statements of drawn programs on complex numbers and arrays, made of real ones and brought back to such."""

from __future__ import annotations

from .expressions import array, num, num_leaf
from .model import NUM, Draft, Entry, Type, arr
from .places import index, place, wrap
from .statements import tame

NUMBER = Type("complex")


def waves(*shape: int) -> Type:
    return Type("complex", shape)


# ---- expressions ----
def number(d: Draft) -> str:
    """A complex number of moderate size."""
    found = d.entries("complex")
    if not found or d.chance(40):
        first, second = wrap(num(d, 1)), wrap(num_leaf(d))
        return d.pick([f"{first} + 1j * {second}", f"np.exp(1j * {second})", f"{first} - {d.const()}j"])
    entry = d.pick(found)
    shape = entry.type.shape
    text = f"{entry.name}[{', '.join(index(d, extent) for extent in shape)}]" if shape else entry.name
    return d.pick([
        text, f"{text}.conjugate()", f"np.conj({text})", f"{text} * {wrap(num_leaf(d))}", f"{text} * {text}",
        f"{text} / (1.5 + {text}.real ** 2)", f"{text} * np.exp({d.const()}j * {wrap(num_leaf(d))})",
        f"{text} - {num_leaf(d)}",
    ])  # fmt: skip


def whole(d: Draft, shape: tuple[int, ...]) -> str:
    """A complex array."""
    found = d.of(waves(*shape))
    if not found or d.chance(30):
        first, second = wrap(array(d, shape, 0)), wrap(array(d, shape, 0))
        turns = [f"np.exp(1j * {second})", f"{first} * (0.3 + {d.const()}j)"]
        return d.pick([f"{first} + 1j * {second}", *turns, transform(d, first, shape[-1])])
    z = d.pick(found).name
    return d.pick([
        z, f"{z}[::-1]", f"np.conj({z})", f"{z} * {z}", f"{z} * {wrap(array(d, shape, 0))}", f"{z} * {wrap(number(d))}",
        f"{z} / (1.5 + np.abs({z} + 3.0))", f"np.where({z}.real > {d.const()}, {z}, {number(d)})", f"1j * {z}",
        transform(d, z, shape[-1]),
    ])  # fmt: skip


def transform(d: Draft, text: str, extent: int) -> str:
    """A Fourier transform along the last axis, now and then of more or fewer points."""
    d.tag("Fourier transform")
    name, points = d.pick(["fft", "fft", "ifft"]), extent + d.rng.randrange(1, 3)
    if d.chance(60):
        return f"np.fft.{name}({text})"
    d.tag("transform of another length")
    return f"np.fft.{name}({text}, {points})[..., :{extent}]"


def small(d: Draft, text: str) -> str:
    return f"{d.pick(['0.5', '0.4j', '(0.3 - 0.4j)'])} * {wrap(text)}"


# ---- statements ----
def new(d: Draft) -> None:
    if not d.rank(1) or d.chance(25):
        name, text = d.fresh("complex"), number(d)
        d.emit(f"{name} = {text}", "complex number")
        d.bind(name, NUMBER)
        return
    shape = d.pick(d.entries("arr")).type.shape
    name = d.fresh("complex")
    text = f"np.zeros({shape}, dtype=complex)" if d.chance(25) else whole(d, shape)
    d.emit(f"{name} = {text}", "complex array")
    d.bind(name, waves(*shape), shared=True)


def change(d: Draft) -> None:
    """A complex number rebound, an array written: parts of it, all of it, or its real or imaginary part."""
    if not d.entries("complex"):
        return new(d)
    entry = d.pick(d.entries("complex"))
    name, shape = entry.name, entry.type.shape
    if not shape:
        op = d.pick(["", "", "+", "*"])
        text = small(d, number(d)) if op != "*" else f"np.exp({d.const()}j * {wrap(num_leaf(d))})"
        return d.emit(f"{name} {op}= {text}", "complex number bound again")
    if d.chance(45):
        return write_part(d, entry)
    at = f"{name}[{', '.join(index(d, extent) for extent in shape)}]"
    fixed = f"{name}[[0, {d.rng.randrange(shape[0])}]]"
    return d.emit(d.pick([
        f"{at} = {small(d, number(d))}", f"{at} += {small(d, number(d))}",
        f"{at} *= np.exp({d.const()}j * {wrap(num_leaf(d))})", f"{name}[...] = {whole(d, shape)}",
        f"{name} += 0.4j * {wrap(whole(d, shape))}", f"{name} *= {small(d, number(d))}",
        f"{name}[:-1] = {name}[1:]", f"{name}[1:] -= {small(d, f'{name}[:-1]')}", f"{name}[::-1][0] = {num_leaf(d)}",
        f"{name}[{name}.imag > {d.const()}] = {small(d, number(d))}", f"{fixed} = {small(d, number(d))}",
        f"np.multiply({name}, {small(d, number(d))}, out={name})", f"np.conj({name}, out={name})",
    ]), "complex write")  # fmt: skip


def write_part(d: Draft, entry: Entry) -> None:
    """The real or the imaginary part written: it is a view."""
    name, shape, part = entry.name, entry.type.shape, d.pick(["real", "imag"])
    value = array(d, shape, 1)
    d.emit(d.pick([
        f"{name}.{part} = {value}", f"{name}.{part} += {d.const()} * {wrap(value)}", f"{name}.{part} *= 0.7",
        f"{name}.{part}[{', '.join(index(d, extent) for extent in shape)}] = {num(d, 1)}",
        f"{name}.{part}[...] = {value}",
        f"{name}.{part}[1:] = {name}.{d.pick(['real', 'imag'])}[:-1]", f"{name}[::-1].{part} = {value}",
        f"np.add({name}.{part}, {value}, out={name}.{part})", f"{name}[1:].{part}[-1] += {num(d, 1)}",
    ]), "real or imaginary part written")  # fmt: skip


def other_name(d: Draft) -> None:
    """A second name for the array, a view of it, or of its parts as a real array."""
    found = [entry for entry in d.entries("complex") if entry.type.shape]
    if not found:
        return new(d)
    entry = d.pick(found)
    name, shape = entry.name, entry.type.shape
    if d.chance(60):
        part = d.bind(d.fresh("arr"), arr(*shape), shared=True)
        return d.emit(f"{part} = {name}.{d.pick(['real', 'imag'])}", "view of a part")
    second = d.fresh("complex")
    text, kept = d.pick(
        [(name, shape), (f"{name}[::-1]", shape), (f"{name}[0]", shape[1:]), (f"{name}.T", shape[::-1])]
    )
    d.emit(f"{second} = {text}", "complex alias")
    d.bind(second, waves(*kept), shared=True)
    return None


def back(d: Draft) -> None:
    """A real number or array of complex ones."""
    found = d.entries("complex")
    if not found:
        return new(d)
    entry = d.pick(found)
    name, shape = entry.name, entry.type.shape
    if not shape:
        text = d.pick([f"abs({name})", f"({name} * {name}).imag", f"{name}.real"])
        d.emit(f"{d.bind(d.fresh('num'), NUM)} = {tame(d, text)}", "real number of a complex one")
        return None
    if d.chance(50):
        target = d.fresh("arr")
        text = d.pick(
            [f"np.abs({name} + 2.5)", f"({name} * {name}).real", f"np.sin({name}.imag)", f"{name}.real.copy()"]
            + [f"np.fft.irfft({name}, {shape[-1]})"] * (shape[-1] > 1)
        )
        d.emit(f"{target} = {text}", "real array of a complex one")
        d.bind(target, arr(*shape))
        return None
    fellow = d.pick(d.of(entry.type)).name
    text = d.pick([
        f"np.sum({name} * np.conj({fellow})).real", f"np.vdot({name}, {fellow}).imag",
        f"np.sum(np.abs({name} + 2.5) ** 2)", f"np.mean({name}).imag",
        f"np.sum({name}.real * {place(d, shape) or name + '.imag'})",
    ])  # fmt: skip
    d.emit(f"{d.bind(d.fresh('num'), NUM)} = {tame(d, text)}", "real number of a complex array")
    return None


def story(d: Draft) -> None:
    """Something complex made, changed, and brought back."""
    for step in (new, change, d.pick([change, other_name, write_any]), back):
        step(d)


def write_any(d: Draft) -> None:
    """A part of a complex array written into."""
    found = [entry for entry in d.entries("complex") if entry.type.shape]
    write_part(d, d.pick(found)) if found else new(d)


FORMS = (new, change, change, change, other_name, back, back)
