"""Members of objects, found as Python finds them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import tangentx as tx
from tangentx.errors import NotResolved, UnsupportedSyntax
from tests.analysis.made import analysed


class Base:
    factor = 3.0
    activation = np.tanh

    def __init__(self, a):
        self.a = a

    def f(self, x):
        return self.a * x * self.factor

    @property
    def twice(self):
        return 2.0 * self.a

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def name(cls, x):
        return x * cls.factor

    @functools.cached_property
    def held(self):
        return self.a * self.a


class Derived(Base):
    factor = 4.0

    def f(self, x):
        return super().f(x) + super(Derived, self).f(x) * x

    @classmethod
    def name(cls, x):
        return super().name(x) + x

    def own(self, x):
        return x if type(self) is Derived else 0.0 * x


BASE, DERIVED = Base(5.0), Derived(2.0)


@pytest.mark.parametrize("thing", [BASE, DERIVED])
def test_members_of_an_object_from_outside(thing: Any) -> None:
    def f(x):
        return thing.f(x) + thing.twice * x + thing.square(x) + thing.name(x) + thing.held * thing.activation(x)

    difference = (f(0.5 + 1e-6) - f(0.5 - 1e-6)) / 2e-6
    assert np.isclose(tx.grad(f)(0.5), difference)


def test_the_type_of_an_object_is_known() -> None:
    assert tx.grad(lambda x: DERIVED.own(x))(2.0) == 1.0
    assert tx.grad(lambda x: x * x if isinstance(BASE, Derived) else x)(2.0) == 1.0


def test_what_an_instance_holds_comes_before_a_method_of_its_class() -> None:
    class Replaced(Base):
        def __init__(self, f):
            self.f = f

    thing = Replaced(np.sin)
    assert tx.grad(lambda x: thing.f(x))(0.0) == 1.0


def test_a_rebound_method_is_noticed() -> None:
    class Late:
        def f(self, x):
            return x

    thing = Late()
    derivative = tx.grad(lambda x: thing.f(x))
    assert derivative(3.0) == 1.0
    Late.f = lambda self, x: x * x  # type: ignore[method-assign, assignment]
    assert derivative(3.0) == 6.0


def test_a_changed_attribute_is_noticed() -> None:
    class Setting:
        def __init__(self) -> None:
            self.k: Any = 2.0

    setting = Setting()
    derivative = tx.grad(lambda x: setting.k * x)
    assert derivative(3.0) == 2.0
    setting.k = 5.0
    assert derivative(3.0) == 5.0
    setting.k = np.array([1.0, 2.0])
    with pytest.raises(tx.NotDifferentiable):
        derivative(3.0)


class Money:
    def __init__(self, amount):
        self.amount = amount

    def __add__(self, other):
        return Money(self.amount + other.amount) if isinstance(other, Money) else NotImplemented

    def __rmul__(self, factor):
        return Money(factor * self.amount)

    def __len__(self):
        return 3

    def __contains__(self, x):
        return True


class Credit(Money):
    def __radd__(self, other):
        return Credit(other.amount * self.amount)


def test_operators_are_asked_in_the_order_of_python() -> None:
    def f(x):
        a = 2.0 * Money(x) + Money(x * x)
        b = Money(x) + Credit(x * x)  # the derived class first
        return a.amount + b.amount * len(a) if 1.0 in a else x

    assert tx.grad(f)(2.0) == 2.0 + 4.0 + 9.0 * 4.0


def absent(x):
    return x * BASE.nothing  # type: ignore[attr-defined]


def above(x):
    return super(Derived, BASE).f(x)  # type: ignore[misc]


def element_by_element(x):
    return (np.ones(2) * Money(x)).amount


@pytest.mark.parametrize(
    "fn, error, match",
    [
        (absent, NotResolved, "no attribute `nothing`"),
        (above, UnsupportedSyntax, "super"),
        (element_by_element, UnsupportedSyntax, "element by element"),
    ],
)
def test_refused(fn: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        analysed(fn, 2.0)


class Plain:
    amount: Any

    @property
    def twice(self) -> Any:
        return 2.0 * self.amount

    @twice.setter
    def twice(self, value: Any) -> None:
        self.amount = value / 2.0


def named_attributes(x: Any) -> Any:
    plain = Plain()
    setattr(plain, "amount", x)
    setattr(plain, "twice", plain.amount * x)
    return getattr(plain, "amount") ** 2


def test_attributes_by_a_name_that_is_known() -> None:
    assert tx.grad(named_attributes, fallback="error")(3.0) == pytest.approx(3.0**3)


# ---- descriptors ----
class Constant:
    def __init__(self, value):
        self.value = value

    def __get__(self, instance, owner=None):
        return self.value


class Doubled:
    """Has precedence over what is in the object, and does not give what was put there."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        return instance.stored * 2.0

    def __set__(self, instance, value):
        instance.stored = value


