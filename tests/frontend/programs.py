"""Functions that are run natively and through the language: `CASES` has each with its arguments."""

import math
import operator
from math import sin as sine

import numpy as np
import numpy.linalg as la

SCALE = 3.0
FLAG = True
TABLE = [1.0, 2.0]
LOG: list[object] = []
CASES: list[tuple[object, tuple[object, ...], dict[str, object]]] = []


def case(*args, **kwargs):
    def enter(function):
        CASES.append((function, args, kwargs))
        return function

    return enter


def mark(value, name):
    """`value`, and a note that it was evaluated."""
    LOG.append(name)
    return value


def poke(x):
    x[0] = x[0] + 10.0
    return x[0]


class Box:
    factor = 4.0
    __hidden = 2.0

    def __init__(self, value):
        self.value = value
        self.__secret = value

    @staticmethod
    def twice(x):
        return 2.0 * x

    def secret(self, x):
        return self.__secret * x


@case(2.0, 3.0)
def arithmetic(a, b):
    return (a + b) * a - b / a + a**b // 2 % 5, -a, +b, ~3, not a, 7 << 2 >> 1, 6 & 3 | 8 ^ 1


@case(np.eye(2), np.ones((2, 2)))
def matrices(a, b):
    return a @ b, (a @ b).T, a[0, :] @ b[..., 1]


@case(1)
@case(5)
@case(9)
def chains(x):
    return 0 < x < 6, 0 < x <= 9 != 4, x in (1, 5), x not in [5], x is None, x is not None


@case()
def chained_once():
    r = mark(1, "a") < mark(0, "b") < mark(2, "c")
    s = mark(1, "a") < mark(2, "b") < mark(3, "c") < mark(0, "d") < mark(9, "e")
    return r, s


@case(0, 2)
@case(1, 0)
@case(0, 0)
@case(3, 4)
def short_circuit(a, b):
    r = mark(a, "a") and mark(b, "b") and mark(7, "c")
    s = mark(a, "d") or mark(b, "e") or mark([], "f")
    t = not (a and b or s)
    return r, s, t


@case(1)
@case(0)
@case(-1)
def conditional(x):
    return mark("p", "p") if x > 0 else mark("z", "z") if x == 0 else mark("n", "n")


@case(1)
@case(2)
@case(3)
@case(4)
def branches(x):
    if x == 1:
        y = "one"
    elif x == 2:
        return "two"
    elif x == 3:
        y = "three"
    else:
        y = "many"
        x = 0
    return y, x


@case(1, 2, 3)
def swaps(a, b, c):
    a, b = b, a
    a, b, c = c, a, b
    (a, b), c = (b, a), a + b + c
    [a, b] = a + b, a - b
    return a, b, c


@case([1.0, 2.0, 3.0])
def element_swaps(x):
    x[0], x[2] = x[2], x[0]
    i = 0
    i, x[i] = 2, 50.0
    return x, i


@case(np.arange(4.0))
def reversed_view(x):
    x[0], x[1], x[2], x[3] = x[::-1]
    return x


@case(np.arange(6.0).reshape(2, 3))
def row_views(x):
    x[0], x[1] = x[1], x[0]
    return x


@case([[1, 2], [3, 4]])
def unpack(pairs):
    (a, b), (c, d) = pairs
    e = f = g = (a, c)
    h, (i, j) = k = b, e
    return a, b, c, d, e, f, g, h, i, j, k


@case((1, 2, 3))
@case((1,))
@case(np.arange(3.0))
def unpack_wrong(x):
    a, b = x
    return a, b


@case((1, 2))
def chained_pattern(x):
    i = (7, 8)
    (i, j) = k = i
    x = y = x[0]
    return i, j, k, x, y


@case(3)
def walrus(x):
    y = x + (x := 10) + x
    z = [x, (x := x + 1), x]
    w = (x, (x := 5), x)
    x += (x := 100)
    a, b = x, (x := 1)
    return y, z, w, x, a, b


@case(1.0)
def walrus_while(x):
    n = 0
    while (d := 10.0 - x) > 1.0 and n < 50:
        x = x + d / 2
        n += 1
    return x, d, n


