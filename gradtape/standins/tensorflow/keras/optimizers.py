"""`tf.keras.optimizers`: Keras' names and defaults over gradtape's optimisers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

import gradtape as gt
from gradtape.explain import messages, voices
from gradtape.standins.names import missing
from gradtape.standins.tensorflow.arrays import convert_to_tensor
from gradtape.standins.tensorflow.conversion import value_of
from gradtape.standins.tensorflow.elementwise import clip_by_global_norm, clip_by_norm, clip_by_value
from gradtape.standins.tensorflow.errors import DataLossError, explained
from gradtape.standins.tensorflow.keras import schedules
from gradtape.standins.tensorflow.keras.variables import Variable, scope, snake_case, unique_name
from gradtape.standins.tensorflow.log import get_logger


class Optimizer:
    """The base of optimisers: `apply_gradients(zip(gradients, variables))`.

    >>> from gradtape.standins import tensorflow as tf
    >>> v = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.SGD(learning_rate=0.5).apply_gradients([(tf.constant(1.0), v)])
    >>> v.numpy()
    np.float32(0.5)
    """

    def __init__(
        self,
        learning_rate: Any,
        name: str | None,
        clipnorm: float | None,
        clipvalue: float | None,
        global_clipnorm: float | None,
    ) -> None:
        self.name = unique_name(snake_case(type(self).__name__)) if name is None else name
        self.clipnorm, self.clipvalue, self.global_clipnorm = clipnorm, clipvalue, global_clipnorm
        token = scope.set((self.name,))
        try:
            self.iterations = Variable(np.array(0, np.int64), trainable=False, name="iteration")
            self._schedule = learning_rate if callable(learning_rate) else None
            first = 0.0 if self._schedule is not None else learning_rate
            self._rate = Variable(np.array(float(first), np.float32), trainable=False, name="learning_rate")
        finally:
            scope.reset(token)
        self._variables: list[Any] = []
        self._optimiser: Any = None
        self._slots: list[Any] = []
        self._deferred: list[Any] = []

    def _made(self, rate: float) -> Any:
        """gradtape's optimiser."""
        raise NotImplementedError(f"{type(self).__name__} has no formula")

    @property
    def learning_rate(self) -> Any:
        """The learning rate: a variable, or what the schedule says now."""
        return self._rate if self._schedule is None else convert_to_tensor(self._schedule(self.iterations))

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if callable(value):
            self._schedule = value
            return
        self._schedule = None
        self._rate.assign(np.float32(float(value)))

    lr = learning_rate

    @property
    def variables(self) -> list[Any]:
        """The number of steps, the learning rate and, from the first step on, what is kept for each variable."""
        return [self.iterations, self._rate, *self._slots]

    _slot_names: ClassVar[dict[str, str]] = {"first": "momentum", "second": "velocity", "largest": "velocity_hat"}
    """Keras' names for what gradtape's optimisers keep."""

    def defer(self, arrays: list[Any]) -> None:
        """What a checkpoint holds for variables that are not there yet: it is taken over before the first step."""
        self._deferred = arrays

    def _begin(self, rate: float, values: list[Any]) -> None:
        """Make gradtape's optimiser, and variables of Keras' over what it keeps."""
        self._optimiser = self._made(rate)
        self._optimiser.build(values)
        state = self._optimiser.state
        for place, variable in enumerate(self._variables):
            path = getattr(variable, "path", variable.name).replace("/", "_").replace(":", "_")
            for slot in [name for name in state if name not in ("count", "learning_rate")]:
                name = f"{path}_{self._slot_names.get(slot, slot)}"
                self._slots.append(Variable.over(state[slot][place], name, f"{self.name}/{name}"))
        if self._deferred and len(self._deferred) != len(self._slots):
            raise DataLossError(
                None, None, explained(f"{self.name}: the checkpoint is of an optimiser that keeps other numbers")
            )
        for kept, array in zip(self._slots, self._deferred):
            kept.assign(np.asarray(array))

    def build(self, var_list: Iterable[Any]) -> None:
        """Remember the variables that are to be trained."""
        if not self._variables:
            self._variables = list(var_list)

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None, **kwargs: Any) -> Any:
        """One step with pairs of a gradient and a variable; the number of steps so far is returned."""
        pairs = list(grads_and_vars)
        return self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])

    def apply(self, grads: Any, trainable_variables: Any = None) -> Any:
        """One step. All variables are changed or, if a gradient does not fit, none."""
        variables = self._variables if trainable_variables is None else list(trainable_variables)
        gradients = list(grads)
        if not any(gradient is not None for gradient in gradients):
            raise ValueError(
                explained(
                    "No gradients provided for any variable",
                    "tape.why(loss, variable) tells where each one was lost",
                )
            )
        missing_ones = [v for g, v in zip(gradients, variables) if g is None]
        if missing_ones:
            _tell_of_missing(missing_ones)
        self.build(variables)
        places = {id(variable): place for place, variable in enumerate(self._variables)}
        row: list[Any] = [None] * len(self._variables)
        for gradient, variable in zip(self._clipped(gradients), variables, strict=True):
            if id(variable) not in places:
                raise ValueError(
                    explained(
                        f"{self.name} was built for other variables, and does not know {variable.name}",
                        "a new optimiser, or optimizer.build(all_variables) before the first step",
                    )
                )
            if gradient is not None:
                row[places[id(variable)]] = value_of(gradient, variable.dtype)
        rate = float(np.asarray(self.learning_rate._value._concrete()))
        values = [variable._value for variable in self._variables]
        if self._optimiser is None:
            self._begin(rate, values)
        self._optimiser.learning_rate = rate
        self._optimiser.state["count"].assign(gt.stop_gradient(self.iterations._value))
        self._optimiser.step(values, row)
        for variable in variables:
            if variable.constraint is not None:
                variable.assign(variable.constraint(variable))
        self.iterations.assign_add(1)
        return self.iterations

    _kept = 0  # how many numbers Keras keeps for each that is trained

    def count_kept(self) -> int:
        """How many numbers Keras keeps from step to step; 0 before the first step."""
        if self._optimiser is None:
            return 0
        return 2 + self._kept * sum(int(variable._value.size) for variable in self._variables)

    def _clipped(self, gradients: list[Any]) -> list[Any]:
        if self.clipnorm is not None:
            return [None if g is None else clip_by_norm(g, self.clipnorm) for g in gradients]
        if self.clipvalue is not None:
            return [None if g is None else clip_by_value(g, -self.clipvalue, self.clipvalue) for g in gradients]
        if self.global_clipnorm is not None:
            return list(clip_by_global_norm(gradients, self.global_clipnorm)[0])
        return gradients

    def get_config(self) -> dict[str, Any]:
        """What the optimiser was made with; `from_config` makes another one of it."""
        args, kwargs = self.__dict__["_arguments"]
        bound = inspect.signature(type(self).__init__).bind(self, *args, **kwargs)
        bound.apply_defaults()
        own = dict(list(bound.arguments.items())[1:])
        given = {**own.pop("kwargs", {}), **{n: own[n] for n in list(own) if n in ("learning_rate", *_COMMON)}}
        rest = {n: v for n, v in own.items() if n not in given}
        rate = self.learning_rate
        config = {"name": self.name, "learning_rate": float(rate.numpy()) if self._schedule is None else self._schedule}
        return config | {n: given.get(n, value) for n, value in _COMMON.items()} | rest

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A new optimiser, from what `get_config` gave."""
        return cls(**config)

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = object.__new__(cls)
        made.__dict__["_arguments"] = (args, kwargs)
        return made


_COMMON = {
    "weight_decay": None,
    "clipnorm": None,
    "global_clipnorm": None,
    "clipvalue": None,
    "use_ema": False,
    "ema_momentum": 0.99,
    "ema_overwrite_frequency": None,
    "loss_scale_factor": None,
    "gradient_accumulation_steps": None,
}
"""The arguments that all optimisers have, and what they are unless they are given."""


class SGD(Optimizer):
    """Gradient descent, with momentum if wanted."""

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, clipnorm, clipvalue, global_clipnorm)
        self.momentum, self.nesterov, self.weight_decay = momentum, nesterov, weight_decay
        self._kept = int(bool(momentum))

    def _made(self, rate: float) -> Any:
        return gt.optim.SGD(
            rate,
            momentum=self.momentum,
            nesterov=self.nesterov,
            weight_decay=self.weight_decay or 0.0,
            allow_none=True,
            check_finite=False,
        )


class _Adaptive(Optimizer):
    """The optimisers that scale each gradient by its history."""

    _options: dict[str, Any]
    _kept = 2

    def __init__(
        self,
        learning_rate: Any,
        options: dict[str, Any],
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str | None = None,
        weight_decay: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, name, clipnorm, clipvalue, global_clipnorm)
        self._options = options
        self.weight_decay = weight_decay

    def _made(self, rate: float) -> Any:
        kind = getattr(gt.optim, {"Nadam": "NAdam"}.get(type(self).__name__, type(self).__name__))
        if self.weight_decay and kind is gt.optim.Adam:
            kind = gt.optim.AdamW
        decay = {"weight_decay": self.weight_decay or 0.0}
        return kind(rate, **self._options, **decay, allow_none=True, check_finite=False)


class Adam(_Adaptive):
    """Adam; `weight_decay` is decoupled from the gradient."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        options = {"betas": (beta_1, beta_2), "eps": epsilon, "amsgrad": amsgrad, "eps_hat": True}
        super().__init__(learning_rate, options, **kwargs)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon


