"""`torch.optim.Optimizer`: groups of parameters with options, and gradtape's optimisers behind them."""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gradtape as gt
from gradtape import optim as ours
from gradtape.extend import Location, concrete, last_backward, note_missing_gradients
from gradtape.extend import Tensor as Value
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.hooks import RemovableHandle
from gradtape_standins.torch.tensor import Tensor, wrap


class Optimizer:
    """What all optimisers share. To write one, have a `step` that goes through `self.param_groups`."""

    _stepped = False  # whether a step was made, which schedulers ask
    _made: Location | None = None
    _passed: Location | None = None  # the backward pass before the last step
    _reached = False  # whether a parameter ever had a gradient when a step was made

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got a tensor.\n"
                "  fix: [tensor], or model.parameters()"
            )
        self.defaults = defaults
        self._made = Location.here()
        self._passed = last_backward.get()
        self._begin()
        self.param_groups: list[dict[str, Any]] = []
        given = list(params)
        if not given:
            raise ValueError(
                "optimizer got an empty parameter list.\n"
                "  fix: model.parameters() is used up by the first loop over it; call it again, or make a list of it"
            )
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)
        self._before: list[Any] = []
        self._after: list[Any] = []
        _hook_step(type(self))

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step."""
        self._before.append(hook)
        return RemovableHandle(lambda: self._before.remove(hook))

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        self._after.append(hook)
        return RemovableHandle(lambda: self._after.remove(hook))

    def _begin(self) -> None:
        self.state: Any = defaultdict(dict)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters that have options of their own."""
        group = {**param_group}
        params = group.pop("params")
        listed = [params] if isinstance(params, Tensor) else list(params)
        if listed and isinstance(listed[0], tuple):
            group = {"param_names": [name for name, _ in listed], **group}
            listed = [parameter for _, parameter in listed]
        for parameter in listed:
            if not isinstance(parameter, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(parameter)}")
            if not parameter.is_leaf:
                raise ValueError(
                    "can't optimize a non-leaf Tensor: it was computed, and will not follow what is written to it.\n"
                    "  fix: x.detach().requires_grad_() makes a leaf of it"
                )
        if len({id(parameter) for parameter in listed}) < len(listed):
            warnings.warn("optimizer contains a parameter group with duplicate parameters", UserWarning, stacklevel=3)
        known = {id(parameter) for each in self.param_groups for parameter in each["params"]}
        if any(id(parameter) in known for parameter in listed):
            raise ValueError("some parameters appear in more than one parameter group")
        names = {"param_names": group.pop("param_names")} if "param_names" in group else {}
        self.param_groups.append({"params": listed, **names, **self.defaults, **group})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters (or set them to zero)."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    parameter.grad.detach_().zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """The options of all groups, and what is kept from step to step."""
        numbers = {id(p): n for n, p in enumerate(self._parameters())}
        groups = [
            {name: value for name, value in group.items() if name != "params"}
            | {"params": [numbers[id(parameter)] for parameter in group["params"]]}
            for group in self.param_groups
        ]
        return {"state": self._kept(), "param_groups": groups}

    def _kept(self) -> Any:
        held = list(self._parameters())
        numbers = {id(parameter): number for number, parameter in enumerate(held)}
        return {numbers.get(id(key), key): value for key, value in self.state.items()}

    def _parameters(self) -> Iterator[Any]:
        return (parameter for group in self.param_groups for parameter in group["params"])

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what `state_dict` returned."""
        groups = state_dict["param_groups"]
        sizes = [len(group["params"]) for group in groups]
        if sizes != [len(group["params"]) for group in self.param_groups]:
            raise ValueError("loaded state dict has a different number of parameter groups or of parameters in them")
        for group, given in zip(self.param_groups, groups, strict=True):
            group.update({name: value for name, value in given.items() if name != "params"})
        self._take(state_dict["state"])

    def _take(self, state: Any) -> None:
        held = list(self._parameters())
        self.state = defaultdict(dict, {held[k] if isinstance(k, int) else k: v for k, v in state.items()})

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines += [""] * bool(number) + [f"Parameter Group {number}"]
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join(lines) + "\n)"


def _hook_step(kind: Any) -> None:
    """Have the steps of a class of optimisers call the hooks, and tell the schedulers that one was made."""
    inner = kind.step
    if getattr(inner, "is_hooked", False):
        return

    @functools.wraps(inner)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._stepped = True
        for hook in list(self._before):
            hook(self, (self, *args), kwargs)
        result = inner(self, *args, **kwargs)
        _note_gradients(self)
        for hook in list(self._after):
            hook(self, (self, *args), kwargs)
        return result

    vars(step)["is_hooked"] = True
    kind.step = step


def _note_gradients(optimizer: Any) -> None:
    """Tell of an optimiser none of whose parameters ever got a gradient, although there was a backward pass."""
    if optimizer._reached:
        return
    parameters = [p._value for p in optimizer._parameters()]
    optimizer._reached = any(value.grad is not None for value in parameters)
    ran, before = last_backward.get(), optimizer._passed
    optimizer._passed = ran
    if optimizer._reached or ran is None or ran is before or not any(value.requires_grad for value in parameters):
        return
    note_missing_gradients(type(optimizer).__name__, len(parameters), optimizer._made, ran)