@case([1, 2, 3])
def walrus_comprehension(xs):
    total = 0
    out = [total := total + x for x in xs]
    return out, total


@case(2)
def walrus_call(x):
    return max(x, (x := 7), x), x


@case(np.arange(4.0))
def augmented(x):
    y = x
    y += 1.0
    x[1:] *= 2.0
    x[0] -= 3.0
    n = 5
    n **= 2
    n //= 2
    n %= 7
    n |= 8
    n ^= 1
    n &= 13
    n <<= 2
    n >>= 1
    return x, y, n, x is y


@case([1.0, 2.0])
def augmented_poked(x):
    x[0] += poke(x)
    x[mark(0, "key")] += mark(1.0, "value")
    return x


@case([[1.0], [2.0]])
def augmented_list(x):
    y = x[0]
    y += [5.0]
    x[1] += [6.0]
    return x


@case(4)
@case(0)
def ranges(n):
    out = []
    for i in range(n):
        out.append(i)
    for i in range(1, n):
        out.append(i * 10)
    for i in range(n, -1, -2):
        out.append(i * 100)
    for i in reversed(range(n)):
        out.append(i * 1000)
    for i in reversed(range(1, 10, n + 2)):
        out.append(i)
    return out


@case(5)
def loop_variable_changed(n):
    out = []
    for i in range(n):
        out.append(i)
        i = i * 2
        n = n - 1
        out.append(i)
    return out, i, n


@case(3)
def range_shadows_bound(n):
    total = 0
    for n in range(n):
        total += n
    for k in range(n, n + 3):
        for n in range(k):
            total += n * k
    return total, n, k


@case(3)
def same_variable_nested(n):
    out = []
    for i in range(n):
        for i in range(i):
            out.append(i)
        out.append(i)
    return out, i


@case(7)
@case(2)
def exits(n):
    out = []
    for i in range(n):
        if i == 1:
            continue
        for j in range(n):
            if j > i:
                break
            if i + j == 8:
                return out, "early"
            out.append((i, j))
        else_ = i
    while True:
        n -= 1
        if n % 2:
            continue
        if n < 0:
            break
        out.append(n)
    return out, else_, i, j


@case([3, 1, 2])
@case(())
@case(np.arange(6.0).reshape(3, 2))
@case({"a": 1, "b": 2})
@case("text")
@case(range(2, 9, 3))
def iterate(xs):
    out = []
    for x in xs:
        out.append(x)
    for k, x in enumerate(xs):
        out.append((k, x))
    for k, x in enumerate(xs, 5):
        out.append((k, x))
        k = 2
    for pair in enumerate(xs, start=len(out)):
        out.append(pair)
    return out


@case([1, 2, 3], (4, 5), "abcd")
def zips(a, b, c):
    out = []
    for x, y in zip(a, b):
        out.append(x + y)
    for i, (x, (y, z)) in enumerate(zip(a, zip(b, c))):
        out.append((i, x, y, z))
    for i, t in enumerate(zip(a, reversed(b), range(9))):
        out.append((i, t))
    for t in zip(a):
        out.append(t)
    for x, (i, y) in zip(a, enumerate(b, 1)):
        out.append((x, i, y))
    for (i, x), y in zip(enumerate(c), reversed(range(3))):
        out.append((x, i, y))
    for x in reversed(a):
        out.append(x)
    for i, i in enumerate(a):
        out.append(i)
    for i, x in enumerate(enumerate(b)):
        out.append((i, x))
    return out, i, x


@case([0, 0, 0])
def odd_targets(x):
    for x[0] in range(4):
        x[1] += x[0]
    for i, x[i] in enumerate("ab"):
        x[2] = i
    for x[1], x[0] in zip("xy", "uv"):
        pass
    return x


@case([1, 2, 3])
def rebound_iterable(x):
    out = []
    for v in x:
        x = [v, v]
        out.append(x)
    return out, x, v


@case(3)
def while_else_free(n):
    while n:
        n = n - 1
    while 1:
        n += 1
        if n > 4:
            return n


