"""Every construct is supported or refused, with its place and a way out."""

import gast
import pytest

from tangentx.errors import UnsupportedSyntax
from tangentx.frontend import unsupported
from tangentx.frontend.lift import lift
from tests.frontend.made import defined

# One line of the body (line 2) each, or several; the construct stands on the line that holds "#!", else on line 2.
REFUSED = {
    "generator inside": "def g():\n        yield x\n    y = g()  #!",
    "lambda that yields": "y = lambda: (yield x)",
    "async inside": "async def g():\n        return x",
    "class in a function inside": "def g():\n        class C: pass  #!",
    "nonlocal of outside": "def g():\n        nonlocal_ = 0\n        global G\n        G = 1  #!",
    "class": "class C:\n        pass",
    "return from a try": "try:\n        return x  #!\n    finally:\n        print(x)",
    "def in a try": "try:\n        def g():  #!\n            pass\n    finally:\n        print(x)",
    "exception unknown": "try:\n        pass\n    except y as e:  #!\n        pass",
    "try star": "try:\n        pass\n    except* ValueError:\n        pass",
    "with": "with open(x) as y:\n        pass",
    "suppress": "import contextlib\n    with contextlib.suppress(ValueError):  #!\n        pass",
    "starred item of a key": "z = x[0, *y]  #!",
    "class of a pattern": "match x:\n        case y():  #!\n            pass",
    "positions of a pattern": "match x:\n        case object(1):  #!\n            pass",
    "imported and assigned": "import math\n    math = x",
    "import of nothing above": "from ....... import math",
    "del global": "global G\n    del G  #!",
    "global": "global G\n    G = 1  #!",
    "global augmented": "global G\n    G += 1  #!",
    "global loop": "global G\n    for G in x:  #!\n        pass",
    "yield": "yield x",
    "yield from": "yield from x",
    "generator kept": "y = (i for i in x)",
    "generator to a stranger": "y = x(i for i in x)",
    "generator iterated": "for i in (j for j in x):\n        pass",
    "while forever": "while True:\n        x = 0",
    "del attribute": "del x.a",
    "bare raise": "raise",
    "zip with unknown keywords": "for i in zip(x, **x):\n        pass",
    "zip of nothing": "for i in zip():\n        pass",
    "list that grows": "for i in x:\n        x.append(i)",
    "list that shrinks": "for i, (a, b) in enumerate(zip(y, reversed(x))):\n        if i:\n            x.pop()",
    "locals": "y = locals()",
    "eval": "y = eval('x')",
    "super": "y = super()",
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED.keys())
def test_refused(body):
    source = f"def f(x, y=0):\n    {body}\n    return x\n"
    marked = [number for number, line in enumerate(source.splitlines(), 1) if "#!" in line]
    function = defined(source)
    with pytest.raises(UnsupportedSyntax) as caught:
        lift(function)
    error = caught.value
    assert error.message and error.hint
    assert error.span.file == function.__code__.co_filename
    assert error.span.line == error.lineno == (marked or [2])[0]
    assert 4 <= error.span.column < len(error.span.text)


@pytest.mark.parametrize(
    "source",
    [
        "async def f(x):\n    return await x",
        "async def f(x):\n    async for i in x:\n        pass",
        "async def f(x):\n    async with x:\n        pass",
        "async def f(x):\n    return [i async for i in x]",
    ],
)
def test_functions_that_are_refused_as_a_whole(source):
    with pytest.raises(UnsupportedSyntax) as caught:
        lift(defined(source))
    assert caught.value.span.line == 1 and caught.value.hint


def test_nonlocal_is_refused_where_it_writes():
    count = 0

    def write(x):
        nonlocal count
        count = x
        return x

    def read(x):
        nonlocal count
        return x + count

    with pytest.raises(UnsupportedSyntax, match="nonlocal name 'count'"):
        lift(write)
    assert lift(read).body


def test_nonlocal_of_a_function_around_is_supported():
    lifted = lift(
        defined("def f(x):\n    n = 0\n    def g():\n        nonlocal n\n        n = x\n    g()\n    return n")
    )
    assert lifted.body


def test_the_first_in_the_text_is_named():
    with pytest.raises(UnsupportedSyntax) as caught:
        lift(defined("def f(x):\n    y = [x, (yield), super]\n    del x.a\n    return y"))
    assert "generator" in caught.value.message and caught.value.span.column == 13


def test_the_tables_hold_every_class_of_gast():
    classes = {
        name
        for name, cls in vars(gast).items()
        if isinstance(cls, type) and issubclass(cls, gast.AST) and "_field_types" in vars(cls)
    }
    assert len(classes) > 90
    assert classes == unsupported.SUPPORTED | (unsupported.REFUSED.keys() & classes)
    assert not unsupported.SUPPORTED & unsupported.REFUSED.keys()


def test_every_refusal_says_what_to_write_instead():
    assert all(message and hint for message, hint in unsupported.REFUSED.values())
