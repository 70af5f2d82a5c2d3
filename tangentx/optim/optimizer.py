"""What all optimisers share: groups of parameters, their state, and the two forms in which a step is taken.

The object form updates Tensors in place from their ``.grad``::

    opt = tx.optim.Adam(model.parameters(), lr=1e-3)
    opt.zero_grad(); loss.backward(); opt.step()

The functional form takes parameters and gradients as structures of arrays, and gives new ones::

    opt = tx.optim.Adam(lr=1e-3)
    state = opt.init(params)
    params, state = opt.update(params, tx.grad(loss)(params), state)

A kind of optimiser is one method, `rule`, which both forms call for each parameter.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tangentx.arrays.libraries import as_array, brought, is_array, is_elsewhere
from tangentx.errors import NotDifferentiable
from tangentx.optim import parameter_trees as trees

State = dict[str, Any]


def _beside(value: Any, parameter: Any) -> Any:
    """What was kept of a parameter, where that lies."""
    return brought(value, parameter.current) if is_array(value) else value


class Optimizer:
    """Base class of the optimisers: a subclass has `rule` and gives its `defaults`.

    `params` is an iterable of Tensors, of dicts (groups: ``{"params": [...], "lr": 0.1}``), or None where the
    functional form alone is used. `parameters=` and `learning_rate=` are other names for `params` and `lr`.
    """

    def __init__(self, params: Any, defaults: dict[str, Any], parameters: Any = None) -> None:
        if params is not None and parameters is not None:
            raise TypeError(f"{type(self).__name__}: `params` and `parameters` are the same argument")
        given = parameters if params is None else params
        self.defaults = self._checked(defaults)
        self.state: dict[Any, State] = {}
        self.param_groups: list[dict[str, Any]] = []
        if given is None:
            self.param_groups.append({"params": [], **self.defaults})
            return
        groups = [given] if trees.is_tensor(given) or isinstance(given, Mapping) else list(given)
        if not groups:
            raise ValueError(f"{type(self).__name__}: there are no parameters")
        for group in groups if isinstance(groups[0], Mapping) else [{"params": groups}]:
            self.add_param_group(group)

    def rule(self, p: Any, g: Any, state: State, options: Mapping[str, Any]) -> Any:
        """The new value of a parameter `p` with the gradient `g`; `state` is brought up to date in place.

        `p` and `g` are real. `state` is empty before the first step, and its arrays are never written.
        """
        raise NotImplementedError

    def _checked(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options of a group. Raises ValueError for those that have no meaning."""
        for name in ("lr", "eps", "alpha", "weight_decay", "momentum", "lr_decay", "initial_accumulator_value"):
            if name in options and not options[name] >= 0.0:
                raise ValueError(f"{type(self).__name__}: {name}={options[name]!r} is negative or not a number")
        for beta in options.get("betas", ()):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"{type(self).__name__}: betas={options['betas']!r} must lie in [0, 1)")
        return options

    # ---- the object form

    def add_param_group(self, group: Mapping[str, Any]) -> None:
        """Takes in more parameters, with options of their own; what is not given is as for the others."""
        given = group["params"]
        params = [given] if trees.is_tensor(given) else list(given)
        for p in params:
            if not trees.is_tensor(p):
                raise TypeError(
                    f"{type(self).__name__} updates Tensors in place, and was given {type(p).__name__}; "
                    "for arrays use the functional form: `state = opt.init(params)`, `opt.update(params, grads, state)`"
                )
            if not p.is_leaf:
                raise ValueError(f"{type(self).__name__}: a Tensor that was computed cannot be updated; pass leaves")
        known = {id(p) for other in self.param_groups for p in other["params"]}
        if len({id(p) for p in params}) < len(params) or known & {id(p) for p in params}:
            raise ValueError(f"{type(self).__name__}: a parameter is in more than one place of the groups")
        options = {name: value for name, value in group.items() if name != "params"}
        unknown = options.keys() - self.defaults.keys() - {"initial_lr"}
        if unknown:
            raise TypeError(f"{type(self).__name__} has no option {', '.join(sorted(unknown))}")
        self.param_groups.append({"params": params, **self._checked({**self.defaults, **options})})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients, or makes them zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                p.grad = None if set_to_none or p.grad is None else np.zeros_like(p.current)

    clear_grad = zero_grad

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates every parameter that has a gradient; gives what `closure` gives, which is called first."""
        loss = None if closure is None else closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    put(p, self._updated(p.current, p.grad.current, self.state.setdefault(p, {}), group))
        return loss

    def _updated(self, p: Any, g: Any, state: State, options: Mapping[str, Any]) -> Any:
        """The new value of a parameter. A complex one is two real ones: the gradient is that of JAX's convention, so
        the direction of steepest ascent is its conjugate. One of float16 has a master weight in float32, in which
        small steps add up (Micikevicius et al. 2018); it is begun anew where the parameter was set by others."""
        if as_array(p).dtype == np.float16:
            master = state.get("master")
            if master is None or not np.array_equal(master.astype(np.float16), p):
                master = np.asarray(p, np.float32)
            mine = {name: value for name, value in state.items() if name != "master"}
            new = np.asarray(self._updated(master, np.asarray(g, np.float32), mine, options), np.float32)
            state.clear()
            state.update(mine, master=new)
            return new.astype(np.float16)
        if options.get("maximize"):
            g = -g
        if not np.iscomplexobj(p):
            return self.rule(p, g, state, options)
        new = self.rule(
            np.stack([np.real(p), np.imag(p)]), np.stack([np.real(g), -np.imag(g)]), state, {**options, "complex": True}
        )
        return new[0] + 1j * new[1]

    def state_dict(self) -> dict[str, Any]:
        """The options and the state, parameters by number: plain dicts, lists, numbers and arrays, as PyTorch's."""
        numbers = {id(p): i for i, p in enumerate(self._parameters())}
        groups: list[dict[str, Any]] = []
        for group in self.param_groups:
            options = {name: value for name, value in group.items() if name != "params"}
            groups.append({**options, "params": [numbers[id(p)] for p in group["params"]]})
        return {"state": {numbers[id(p)]: dict(s) for p, s in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from what `state_dict` gave. Raises ValueError where the groups are not as long as these."""
        groups = state_dict["param_groups"]
        mine = [len(group["params"]) for group in self.param_groups]
        theirs = [len(group["params"]) for group in groups]
        if mine != theirs:
            raise ValueError(f"the groups have {mine} parameters, but those of the state have {theirs}")
        for group, other in zip(self.param_groups, groups, strict=True):
            group.update({name: copy.deepcopy(value) for name, value in other.items() if name != "params"})
        order = [number for group in groups for number in group["params"]]
        found = dict(zip(order, self._parameters(), strict=True))
        self.state = {
            found[number]: {name: _beside(copy.deepcopy(value), found[number]) for name, value in s.items()}
            for number, s in state_dict["state"].items()
        }

    def _parameters(self) -> Iterable[Any]:
        return [p for group in self.param_groups for p in group["params"]]

    def __repr__(self) -> str:
        groups: list[str] = []
        for group in self.param_groups:
            options = ", ".join(f"{name}={value}" for name, value in group.items() if name != "params")
            count = len(group["params"])
            groups.append(f"{count} parameter{'' if count == 1 else 's'}: {options}" if count else options)
        return f"{type(self).__name__}({'; '.join(groups)})"

    # ---- the functional form

    def init(self, params: Any) -> dict[str, State]:
        """The state before the first step, by the paths of the parameters."""
        found: dict[str, State] = {path: {} for path, _ in trees.leaves(params)}
        if not found:
            raise NotDifferentiable(
                f"{type(params).__name__} has no parameters",
                hint="pass real or complex numbers or arrays, or a structure of them",
            )
        return found

    def update(
        self, params: Any, grads: Any, state: Mapping[str, State], **options: Any
    ) -> tuple[Any, dict[str, State]]:
        """``(params, state)`` after a step; what is given is not changed.

        A gradient of None leaves its parameter as it is. `options` take the place of those of the optimiser: ``lr=``.
        """
        unknown = options.keys() - self.defaults.keys()
        if unknown:
            raise TypeError(f"{type(self).__name__} has no option {', '.join(sorted(unknown))}")
        chosen = self._checked({**self.param_groups[0], **options})
        new: dict[str, State] = {path: dict(s) for path, s in state.items()}
        values: dict[str, Any] = {}
        for path, p, g in trees.beside(params, grads):
            if path not in new:
                raise NotDifferentiable(
                    f"the state has no parameter {path or 'of this kind'}", hint="make it of these: opt.init(params)"
                )
            old = trees.plain(p)
            values[path] = old if g is None else _like(self._updated(old, trees.plain(g), new[path], chosen), old)
        return trees.replaced(params, lambda path, leaf: values[path]), new


def _like(new: Any, old: Any) -> Any:
    """A value of the class and dtype of `old`."""
    if is_elsewhere(old):
        return new.astype(old.dtype, copy=False)
    if isinstance(old, np.ndarray):
        return np.asarray(new, old.dtype)
    return type(old)(new)


def put(p: Any, value: Any) -> None:
    """Writes a new value into a Tensor, unrecorded."""
    from tangentx.tensor.core.modes import no_grad

    with no_grad():
        p.copy_(value)


def first_given(lr: float, learning_rate: float | None) -> float:
    """The learning rate, by either name."""
    return lr if learning_rate is None else learning_rate