@case(3)
@case(-3)
def loop_returns(n):
    while True:
        if n > 5:
            return "up"
        if n < -5:
            raise ValueError(f"down {n}")
        n *= 2


@case(4)
def comprehensions(n):
    i = 100
    a = [i * i for i in range(n)]
    b = [(i, j) for i in range(n) if i % 2 for j in range(i) if j if j < 9]
    c = [[i + j for j in range(i)] for i in range(i - 97)]
    d = [[i for i in range(i)] for i in range(3)]
    e = [x for x, _ in zip("abc", range(2))]
    f = [([i for i in range(2)], i, [n for n in range(i)], i_) for i in range(3) for i_ in "p"]
    return a, b, c, d, e, f, i, n


@case([3.0, 1.0, 2.0])
def generators(xs):
    return (
        sum(x * x for x in xs),
        max(x for x in xs if x < 3),
        tuple(x for x in xs),
        ",".join(str(x) for x in xs),
        any(mark(x, x) < 2 for x in xs),
        all(mark(x, x) < 2 for x in xs),
        any(x < 0 for x in xs),
        all(x > 0 for x in xs if x != 1.0),
        sorted(x for x in xs),
        math.fsum(x for x in xs),
        list(list(y for y in range(2)) for x in xs),
    )


@case(np.arange(24.0).reshape(2, 3, 4))
def keys(a):
    a = a + 0.0
    a[0] = 1.0
    a[0, 1:, ::-1] = np.arange(4.0)
    a[..., None, 2][1] = 9.0
    a[:, [0, 1], 0] = 5.0
    a[a > 20.0] = -1.0
    t = (1, 2)
    a[t] = 7.0
    return a[()], a[1, 2], a[t], a[1:2, -1], a[(0, 1), 2], a[1][:, None, ...], a[:-1:2]


@case(2.0)
def displays(x):
    d = {"a": x, "b": [x, (x,)], 3: {}, (1, 2): x, -1: "m", 1: "i", True: "t"}  # noqa: F601
    e = {}
    e["k"] = d
    name = "key"
    f = {name: x, "other": 2, name + "2": 3}
    return d, (), [], (x,), e, f


@case(2.5)
def strings(x):
    w = 8
    return f"{x}", f"a{x:.2f}b{x!r:>{w}}c{{}}", "", "plain", f"{x!s}{x!a}{w:+d}", f"{x=}"


@case(2.0)
def outside(x):
    y = np.linalg.norm(np.array([x, SCALE])) + la.norm(TABLE) + sine(x) + math.pi
    z = np.add.reduce([x, x]) + np.float64(x) + Box.twice(x) + Box.factor
    return (y + z) * operator.mul(2.0, x) if FLAG else None


@case(2.0)
def shadowed(max):
    sum = max
    len = [sum]
    np = {"a": 1.0}
    range = [4, 5]
    out = [sum, len, np["a"]]
    for enumerate in range:
        out.append(enumerate)
    return out


@case([1, 2])
def methods(x):
    x.append(3)
    y = x.copy()
    y.extend([4])
    mark(x, "m").append(mark(5, "n"))
    return x, y, y.index(4), "a-b".split("-", maxsplit=1), {"k": 1}.get("k"), np.arange(3).sum(axis=0)


@case(Box(2.0))
def attributes(box):
    v = box.value
    return v * box.factor, box.twice(v), (box).secret(3.0), Box.twice


@case(3)
def order(n):
    x = mark(1, "a") + mark(2, "b") * mark(3, "c")
    y = [mark(4, "d"), {mark("k", "e"): mark(5, "f")}]
    y[mark(1, "g")][mark("z", "h")] = mark(6, "i")
    f = mark(max, "j")(mark(7, "k"), mark(8, "l"), key=mark(None, "m"))
    y[mark(0, "o")] += mark(1, "p")
    y[0], y[1] = mark(9, "q"), mark(10, "r")
    a = b = mark(11, "s")
    z = mark([1, 2], "t")[mark(0, "u") : mark(2, "v") : mark(1, "w")]
    return x, y, f, a, b, z


@case(1)
@case(-1)
@case(0)
def raises(x):
    assert x, f"zero {mark(x, 'msg')}"
    if x < 0:
        raise ValueError
    assert x == 1
    raise KeyError("positive", x)