class Described:
    off, nothing, zero, half = Constant(False), Constant(None), Constant(0.0), Constant(0.5)
    square = Constant(lambda x: x * x)
    twice = Doubled()

    def __init__(self):
        self.rate, self.twice = 2.0, 1.5
        self.__dict__["shaded"] = 4.0

    @functools.cached_property
    def is_large(self):
        return self.rate > 5.0

    def scaled(self, by, x):
        return self.rate * by * x

    tripled = functools.partialmethod(scaled, 3.0)

    @functools.lru_cache
    def kept(self, x):
        return self.rate * x

    def __hash__(self):
        return 1


def sets_the_rate(x, o):
    o.rate = x
    return x * x if o.is_large else x


DESCRIBED = {
    "tested": lambda x, o: x * x if o.off else x,
    "compared with None": lambda x, o: x * x if o.nothing is None else x,
    "compared": lambda x, o: x * x if o.off is False else x,
    "zero": lambda x, o: x * x if not o.zero else x,
    "a class is asked for": lambda x, o: x * x if isinstance(o.half, float) else x,
    "callable": lambda x, o: x * x if callable(o.off) else x,
    "a factor": lambda x, o: x * o.half,
    "called": lambda x, o: o.square(x),
    "the first to be asked": lambda x, o: x * x * o.twice,
    "the dict of an object": lambda x, o: x * o.__dict__["shaded"] if o.__dict__ else x * x,
    "a cached property of what is written": sets_the_rate,
    "a partial method": lambda x, o: o.tripled(x) * x,
    "a method with a cache": lambda x, o: o.kept(x) * x,
}


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("name", DESCRIBED)
def test_a_descriptor_is_asked(name: str) -> None:
    """What its class computes was taken for a method: true, not None and callable."""
    f, x, h = DESCRIBED[name], 3.0, 1e-5
    slope = (f(x + h, Described()) - f(x - h, Described())) / (2.0 * h)
    assert tx.grad(f)(x, Described()) == pytest.approx(slope, rel=1e-6)
    assert tx.jvp(f, (x, Described()), (1.0, None))[1] == pytest.approx(slope, rel=1e-6)
    assert tx.grad(tx.grad(f))(x, Described()) == pytest.approx(
        (f(x + 1e-3, Described()) - 2.0 * f(x, Described()) + f(x - 1e-3, Described())) / 1e-6, rel=1e-4, abs=1e-4
    )


class Decorated:
    factor = 3.0

    @staticmethod
    @tx.differentiate
    def square(x: Any) -> Any:
        return x * x

    @classmethod
    @tx.differentiate(wrt="x")
    def scaled(cls, x: Any) -> Any:
        return x * cls.factor

    @property
    @tx.differentiate
    def energy(self) -> Any:
        return self.amount * self.amount

    @functools.cached_property
    @tx.differentiate
    def held(self) -> Any:
        return self.amount * self.factor

    @tx.differentiate
    def __mul__(self, x: Any) -> Any:
        return self.amount * x

    @tx.differentiate
    def __getitem__(self, x: Any) -> Any:
        return self.amount * x

    @energy.setter
    @tx.differentiate
    def energy(self, value: Any) -> None:
        self.amount = value / 2.0


KEPT = Decorated()
KEPT.amount = 2.0


def decorated_members(x: Any) -> Any:
    law = Decorated()
    law.energy = x
    return (
        Decorated.square(x)
        + Decorated.scaled(x)
        + law.square(x)
        + law.scaled(x)
        + law.energy
        + law * x
        + law[x]
        + KEPT.held * x
    )


