"""What all of Keras' optimisers have in common: the learning rate, what they keep, clipping, averages, and a step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

import gradtape as gt
from gradtape.extend import concrete, messages, notify
from gradtape_standins.tensorflow.arrays import convert_to_tensor
from gradtape_standins.tensorflow.conversion import value_of
from gradtape_standins.tensorflow.elementwise import clip_by_global_norm, clip_by_norm, clip_by_value
from gradtape_standins.tensorflow.errors import DataLossError, explained, in_tensorflow_terms
from gradtape_standins.tensorflow.keras import initializers
from gradtape_standins.tensorflow.keras.variables import Variable, scope, snake_case, unique_name
from gradtape_standins.tensorflow.logger import get_logger
from gradtape_standins.tensorflow.tensor import wrap


class Optimizer:
    """The base of optimisers: `apply_gradients(zip(gradients, variables))`.

    >>> from gradtape_standins import tensorflow as tf
    >>> v = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.SGD(learning_rate=0.5).apply_gradients([(tf.constant(1.0), v)])
    >>> v.numpy()
    np.float32(0.5)
    """

    _own: ClassVar[tuple[str, ...]] = ()
    """The names of the arguments that only this optimiser has; they are attributes, too."""

    def __init__(
        self,
        learning_rate: Any,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("decay", None)  # Keras ignores it, too
        if kwargs:
            raise ValueError(
                explained(
                    f"{type(self).__name__}: Argument(s) not recognized: {', '.join(kwargs)}",
                    "learning_rate=..." if "lr" in kwargs else "",
                )
            )
        self.name = unique_name(snake_case(type(self).__name__)) if name is None else name
        self.weight_decay = weight_decay
        self.clipnorm, self.clipvalue, self.global_clipnorm = clipnorm, clipvalue, global_clipnorm
        self.use_ema, self.ema_momentum = use_ema, ema_momentum
        self.ema_overwrite_frequency = ema_overwrite_frequency
        self.loss_scale_factor, self.gradient_accumulation_steps = loss_scale_factor, gradient_accumulation_steps
        token = scope.set((self.name,))
        try:
            self._steps = Variable(np.array(0, np.int64), trainable=False, name="iteration")
            self._schedule = learning_rate if callable(learning_rate) else None
            first = 0.0 if self._schedule is not None else learning_rate
            self._rate = Variable(np.array(float(first), np.float32), trainable=False, name="learning_rate")
        finally:
            scope.reset(token)
        self._variables: list[Any] = []
        self._optimiser: Any = None
        self._slots: list[Any] = []
        self._averages: list[Any] = []
        self._sums: list[Any] = []
        self._deferred: list[Any] = []
        self.built = False

    @property
    def iterations(self) -> Any:
        """How many steps were made; with accumulated gradients, how many times the variables were changed."""
        if self.gradient_accumulation_steps:
            return convert_to_tensor(self._steps) // self.gradient_accumulation_steps
        return self._steps

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
        return [self._steps, *([self._rate] if self._schedule is None else []), *self._extra, *self._slots]

    @property
    def _extra(self) -> list[Any]:
        """What is kept for moving averages and accumulated gradients."""
        return [*self._averages, *self._sums]

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

    @property
    def kept(self) -> list[Any]:
        """What is kept for the variables: moving averages, accumulated gradients, and what the formula needs."""
        return [*self._extra, *self._slots]

    def restore(self, arrays: list[Any]) -> None:
        """Take over what another optimiser of the kind had `kept`, now or, if it is not made yet, at the first step."""
        count = len(self._extra)
        for variable, array in zip(self._extra, arrays):
            variable.assign(array)
        if len(self._slots) == len(arrays) - count:
            for variable, array in zip(self._slots, arrays[count:]):
                variable.assign(array)
        else:
            self.defer(arrays[count:])

    def build(self, var_list: Iterable[Any]) -> None:
        """Remember the variables that are to be trained."""
        if self.built:
            return
        self.built, self._variables = True, list(var_list)
        if self.use_ema:
            self._averages = [self.add_variable_from_reference(v, "average") for v in self._variables]
        if self.gradient_accumulation_steps:
            self._sums = [self.add_variable_from_reference(v, "gradient_accumulator") for v in self._variables]

    # -- for optimisers of one's own

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Change one variable; subclasses write it."""
        raise NotImplementedError(
            explained(f"{type(self).__name__} has no `update_step`", "def update_step(self, gradient, variable, rate)")
        )

    def add_variable(self, shape: Any, initializer: Any = "zeros", dtype: Any = None, name: str | None = None) -> Any:
        """Numbers that are kept from step to step."""
        return self._kept_variable(initializers.get(initializer), tuple(shape), dtype, name or "variable")

    def add_variable_from_reference(
        self, reference_variable: Any, name: str | None = None, initializer: Any = "zeros"
    ) -> Any:
        """Numbers that are kept from step to step, of the shape of a variable."""
        path = getattr(reference_variable, "path", reference_variable.name).replace("/", "_").replace(":", "_")
        shape, dtype = tuple(reference_variable.shape), reference_variable.dtype
        return self._kept_variable(initializers.get(initializer), shape, dtype, f"{path}_{name or 'variable'}")

    def _kept_variable(self, initializer: Any, shape: Any, dtype: Any, name: str) -> Any:
        token = scope.set((self.name,))
        try:
            made = Variable(initializer, shape, dtype, trainable=False, name=name)
        finally:
            scope.reset(token)
        if type(self).update_step is not Optimizer.update_step:
            self._slots.append(made)
        return made

    def _get_variable_index(self, variable: Any) -> int:
        return next(place for place, known in enumerate(self._variables) if known is variable)

    def assign(self, variable: Any, value: Any) -> None:
        """Give a variable another value."""
        variable.assign(value)

    def assign_add(self, variable: Any, value: Any) -> None:
        """Add to a variable."""
        variable.assign_add(value)

    def assign_sub(self, variable: Any, value: Any) -> None:
        """Subtract from a variable."""
        variable.assign_sub(value)

    def scale_loss(self, loss: Any) -> Any:
        """The loss times `loss_scale_factor`, which a step takes away from its gradient again."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    # -- a step

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None, **kwargs: Any) -> Any:
        """One step with pairs of a gradient and a variable; the number of steps so far is returned."""
        pairs = list(grads_and_vars)
        return self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])

    def apply(self, grads: Any, trainable_variables: Any = None) -> Any:
        """One step. All variables are changed or, if a gradient does not fit, none."""
        variables = self._variables if trainable_variables is None else list(trainable_variables)
        gradients = list(grads)
        for variable in variables:
            if not hasattr(variable, "assign"):
                raise AttributeError(
                    explained(
                        f"a {type(variable).__name__} stands where a variable is wanted, and has no `assign`",
                        "pairs of (gradient, variable): zip(gradients, variables)",
                    )
                )
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
        if not self.built:
            self.build(variables)
        places = {id(variable): place for place, variable in enumerate(self._variables)}
        for variable in variables:
            if id(variable) not in places:
                raise ValueError(
                    explained(
                        f"{self.name} was built for other variables, and does not know {variable.name}",
                        "a new optimiser, or optimizer.build(all_variables) before the first step",
                    )
                )
        if self.loss_scale_factor is not None:
            gradients = [None if g is None else g / self.loss_scale_factor for g in gradients]
        owners = [self._variables[places[id(variable)]] for variable in variables]
        if self._sums:
            gradients = self._accumulated(gradients, owners)
        if gradients:
            row: list[Any] = [None] * len(self._variables)
            for gradient, variable in zip(self._clipped(gradients), variables, strict=True):
                if gradient is not None:
                    row[places[id(variable)]] = value_of(gradient, variable.dtype)
            self._change(row)
        if self._averages:
            self._average()
        self._steps.assign_add(1)
        return self.iterations

    @in_tensorflow_terms
    def _change(self, row: list[Any]) -> None:
        """Change the variables by a gradient (or None) for each."""
        if type(self).update_step is not Optimizer.update_step:
            rate = convert_to_tensor(self.learning_rate)
            for gradient, variable in zip(row, self._variables):
                if gradient is not None:
                    self.update_step(wrap(gradient), variable, rate)
        else:
            rate = float(np.asarray(concrete(self.learning_rate._value)))
            values = [variable._value for variable in self._variables]
            if self._optimiser is None:
                self._begin(rate, values)
            self._optimiser.learning_rate = rate
            self._optimiser.state["count"].assign(gt.stop_gradient(self.iterations._value))
            self._optimiser.step(values, row)
        for variable in self._variables:
            if variable.constraint is not None:
                variable.assign(variable.constraint(variable))

    def _accumulated(self, gradients: list[Any], variables: list[Any]) -> list[Any]:
        """The mean gradients, if this is the step at which variables are changed; nothing otherwise."""
        wanted = self.gradient_accumulation_steps or 1
        sums = [self._sums[self._get_variable_index(variable)] for variable in variables]
        if (int(self._steps) + 1) % wanted:
            for gradient, total in zip(gradients, sums):
                if gradient is not None:
                    total.assign_add(gradient)
            return []
        means = [None if g is None else (convert_to_tensor(g) + total) / wanted for g, total in zip(gradients, sums)]
        for total in sums:
            total.assign(np.zeros(tuple(total.shape), total.dtype))
        return means

    def _average(self) -> None:
        """Bring the moving averages of the variables up to date, and write them back when it is time."""
        count = int(self.iterations)
        momentum = self.ema_momentum if count else 0.0
        for variable, average in zip(self._variables, self._averages):
            average.assign(momentum * average + (1 - momentum) * variable)
        if self.ema_overwrite_frequency and (count + 1) % self.ema_overwrite_frequency == 0:
            self.finalize_variable_values(self._variables)

    def finalize_variable_values(self, var_list: Any) -> None:
        """Give the variables the values of their moving averages, where these are kept."""
        for variable, average in zip(self._variables, self._averages):
            variable.assign(average)

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
        rate = float(self._rate.numpy()) if self._schedule is None else self._schedule
        config = {"name": self.name, "learning_rate": rate}
        return config | {name: getattr(self, name) for name in (*_COMMON, *self._own)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A new optimiser, from what `get_config` gave."""
        return cls(**config)


_COMMON: tuple[str, ...] = ("weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "use_ema", "ema_momentum")
_COMMON += ("ema_overwrite_frequency", "loss_scale_factor", "gradient_accumulation_steps")
"""The arguments that all optimisers have."""


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
    notify(found)