_KEPT = {
    ("", "first"): "exp_avg",
    ("", "second"): "exp_avg_sq",
    ("", "momentum"): "momentum_buffer",
    ("Adamax", "largest"): "exp_inf",
    ("", "largest"): "max_exp_avg_sq",
    ("Adagrad", "total"): "sum",
    ("Adadelta", "second"): "square_avg",
    ("Adadelta", "steps"): "acc_delta",
    ("RMSprop", "second"): "square_avg",
    ("RMSprop", "first"): "grad_avg",
    ("NAdam", "product"): "mu_product",
    ("Rprop", "previous"): "prev",
    ("Rprop", "step"): "step_size",
    ("ASGD", "average"): "ax",
}
"""What PyTorch calls the moving averages and the like that optimisers keep."""


class Ours(Optimizer):
    """An optimiser whose updates are those of one of gradtape's, a state for each group."""

    _make: Callable[..., Any]
    _counts = True  # whether PyTorch keeps the number of steps
    _names: tuple[str, ...] = ()  # the options that go to gradtape's, by its names

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self._states: list[Any] = []
        super().__init__(params, defaults)

    def _begin(self) -> None:
        pass

    @property
    def state(self) -> Any:
        """What is kept for each parameter, as it is now."""
        held = list(self._parameters())
        return defaultdict(dict, {held[number]: kept for number, kept in self._kept().items()})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters that have options of their own."""
        super().add_param_group(param_group)
        with translating():
            self._optimiser(self.param_groups[-1])  # refuses options that are out of their range
        self._states.append(None)

    def _optimiser(self, group: dict[str, Any]) -> Any:
        options = {name: group[name] for name in self._names}
        rate = float(group["lr"])
        try:
            decoupled = group.get("decoupled_weight_decay") and "decoupled_weight_decay" not in self._names
            return (ours.AdamW if decoupled else type(self)._make)(
                rate, **options, maximize=group.get("maximize", False), check_finite=False, allow_none=True
            )
        except gt.OperandError as error:
            raise ValueError(str(error).replace("learning_rate=", "lr=")) from None

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have a gradient; with a `closure`, call it first and return its loss."""
        loss = None
        if closure is not None:
            with gt.enable_grad():
                loss = closure()
        with translating(), gt.no_grad():
            for number, group in enumerate(self.param_groups):
                self._update(number, group)
        return loss

    def _update(self, number: int, group: dict[str, Any]) -> None:
        params = group["params"]
        values = [parameter._numbers for parameter in params]
        gradients = [None if p._value.grad is None else concrete(p._value.grad) for p in params]
        if all(gradient is None for gradient in gradients):
            return
        optimiser = self._optimiser(group)
        state = self._states[number]
        if state is None:
            state = optimiser.init(values)
        new, self._states[number] = optimiser.update(
            gradients, {**state, "learning_rate": np.float64(group["lr"])}, values
        )
        for parameter, value, gradient in zip(params, new, gradients, strict=True):
            if gradient is not None:
                parameter._put(Value(np.asarray(value)), False)

    def _kept(self) -> Any:
        """What is kept for each parameter, by its number, under PyTorch's names."""
        kept: dict[int, dict[str, Any]] = {}
        number = 0
        for group, state in zip(self.param_groups, self._states, strict=True):
            for place in range(len(group["params"])):
                if state is not None:
                    lists = {name: value for name, value in state.items() if isinstance(value, list)}
                    kept[number] = {"step": wrap(np.float32(state["count"]))} if self._counts else {}
                    kept[number] |= {
                        _KEPT.get((type(self).__name__, name)) or _KEPT.get(("", name), name): wrap(value[place])
                        for name, value in lists.items()
                    }
                number += 1
        return kept

    def _take(self, state: Any) -> None:
        number = 0
        for index, group in enumerate(self.param_groups):
            count = len(group["params"])
            rows = [state.get(n) for n in range(number, number + count)]
            number += count
            self._states[index] = None if any(row is None for row in rows) else self._resumed(group, rows)

    def _resumed(self, group: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
        """A state of gradtape's from PyTorch's, one row for each parameter."""
        made: dict[str, Any] = self._optimiser(group).init([parameter._numbers for parameter in group["params"]])
        for name, value in made.items():
            if isinstance(value, list):
                shown = _KEPT.get((type(self).__name__, name)) or _KEPT.get(("", name), name)
                made[name] = [row[shown]._numbers for row in rows]
        steps = [float(row["step"]) for row in rows if "step" in row]
        return {**made, "count": np.int64(max(steps, default=0))}


def initialiser(defaults: dict[str, Any], others: dict[str, Any]) -> Callable[..., None]:
    """The `__init__` of an optimiser: its options by position or name, and `others`, accepted and not used."""
    accepted = {**defaults, **others}

    @functools.wraps(Ours.__init__)
    def __init__(self: Any, params: Any, *args: Any, **kwargs: Any) -> None:
        given = {**dict(zip(defaults, args)), **kwargs}
        unknown = [name for name in given if name not in accepted]
        if unknown:
            raise TypeError(f"{type(self).__name__}: no option {unknown[0]!r}; there are {list(defaults)}")
        Ours.__init__(self, params, {**accepted, **given})

    return __init__