@case(2)
def falls_off(x):
    if x > 3:
        return x
    x = 1


@case(2)
def unreachable(x):
    for i in range(3):
        continue
        x = 100
    if x:
        return x
    else:
        return 0
    y = x
    return y


@case(0)
@case(3)
def unbound(n):
    for i in range(n):
        late = i
    return late


@case(1, 2, z=5, extra=7)
@case(1)
@case(1, 2, 3, 4, z=0)
def signature(x, y=10, *rest, z=3, w=TABLE, **more):
    """Doc."""
    return x, y, rest, z, w, more


@case(1)
def annotated(x: int) -> tuple:
    y: float = x * 2.0
    z: int  # noqa: F842
    (w): "float" = y
    pass
    ...
    "a string"
    return y, w


@case(3)
def global_read(x):
    global SCALE
    return SCALE * x


@case(2.0)
def lambdas(x):
    f = lambda y, k=x * 2: (x, y, k)
    return f(1), f(1, 2), f(k=5, y=3), (lambda: x)()


@case(3)
def late_binding(n):
    made, held = [], []
    for i in range(n):
        made.append(lambda: i)
        held.append(lambda i=i: i)
    seen = [f() for f in made] + [f() for f in held]
    i = 10
    return seen, [f() for f in made], [(lambda: j)() for j in range(2)], [f() for f in [lambda: j for j in range(3)]]


@case(1.0)
def rebound_by_inner(x):
    total, log = x, []

    def add(y):
        nonlocal total
        total += y
        log.append(total)

        def twice():
            nonlocal total
            total = total * 2

        twice()
        return total

    return add(1), add(2), total, log