class AdamW(Adam):
    """Adam with decoupled weight decay."""

    def __init__(self, learning_rate: Any = 0.001, weight_decay: float = 0.004, *args: Any, **kwargs: Any) -> None:
        super().__init__(learning_rate, *args, weight_decay=weight_decay, **kwargs)


class RMSprop(_Adaptive):
    """Divided by the root of a running mean of squares."""

    _slot_names: ClassVar[dict[str, str]] = {"second": "velocity", "momentum": "momentum", "first": "average_gradient"}

    _kept = 1

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        **kwargs: Any,
    ) -> None:
        options = {"alpha": rho, "momentum": momentum, "eps": math.sqrt(epsilon) * 1e-3, "centered": centered}
        super().__init__(learning_rate, options, **kwargs)


class Adagrad(_Adaptive):
    """Divided by the root of the sum of squares."""

    _slot_names: ClassVar[dict[str, str]] = {"total": "accumulator"}

    _kept = 1

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        **kwargs: Any,
    ) -> None:
        options = {"initial_accumulator_value": initial_accumulator_value, "eps": epsilon}
        super().__init__(learning_rate, options, **kwargs)


class Adadelta(_Adaptive):
    """Scaled by the ratio of running means."""

    _slot_names: ClassVar[dict[str, str]] = {"second": "accumulated_grad", "steps": "accumulated_delta_var"}

    def __init__(self, learning_rate: Any = 0.001, rho: float = 0.95, epsilon: float = 1e-7, **kwargs: Any) -> None:
        super().__init__(learning_rate, {"rho": rho, "eps": epsilon}, **kwargs)