def test_members_under_which_there_is_a_differentiable() -> None:
    assert tx.grad(decorated_members, fallback="error")(3.0) == 4.0 * 3.0 + 2.0 * 3.0 + 3.0 / 2.0 + 2.0 * 3.0 + 6.0
    assert Decorated.scaled == Decorated.scaled and Decorated.scaled != Decorated.square


# ---- attributes that a class computes where an object has none of its own ----
class Doubling:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        return found * 2.0 if name == "v" else found


class Computed:
    def __get__(self, owner: Any, cls: Any = None) -> Any:
        return owner.v * 2.0


class Late:
    computed = Computed()

    def __init__(self, v: Any) -> None:
        self.v = v
        if v > 1.0:
            self.perhaps = lambda: 1.0

    def f(self, x: Any) -> Any:
        return x * x

    def perhaps(self) -> Any:  # type: ignore[no-redef]
        return self.v * 2.0

    @functools.cached_property
    def once(self) -> Any:
        return self.v * 2.0


class Open:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __getattr__(self, name: str) -> Any:
        return self.v * 2.0


def read_by_getattribute(x: Any) -> Any:
    return Doubling(x * x).v * x


def read_by_getattribute_of_one_class(x: Any) -> Any:
    thing = Doubling(x) if x > 0.5 else Open(x)
    return thing.v * x


def method_before_it_is_hidden(x: Any) -> Any:
    late = Late(x)
    y = late.f(x)
    late.f = lambda v: v * 3.0  # type: ignore[method-assign]
    return y * late.f(x)


def method_hidden_in_a_trip(x: Any) -> Any:
    late, y = Late(x), 1.0
    for i in range(3):
        y = y * late.f(x)
        if i == 1:
            late.f = lambda v: v * 3.0  # type: ignore[method-assign]
    return y


def method_that_may_be_hidden(x: Any) -> Any:
    return Late(x).perhaps() * x


def descriptor_before_it_is_hidden(x: Any) -> Any:
    late = Late(x * x)
    y = late.computed
    late.computed = x  # type: ignore[assignment]
    return y * late.computed


def cached_before_it_is_written(x: Any) -> Any:
    late = Late(x * x)
    y = late.once
    late.once = x
    return y * late.once


def missing_before_it_is_written(x: Any) -> Any:
    thing = Open(x * x)
    y = thing.q
    thing.q = x
    return y * thing.q


HIDDEN = [
    read_by_getattribute,
    read_by_getattribute_of_one_class,
    method_before_it_is_hidden,
    method_hidden_in_a_trip,
    method_that_may_be_hidden,
    descriptor_before_it_is_hidden,
    cached_before_it_is_written,
    missing_before_it_is_written,
]


@pytest.mark.filterwarnings("ignore::tangentx.FallbackWarning")
@pytest.mark.parametrize("f", HIDDEN)
def test_what_a_class_computes_where_an_object_may_have_none_is_not_compiled(f: Any) -> None:
    """Its text would read what the class gives, and its derivative be that of the object's own attribute."""
    with pytest.raises(UnsupportedSyntax, match="has a say in how its attributes|computes it"):
        tx.grad(f, fallback="error")(0.7)
    slope = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    assert tx.grad(f)(0.7) == pytest.approx(slope, rel=1e-6)
    assert tx.jvp(f, (0.7,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)


def attribute_of_its_own(x: Any) -> Any:
    thing = Open(x * x)
    thing.v = thing.v * x
    return thing.v * thing.v


def test_what_each_object_is_made_with_is_compiled() -> None:
    assert tx.grad(attribute_of_its_own, fallback="error")(0.7) == pytest.approx(6.0 * 0.7**5)


class Halving(Plain):
    @Plain.twice.setter
    def twice(self, value: Any) -> None:
        Plain.twice.fset(self, value)
        self.amount = self.amount * Plain.twice.fget(self)


def setter_of_the_base(x: Any) -> Any:
    thing = Halving()
    thing.twice = x
    thing.twice += x * x
    return thing.twice


def test_functions_of_a_property_of_a_base_class() -> None:
    assert tx.grad(setter_of_the_base, fallback="error")(0.7) == pytest.approx(16.0 * 0.7**3)
