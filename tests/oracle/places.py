"""Names, indices and views: the arrays of the scope and the ways to look at them."""

from __future__ import annotations

from .model import Draft, arr


def wrap(text: str) -> str:
    """Parentheses where an operand needs them."""
    plain = text.replace("_", "a").replace(".", "a").isalnum()
    depth = 0
    for i, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if depth == 0 and (char == " " or (char == "-" and i == 0)):
            return f"({text})"
    return text if plain or text[-1] in ")]" else f"({text})"


def index(d: Draft, extent: int) -> str:
    """An integer that indexes an axis of this extent."""
    ints = [entry for entry in d.entries("int")]
    if ints and d.chance(70):
        entry = d.pick(ints)
        if entry.limit is not None and entry.limit <= extent:
            return d.pick([entry.name, entry.name, f"{entry.name} - 1"]) if extent > 1 else entry.name
        return f"{entry.name} % {extent}"
    return str(d.pick([*range(extent), -1]))


def places(d: Draft, shape: tuple[int, ...]) -> list[str]:
    """Expressions that are an array of the scope, or a view of one."""
    found = [entry.name for entry in d.of(arr(*shape))]
    for entry in d.entries("arr"):
        found += views(d, entry.name, entry.type.shape, shape)
    for entry in d.entries("list"):
        if entry.type.item == arr(*shape):
            found.append(f"{entry.name}[{d.pick(['0', '-1'])}]")
    for entry in d.entries("dict", "tuple"):
        found += entry.type.picks(entry.name, arr(*shape))
    return found


def views(d: Draft, name: str, have: tuple[int, ...], want: tuple[int, ...]) -> list[str]:
    """Ways to look at an array of shape `have` as one of shape `want`."""
    if d.whole:
        return []
    if have == want:
        row = [f"np.squeeze({name}[None], 0)", f"{name}[:, None].squeeze(-1)", f"{name}[:, None][:, 0]", f"{name}[...]"]
        row = [f"np.squeeze({name}[np.newaxis])"] if d.chance(1) else row  # which axes go is then not known
        return (
            [f"{name}[::-1]", f"{name}[..., ::-1]", f"{name}[...]"]
            if len(have) == 2
            else [f"{name}[::-1]", d.pick(row)]
        )
    found = []
    if len(have) == 1 and len(want) == 1 and have[0] > want[0]:
        found += [f"{name}[{have[0] - want[0]}:]", f"{name}[:-{have[0] - want[0]}]"]
        found += [f"{name}[-1:0:-1]"] if have[0] - want[0] == 1 else []
        found += [f"{name}[1:-1]"] if have[0] - want[0] == 2 else []
        if (have[0] + 1) // 2 == want[0]:
            found.append(f"{name}[::2]")
    if len(have) == 2 and len(want) == 1:
        rows, cols = have
        found += [f"{name}[{index(d, rows)}]"] if cols == want[0] else []
        found += [f"{name}[:, {index(d, cols)}]"] if rows == want[0] else []
        found += [f"{name}[{index(d, rows)}, {cols - want[0]}:]"] if 0 < want[0] < cols else []
        found += flat(name) if rows * cols == want[0] else []
    if len(have) == 2 and len(want) == 2:
        found += turned(name, want) if have == want[::-1] else []
        found += [f"{name}[:{want[0]}, :{want[1]}]"] if have[0] >= want[0] and have[1] >= want[1] else []
    if len(have) == 1 and len(want) == 2 and have[0] == want[0] * want[1]:
        found.append(f"{name}.reshape({want[0]}, {want[1]})")
        found += [f"{name}[None]", f"np.expand_dims({name}, 0)", f"np.atleast_2d({name})"] if want[0] == 1 else []
        found += [f"{name}[:, None]", f"{name}[..., np.newaxis]", f"np.expand_dims({name}, 1)"] if want[1] == 1 else []
    return found


def turned(name: str, want: tuple[int, ...]) -> list[str]:
    """Ways to look at a matrix with its axes exchanged, and one that is another order of its elements."""
    axes = [f"{name}.swapaxes(0, 1)", f"np.transpose({name})", f"{name}.transpose(1, 0)", f"np.moveaxis({name}, 0, 1)"]
    return [f"{name}.T", f"{name}[::-1].T", f"{name}.reshape{want}", *axes]


def flat(name: str) -> list[str]:
    """Ways to look at a matrix as one row; its layout says which are views."""
    asked = [f"{name}.ravel()", f"{name}.reshape(-1)", f"np.reshape({name}, -1)"]
    return [*asked, f"{name}.T.ravel()", f"np.ravel({name}.T)", f"{name}.flatten()"]


def place(d: Draft, shape: tuple[int, ...]) -> str:
    """An array of the scope or a view of one, or nothing if there is none of this shape."""
    found = places(d, shape)
    return d.pick(found) if found else ""