class Adamax(_Adaptive):
    """Adam by the infinity norm."""

    _slot_names: ClassVar[dict[str, str]] = {"first": "momentum", "largest": "norm"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, {"betas": (beta_1, beta_2), "eps": epsilon}, **kwargs)


class Nadam(_Adaptive):
    """Adam with Nesterov's momentum."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, {"betas": (beta_1, beta_2), "eps": epsilon, "momentum_decay": 1.0}, **kwargs)


class Lion(_Adaptive):
    """The sign of a running mean."""

    def __init__(self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.99, **kwargs: Any) -> None:
        super().__init__(learning_rate, {"betas": (beta_1, beta_2)}, **kwargs)


def _tell_of_missing(variables: list[Any]) -> None:
    """Log that variables have no gradient as Keras does, and tell those who listen which they are."""
    names = ", ".join(variable.name for variable in variables)
    get_logger().warning(f"Gradients do not exist for variables {names} when minimizing the loss.")
    paths = [getattr(variable, "path", variable.name) for variable in variables]
    found = messages.problem(
        "GT201",
        f"no gradient for {', '.join(paths[:4])}{' and others' * (len(paths) > 4)}: the loss does not depend on them",
        consequence="this step leaves them as they are",
        fixes=["call the layer that they belong to, or leave them out", "tape.why(loss, variable) tells more"],
        intent="give the optimiser the other variables only",
    )
    voices.told(found)


_BY_NAME: dict[str, type[Optimizer]] = {
    kind.__name__.lower(): kind for kind in (SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, Nadam, Lion)
}


def get(identifier: Any) -> Any:
    """The optimiser of a name, or itself."""
    if not isinstance(identifier, str):
        return identifier
    if identifier.lower() in _BY_NAME:
        kind: Any = _BY_NAME[identifier.lower()]
        return kind()
    raise ValueError(f"there is no optimiser {identifier!r}; there are: {', '.join(sorted(_BY_NAME))}")


__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Lion", "Nadam", "Optimizer", "RMSprop", "get"]
__all__ += ["schedules"]
__getattr__ = missing(__name__)
