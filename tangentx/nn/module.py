"""The base class of models and their layers.

A module is an ordinary object: its parameters are the `Parameter`s among its attributes, its children the modules among
them, in lists, tuples and dicts too. So the compiler reads it as it reads any object: handed to a derivative, it stands
for itself with plain arrays for its parameters (`arrays`), and the gradient is a module of the same form.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from tangentx.arrays.libraries import NUMPY, as_array, brought, is_elsewhere, library_at, library_of_class
from tangentx.common.pytrees import is_differentiable
from tangentx.errors import NotDifferentiable, place, span_of
from tangentx.nn.checkpoints import read_whole, write_arrays, write_whole
from tangentx.nn.parameter import Parameter
from tangentx.tensor.core.devices import data_on, device_of
from tangentx.tensor.core.modes import STATE, no_grad
from tangentx.tensor.graph.rule_blame import Log, listening

# Moves modules to arrays of another library.


def moved(module: Any, where: Any) -> Any:
    """See `Module.to`."""
    library = library_at(where)
    first = next(module.parameters(), None)
    if isinstance(first, Parameter):
        return _move(module, where)
    if library is not NUMPY:
        return _changed(module.arrays(), library.namespace.asarray)
    return _changed(module, lambda array: array.get()) if is_elsewhere(first) else module


def _move(module: Any, where: Any) -> Any:
    """Brings the Tensors, their gradients and the buffers there, in place."""

    def brought(array: Any) -> Any:
        return array if device_of(array) == where else data_on(array, where, None)

    for parameter in module.parameters():
        for each in (parameter, parameter.grad):
            if each is not None:
                each._primal, each._content = brought(each.current), None
    _set_buffers(module, brought)
    return module


def _changed(module: Any, change: Callable[[Any], Any]) -> Any:
    made = module._with(lambda name, value: change(value))
    _set_buffers(made, change)
    return made


def _set_buffers(module: Any, change: Callable[[Any], Any]) -> None:
    for each in module.modules():
        for name in each._buffers:
            if getattr(each, name) is not None:
                setattr(each, name, change(getattr(each, name)))


M = TypeVar("M", bound="Module")
_COUNT = itertools.count()


class Handle:
    """What takes a forward hook, in one of the lists of a module, away again."""

    def __init__(self, module: Module, name: str, number: int) -> None:
        self.module, self.name, self.number = module, name, number

    def remove(self) -> None:
        """The hook is not called any more."""
        kept = [(n, hook) for n, hook in self.module._hooks_in(self.name) if n != self.number]
        self.module._set_hooks(self.name, kept)


class Module:
    """Base class: a subclass makes its parameters and layers in ``__init__`` and computes in ``forward``.

    >>> import numpy as np, tangentx as tx
    >>> class Line(tx.nn.Module):
    ...     def __init__(self):
    ...         self.slope = tx.nn.Parameter(2.0)
    ...         self.offset = tx.nn.Parameter([0.0, 1.0])
    ...     def forward(self, x):
    ...         return self.slope * x + self.offset
    >>> model = Line()
    >>> model(np.array([1.0, 3.0])).sum().backward()            # on Tensors
    >>> model.slope.grad
    tensor(4.)
    >>> gradient = tx.grad(lambda model, x: model(x).sum())     # compiled
    >>> gradient(model, np.array([1.0, 3.0])).slope
    array(4.)
    """

    training: bool = True
    _parameters: tuple[str, ...] = ()  # of a module on plain arrays: which of them are its parameters
    _frozen: tuple[str, ...] = ()  # and which of these required no gradient, and count as constants
    _buffers: tuple[str, ...] = ()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f"{type(self).__name__} has no `forward`")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """`forward`, and then the hooks, of which each may give another result.

        What is raised has a note of the layer and of the shapes that it was given.
        """
        try:
            if not STATE.anomaly:
                return self.__tangentx_call__(*args, **kwargs)
            log = listening()
            if log is None:
                log = Log(lambda: self.__tangentx_call__(*args, **kwargs))
                result = log.result
            else:
                result = self.__tangentx_call__(*args, **kwargs)
            self._demand_finite(log, result, args)
            return result
        except Exception as error:
            self._name_layer(error, args)
            raise

    def _demand_finite(self, log: Log, result: Any, args: tuple[Any, ...]) -> None:
        """Raises NotDifferentiable where something is not finite that was made of numbers that are: at the line of the
        operation where that is known, else of the call."""
        if not _is_finite((args, list(self.parameters()))) or _is_finite(result):
            return
        results = result if isinstance(result, list | tuple) else [result]
        first = next((node for node in map(log.origin, results) if node is not None), None)
        message = "a layer gives numbers that are not finite, of numbers that are"
        hint = "look at what it was given, and at its parameters; a smaller learning rate may do"
        if first is not None:
            message = (
                f"`{first.operation.lower()}` gives the first number that is not finite, in a layer that was given"
            )
            message += " numbers that are"
        raise NotDifferentiable(message, span_of(place()) if first is None else first.span, hint)

    def _name_layer(self, error: Exception, args: tuple[Any, ...]) -> None:
        """Adds to an exception which layer it comes from: the innermost one says what it was given."""
        inner = getattr(error, "_tangentx_layer", None)
        if inner is None:
            layer = f"{type(self).__name__}({self.extra_repr()})"
            shapes = ", ".join(str(np.shape(_plain(arg))) for arg in args if hasattr(_plain(arg), "shape"))
            error.add_note(f"in the layer {layer}, given {f'arrays of shape {shapes}' if shapes else 'no array'}")
        else:
            name = next((f"`{name}` of" for name, child in self.named_children() if child is inner), "part of")
            error.add_note(f"which is {name} {type(self).__name__}")
        with contextlib.suppress(AttributeError):
            setattr(error, "_tangentx_layer", self)  # noqa: B010

    def __tangentx_call__(self, *args: Any, **kwargs: Any) -> Any:
        """What a call is where it is compiled."""
        if hasattr(self, "_pre_hooks"):
            for before in self._pre_hooks:
                args = _arguments(before(self, args), args)
        result = self.forward(*args, **kwargs)
        if hasattr(self, "_hooks"):
            for hook in self._hooks:
                other = hook(self, args, result)
                if other is not None:
                    result = other
        return result

    def extra_repr(self) -> str:
        """What `repr` says of the settings."""
        return ""

    # ---- what it holds

    def _held(self) -> Iterator[tuple[str, Any]]:
        """The attributes by name; containers give their items by number."""
        yield from list(vars(self).items())

    def _leaves(self) -> Iterator[tuple[str, Any]]:
        """What the module itself holds, by path: modules, and values that hold none."""
        for name, value in self._held():
            yield from _spread(name, value)

    def _is_own(self, name: str, value: Any) -> bool:
        """Whether it is a parameter; of a gradient, a slope, which is None for what was constant."""
        return isinstance(value, Parameter) or (name in self._parameters and value is not None)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules that this one holds itself, by name."""
        seen: set[int] = set()
        for name, value in self._leaves():
            if isinstance(value, Module) and id(value) not in seen:
                seen.add(id(value))
                yield name, value

    def children(self) -> Iterator[Module]:
        """The modules that this one holds itself."""
        return (module for _, module in self.named_children())

    def named_modules(self, prefix: str = "", _seen: set[int] | None = None) -> Iterator[tuple[str, Module]]:
        """This module and all within it, each once, by path."""
        seen = set() if _seen is None else _seen
        if id(self) in seen:
            return
        seen.add(id(self))
        yield prefix, self
        for name, child in self.named_children():
            yield from child.named_modules(_joined(prefix, name), seen)

    def modules(self) -> Iterator[Module]:
        """This module and all within it, each once."""
        return (module for _, module in self.named_modules())

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """The parameters of this module and of all within it, each once, by path."""
        seen: set[int] = set()
        for prefix, module in self.named_modules():
            for name, value in module._leaves():
                if module._is_own(name, value) and id(value) not in seen:
                    seen.add(id(value))
                    yield _joined(prefix, name), value

    def parameters(self) -> Iterator[Any]:
        """The parameters of this module and of all within it, each once."""
        return (value for _, value in self.named_parameters())

    def register_buffer(self, name: str, array: Any) -> None:
        """Holds an array that is part of the state but no parameter: a running mean."""
        setattr(self, name, None if array is None else as_array(array))
        self._buffers = (*self._buffers, name)

    def named_buffers(self) -> Iterator[tuple[str, Any]]:
        """The buffers of this module and of all within it, by path."""
        for prefix, module in self.named_modules():
            for name in module._buffers:
                if getattr(module, name) is not None:
                    yield _joined(prefix, name), getattr(module, name)

    def buffers(self) -> Iterator[Any]:
        """The buffers of this module and of all within it."""
        return (array for _, array in self.named_buffers())

    # ---- state

    def state_dict(self) -> dict[str, Any]:
        """Copies of all parameters and buffers as arrays, by path; a tied parameter comes under each of its names."""
        found: dict[str, Any] = {}
        for prefix, module in self._places(""):
            for name, value in module._leaves():
                if module._is_own(name, value):
                    found[_joined(prefix, name)] = np.copy(_plain(value))
            for name in module._buffers:
                if getattr(module, name) is not None:
                    found[_joined(prefix, name)] = np.copy(_plain(getattr(module, name)))
        return found

    def _places(self, prefix: str) -> Iterator[tuple[str, Module]]:
        """This module and all within it, once for each path."""
        yield prefix, self
        for name, value in self._leaves():
            if isinstance(value, Module):
                yield from value._places(_joined(prefix, name))

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> None:
        """Writes these values into the parameters and buffers, on whatever device either lie.

        Raises KeyError where names are missing or unknown, unless not `strict`, and ValueError for another shape;
        then nothing has been written.
        """
        places = dict(self._storages())
        missing, unknown = places.keys() - state_dict.keys(), state_dict.keys() - places.keys()
        if strict and (missing or unknown):
            parts = [f"{what}: {', '.join(sorted(names))}" for what, names in
                     (("missing", missing), ("unknown", unknown)) if names]  # fmt: skip
            raise KeyError(f"the state does not fit {type(self).__name__}: {'; '.join(parts)}")
        fitting = {name: _plain(value) for name, value in state_dict.items() if name in places}
        for name, value in fitting.items():
            if np.shape(value) != np.shape(_plain(places[name])):
                shapes = f"{np.shape(value)}, but that of the module is {np.shape(_plain(places[name]))}"
                raise ValueError(f"the shape of {name} in the state is {shapes}")
        with no_grad():
            for name, value in fitting.items():
                places[name][...] = brought(value, _plain(places[name]))

    def _storages(self) -> Iterator[tuple[str, Any]]:
        for prefix, module in self._places(""):
            for name, value in module._leaves():
                if module._is_own(name, value):
                    yield _joined(prefix, name), value
            for name in module._buffers:
                if getattr(module, name) is not None:
                    yield _joined(prefix, name), getattr(module, name)

    def save(self, file: Any) -> None:
        """Writes the state to an .npz file: plain arrays, no pickle.

        A file that is there is replaced by a whole one, or stays as it is where writing fails or is interrupted.
        """
        if hasattr(file, "write"):
            write_arrays(file, self.state_dict())
        else:
            write_whole(file, self.state_dict())

    def load(self: M, file: Any, strict: bool = True) -> M:
        """Reads the state from an .npz file, and returns itself. Raises ValueError for a file that is not whole."""
        self.load_state_dict(read_whole(file), strict)
        return self

    def to(self: M, where: Any) -> M:
        """The module on the device that `where` names: "cuda" or ``cupy``, "cpu" or ``numpy``.

        Parameters and buffers go there in place, and it returns itself: make the optimiser after that. A module of
        plain arrays, as gradients are, stays as it is, and a copy is there.

        >>> from tangentx import nn
        >>> from tangentx.testing import device_arrays
        >>> model = nn.Linear(2, 1).to(device_arrays)
        >>> model.weight.device, model.to("cpu").weight.device
        ('cuda:0', 'cpu')
        """
        made: M = moved(self, where)
        return made

    def cuda(self: M, device: int | None = None) -> M:
        """`to` a device, the first one or that of a number."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    def cpu(self: M) -> M:
        """`to` here."""
        return self.to("cpu")

    # ---- modes

    def train(self: M, mode: bool = True) -> M:
        """Switches dropout and batch statistics on, here and within; returns itself."""
        for module in self.modules():
            module.training = bool(mode)
        return self

    def eval(self: M) -> M:
        """Switches dropout and batch statistics off."""
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Whether the parameters are differentiated; returns itself.

        Those that are not count as constants in compiled derivatives, too: a gradient has None in their places, and
        `update` of an optimiser leaves them.
        """
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients of the parameters, or makes them zeros."""
        for p in self.parameters():
            p.grad = None if set_to_none or p.grad is None else np.zeros_like(p.current)

    def apply(self: M, function: Callable[[Module], Any]) -> M:
        """Calls a function with every module within, from the inside out, and with this one; returns itself."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def register_forward_hook(self, hook: Callable[..., Any]) -> Handle:
        """``hook(module, args, result)`` is called after each `forward`; what it gives, if not None, is the result."""
        return self._hooked("_hooks", hook)

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> Handle:
        """``hook(module, args)`` is called before each `forward`; what it gives, if not None, are the arguments: a
        tuple, or the only one."""
        return self._hooked("_pre_hooks", hook)

    def _hooked(self, name: str, hook: Callable[..., Any]) -> Handle:
        number = next(_COUNT)
        self._set_hooks(name, [*self._hooks_in(name), (number, hook)])
        return Handle(self, name, number)

    def _hooks_in(self, name: str) -> list[tuple[int, Callable[..., Any]]]:
        held = vars(self)
        return list(zip(held.get(f"{name}_numbers", ()), held.get(name, ()), strict=True))

    def _set_hooks(self, name: str, hooks: list[tuple[int, Callable[..., Any]]]) -> None:
        """A module without hooks has no attribute for them, so compiled text does not ask."""
        if hooks:
            setattr(self, f"{name}_numbers", tuple(n for n, _ in hooks))
            setattr(self, name, tuple(hook for _, hook in hooks))
        else:
            vars(self).pop(f"{name}_numbers", None)
            vars(self).pop(name, None)

    # ---- compiled

    def arrays(self: M) -> M:
        """The same module on plain arrays, which share memory with its parameters and other Tensors."""
        return self._with(lambda name, value: _plain(value), _of_constant)

    def with_parameters(self: M, values: Mapping[str, Any]) -> M:
        """A module of the same form with these values of parameters, by path; it shares all else with this one."""
        known = {id(value): name for name, value in self.named_parameters()}
        unknown = values.keys() - set(known.values())
        if unknown:
            raise KeyError(f"{type(self).__name__} has no parameter {', '.join(sorted(unknown))}")

        def changed(_: str, value: Any) -> Any:
            name = known[id(value)]
            if name not in values:
                return value
            if isinstance(value, Parameter):
                return Parameter(values[name], value.requires_grad, value.dtype)
            return as_array(values[name])

        return self._with(changed)

    def _with(self: M, change: Callable[[str, Any], Any], other: Callable[[Any], Any] = lambda value: value) -> M:
        """A copy with ``change(name, parameter)`` for each parameter, called once for each, and ``other(value)`` for
        what else there is."""
        made: M = _copied(self, change, other, {})
        return made

    def __tangentx_arrays__(self: M) -> M:
        """What the compiler takes for this module."""
        first = next(itertools.chain(self.parameters(), self.buffers()), None)
        return self if first is None or library_of_class(type(first)) is not None else self.arrays()

    def __tangentx_parts__(self) -> dict[str, Any]:
        """The attributes that are, or hold, modules or parameters: what there are derivatives by, if not frozen."""
        own = {path.partition(".")[0] for path, value in self._attributes() if self._counts(path, value)}
        return {name: value for name, value in vars(self).items() if name in own}

    def _attributes(self) -> Iterator[tuple[str, Any]]:
        for name, value in vars(self).items():
            yield from _spread(name, value)

    def _counts(self, path: str, value: Any) -> bool:
        return isinstance(value, Module) or (self._is_own(path, value) and path not in self._frozen)

    def __tangentx_gradient__(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """The attributes of a gradient whose attributes were `found`: what is no parameter is as in the module. None
        stands for a parameter that is frozen."""
        return {name: self._slope(name, value, found[name]) for name, value in vars(self).items()}

    def __tangentx_join__(self, primal: Module) -> None:
        """Gives each place of one parameter the sum of the gradients by them all."""
        places: dict[int, list[Any]] = {}
        todo = [(primal, self)]
        while todo:
            theirs, ours = todo.pop()
            for (path, value), (_, slope) in zip(theirs._attributes(), ours._attributes(), strict=True):
                if isinstance(value, Module):
                    todo.append((value, slope))
                elif theirs._counts(path, value):
                    places.setdefault(id(value), []).append(slope)
        for slopes in places.values():
            if len(slopes) > 1:
                total = sum(slopes[1:], slopes[0])
                for slope in slopes:
                    slope[...] = total

    def _slope(self, path: str, value: Any, found: Any) -> Any:
        if isinstance(value, Module) or path in self._parameters:
            return None if path in self._frozen else found
        if type(value) in (list, tuple):
            return type(value)(
                self._slope(f"{path}.{i}", v, f) for i, (v, f) in enumerate(zip(value, found, strict=True))
            )
        if type(value) is dict:
            return {key: self._slope(f"{path}.{key}", v, found[key]) for key, v in value.items()}
        return value

    # ---- shown

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        children = list(self.named_children())
        size = sum(int(np.size(_plain(p))) for p in self.parameters())
        count = f"  # {size:,} parameter{'' if size == 1 else 's'}" if size else ""
        if not children:
            return [f"{type(self).__name__}({self.extra_repr()}){count}"]
        lines = [f"{type(self).__name__}({self.extra_repr()}{count}"]
        for name, child in children:
            first, *rest = child._lines()
            lines += [f"  ({name}): {first}", *(f"  {line}" for line in rest)]
        return [*lines, ")"]


def _arguments(given: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments that a hook gives in the place of others."""
    if given is None:
        return args
    return given if isinstance(given, tuple) else (given,)


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _plain(value: Any) -> Any:
    """The array of a Tensor, and anything else as it is."""
    return value.current if hasattr(type(value), "requires_grad_") else value


def _of_constant(value: Any) -> Any:
    """The array of a Tensor that requires no gradient, and anything else as it is."""
    return value if getattr(value, "requires_grad", True) else _plain(value)


def _is_finite(value: Any) -> bool:
    """Whether all numbers in a structure are finite."""
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    plain = _plain(value)
    return not is_differentiable(plain) or bool(np.all(np.isfinite(plain)))


def _spread(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from _spread(f"{name}.{i}", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _spread(f"{name}.{key}", item)
    else:
        yield name, value


def _copied(value: Any, change: Callable[[str, Any], Any], other: Callable[[Any], Any], memo: dict[int, Any]) -> Any:
    """A module as it is but for its parameters, and for what `other` changes; what is one object stays one."""
    if id(value) in memo:
        return memo[id(value)]
    made = memo[id(value)] = object.__new__(type(value))
    own = tuple(path for path, item in value._attributes() if value._is_own(path, item))

    def part(path: str, item: Any) -> Any:
        if isinstance(item, Module):
            return _copied(item, change, other, memo)
        if path in own:
            if id(item) not in memo:
                memo[id(item)] = change(path, item)
            return memo[id(item)]
        if type(item) in (list, tuple):
            return type(item)(part(f"{path}.{i}", each) for i, each in enumerate(item))
        if type(item) is dict:
            return {key: part(f"{path}.{key}", each) for key, each in item.items()}
        return other(item)

    for name, item in list(vars(value).items()):
        vars(made)[name] = part(name, item)
    if own:
        vars(made)["_parameters"] = own
    frozen = tuple(path for path, item in value._attributes() if path in own and _is_frozen(item, memo[id(item)]))
    if frozen:
        vars(made)["_frozen"] = frozen
    return made


def _is_frozen(parameter: Any, made: Any) -> bool:
    """Whether an array stands for a parameter that requires no gradient."""
    return not isinstance(made, Parameter) and isinstance(parameter, Parameter) and not parameter.requires_grad