@case(5)
def mutual(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    start = n + 1

    def odd(k):
        return False if k == 0 else even(k - 1)

    def factorial(k):
        return 1 if k == 0 else k * factorial(k - 1) + start * 0

    return even(n), odd(n), factorial(start)


@case(2)
def shadows(x):
    y = 1

    def f(x):
        z = x + y

        def g(y):
            x = y * 10
            return x + z, [y for y in range(x)][-1:]

        return g(x), x

    return f(5), x, y, [x for x in range(2)], (lambda x: [x + y for y in range(x)])(3)


@case([1, 2])
def bound_later(x):
    def f():
        return later + len(x)

    if x:
        later = 5
    first = f()
    later = 7
    x = [1]
    return first, f()


@case(0)
@case(1)
def unbound_in_inner(n):
    if n:
        late = n

    def f():
        return late

    return f() if n else [f] != []


@case(2)
def unreachable_function(n):
    def f(k):
        return k if k < 2 else g(k)

    return f(1)

    def g(k):
        return f(k)


@case(3, 4)
def signatures_inside(a, b):
    def f(x, *rest, y=a, **more):
        return x, rest, y, more

    return f(1), f(1, 2, 3), f(1, y=2, z=b), (lambda *args, k=b: (args, k))(a, a)


@case(2)
def decorated(x):
    def twice(f):
        return lambda y: 2 * f(y)

    @twice
    @twice
    def g(y):
        return y + x

    return g(1)


def made():
    factor, power = 2.0, [3.0]

    def inner(x, n=power):
        return factor * x ** power[0], [factor * k for k in range(2)], n

    return inner


case(2.0)(made())
case(4)(lambda x, y=2: [x**y, x if x > 3 else y])
case(Box(3.0), 2.0)(Box.secret)


@case([1, 2, 3], {"y": 4})
def starred(a, d):
    first, *rest = a
    *front, last = (*a, 5, *rest)
    (b, *_), [*c] = [first, 7], front
    for x, *y in [(1, 2, 3), [4]]:
        c.append([x, y])
    return first, rest, front, last, b, c, [*a, *d], {**d, "z": 1, **{"y": 2}}, {**d}, signature(*a, **d, z=last)


@case([1])
def too_few(a):
    b, c, *d = a
    return b, c, d


@case(1, 2, key=3)
def by_position_only(a, b, /, **more):
    return a, b, more


@case([3, 1, 2], 1)
@case([3, 1, 2], 9)
@case([], 1)
def else_of_a_for(items, wanted):
    for place, item in enumerate(items):
        if item == wanted:
            break
    else:
        place = -1
    return place


@case(5, 3)
@case(5, 9)
def else_of_a_while(n, stop):
    trail = []
    while n > 0:
        for k in range(n):
            if k > stop:
                break
            trail.append(k)
        else:
            n -= 1
            continue
        if n == stop:
            break
        n -= 2
    else:
        trail.append("done")
    return trail


@case(3)
def else_without_a_break(n):
    total = 0
    for k in range(n):
        total += k
    else:
        total += 100
    while n:
        n -= 1
    else:
        return total
    return None


@case({"a": 1, "b": 2})
def views(table):
    seen = []
    for key in table:
        seen.append(key)
    for key, value in table.items():
        seen.append((key, value))
        table[key] = value * 2
    for pair in table.items():
        seen.append(pair)
    for value in table.values():
        seen.append(value)
    for number, key in enumerate(table.keys()):
        seen.append((number, key))
    return seen, table


@case([1, 2, 2, 3])
def comprehended(items):
    squares = {i: i * i for i in items if i != 2}
    kinds = {i % 2 for i in items}
    merged = {**squares, 7: 1, **{1: 5}}
    return squares, kinds, {1, 2, 3}, merged, {k: {j: k for j in range(k)} for k in items}


@case()
def imports():
    import math as m
    import os.path
    from collections import OrderedDict as Table
    from math import floor, pi

    from numpy import linalg

    return m.sqrt(4.0), os.path.basename("a/b"), floor(pi), Table(a=1), linalg.norm(np.ones(4))


@case([1, 2, 3], {"a": 1, "b": 2})
def deletions(items, table):
    first, second = items, table
    del items[0], table["a"]
    items = 2
    del items
    del (first[-1], second)
    return first, table


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __repr__(self):
        return f"Point({self.x!r}, {self.y!r})"


@case(1)
@case(2)
@case(None)
@case(True)
@case(False)
@case(5)
@case(6)
@case(2.5)
@case("word")
@case([])
@case([4])
@case((1, 5))
@case((5, 1))
@case((1, 1))
@case((1, 2, 3, 4))
@case((1, 2))
@case([0, {"deep": (1, 2, 3, 4)}])
@case([0, {"deep": (1,)}])
@case({"kind": "circle", "r": 2})
@case({"kind": "square"})
@case(Point("p", 0))
@case(Point(1.5, 2))
@case(Point(1, 2))
def matched(value):
    match value:
        case 1 | 2:
            return "small"
        case None | True:
            return "single"
        case []:
            return "empty"
        case [x]:
            return "one", x
        case (1, x) | [x, 1] if x > 3:
            return "guarded", x
        case [1, 2, *rest]:
            return "starred", rest
        case [*_, {"deep": [a, *b, c]}]:
            return "deep", a, b, c
        case {"kind": "circle", "r": r}:
            return "circle", r
        case {}:
            return "mapping"
        case str(text) | Point(text, y=0):
            return "text or point", text
        case Point(x=float() as x, y=y) if y:
            return "point", x, y
        case float(x):
            return x
        case _ if value == 5:
            return "five"
        case other if isinstance(other, int):
            return other
        case other:
            return "point", other.x


@case([1, 2])
def matched_in_turn(items):
    total = 0
    for item in items:
        match item, total:
            case 1, total:
                total += 10
                continue
            case item, _:
                total += item
    return total


@case("3", {"a": 1}, "a")
@case("x", {"a": 1}, "a")
@case("3", {"a": 1}, "b")
@case("3", {}, "b")
def attempted(text, table, key):
    n = 1
    seen = []
    try:
        n = int(text)
    except (ValueError, TypeError):
        pass
    for k in range(2):
        try:
            m = table[key] + k
            seen.append(m)
        except KeyError as error:
            m = str(error)
        else:
            n += 1
        finally:
            seen.append(k)
    try:
        len(table[key] if key == "a" else key)
    except TypeError:
        raise ValueError(key)
    return n, m, seen
