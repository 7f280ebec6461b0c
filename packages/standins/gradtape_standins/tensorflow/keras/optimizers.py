"""`tf.keras.optimizers`: Keras' names and defaults over gradtape's optimisers."""

from __future__ import annotations

from typing import Any, ClassVar

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.keras import schedules, update_rules
from gradtape_standins.tensorflow.keras.optimizer import Optimizer


class _Named(Optimizer):
    """An optimiser of gradtape's under Keras' name; `options` are its options there, `given` what all have."""

    _kind: ClassVar[Any]

    def __init__(self, learning_rate: Any, options: dict[str, Any], given: dict[str, Any]) -> None:
        super().__init__(learning_rate, **given)
        self._options = options

    def _made(self, rate: float) -> Any:
        kind: Any = update_rules.with_decay(self._kind, self.weight_decay)
        return kind(rate, **self._options, allow_none=True, check_finite=False)


class SGD(_Named):
    """Gradient descent, with momentum if wanted."""

    _kind = update_rules.SGD
    _own = ("momentum", "nesterov")

    def __init__(self, learning_rate: Any = 0.01, momentum: float = 0.0, nesterov: bool = False, **kwargs: Any) -> None:
        self.momentum, self.nesterov = momentum, nesterov
        self._kept = int(bool(momentum))
        super().__init__(learning_rate, {"momentum": momentum, "nesterov": nesterov and momentum > 0}, kwargs)


class Adam(_Named):
    """Adam; `weight_decay` is decoupled from the gradient."""

    _kind = gt.optim.Adam
    _kept = 2
    _own = ("beta_1", "beta_2", "epsilon", "amsgrad")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        self.beta_1, self.beta_2, self.epsilon, self.amsgrad = beta_1, beta_2, epsilon, amsgrad
        options = {"betas": (beta_1, beta_2), "eps": epsilon, "amsgrad": amsgrad, "eps_hat": True}
        super().__init__(learning_rate, options, kwargs)


class AdamW(Adam):
    """Adam with decoupled weight decay."""

    def __init__(self, learning_rate: Any = 0.001, weight_decay: float = 0.004, *args: Any, **kwargs: Any) -> None:
        super().__init__(learning_rate, *args, weight_decay=weight_decay, **kwargs)


class RMSprop(_Named):
    """Divided by the root of a running mean of squares."""

    _kind = update_rules.RMSprop
    _kept = 1
    _own = ("rho", "momentum", "epsilon", "centered")
    _slot_names: ClassVar[dict[str, str]] = {"second": "velocity", "momentum": "momentum", "first": "average_gradient"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        **kwargs: Any,
    ) -> None:
        self.rho, self.momentum, self.epsilon, self.centered = rho, momentum, epsilon, centered
        options = {"alpha": rho, "momentum": momentum, "eps": epsilon, "centered": centered}
        super().__init__(learning_rate, options, kwargs)


class Adagrad(_Named):
    """Divided by the root of the sum of squares."""

    _kind = update_rules.Adagrad
    _kept = 1
    _own = ("initial_accumulator_value", "epsilon")
    _slot_names: ClassVar[dict[str, str]] = {"total": "accumulator"}

    def __init__(
        self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-7, **kwargs: Any
    ) -> None:
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon
        options = {"initial_accumulator_value": initial_accumulator_value, "eps": epsilon}
        super().__init__(learning_rate, options, kwargs)


class Adadelta(_Named):
    """Scaled by the ratio of running means."""

    _kind = gt.optim.Adadelta
    _kept = 2
    _own = ("rho", "epsilon")
    _slot_names: ClassVar[dict[str, str]] = {"second": "accumulated_grad", "steps": "accumulated_delta_var"}

    def __init__(self, learning_rate: Any = 0.001, rho: float = 0.95, epsilon: float = 1e-7, **kwargs: Any) -> None:
        self.rho, self.epsilon = rho, epsilon
        super().__init__(learning_rate, {"rho": rho, "eps": epsilon}, kwargs)


class _Averaging(_Named):
    """The relatives of Adam: two running means and what is added to a denominator."""

    _kept = 2
    _own = ("beta_1", "beta_2", "epsilon")
    _more: ClassVar[dict[str, Any]] = {}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **kwargs: Any,
    ) -> None:
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        super().__init__(learning_rate, {"betas": (beta_1, beta_2), "eps": epsilon, **self._more}, kwargs)


class Adamax(_Averaging):
    """Adam by the infinity norm."""

    _kind = update_rules.Adamax
    _slot_names: ClassVar[dict[str, str]] = {"first": "momentum", "largest": "norm"}


class Nadam(_Averaging):
    """Adam with Nesterov's momentum."""

    _kind = gt.optim.NAdam
    _more: ClassVar[dict[str, Any]] = {"momentum_decay": 1.0}


class Lamb(_Averaging):
    """Adam with steps as long as the variables are, times the learning rate."""

    _kind = update_rules.Lamb


class Lion(_Named):
    """The sign of a running mean."""

    _kind = gt.optim.Lion
    _kept = 1
    _own = ("beta_1", "beta_2")

    def __init__(self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.99, **kwargs: Any) -> None:
        self.beta_1, self.beta_2 = beta_1, beta_2
        super().__init__(learning_rate, {"betas": (beta_1, beta_2)}, kwargs)


class Ftrl(_Named):
    """Follow the regularised leader."""

    _kind = update_rules.Ftrl
    _kept = 2
    _own = (
        "learning_rate_power",
        "initial_accumulator_value",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "l2_shrinkage_regularization_strength",
        "beta",
    )
    _slot_names: ClassVar[dict[str, str]] = {"total": "accumulator", "linear": "linear"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        **kwargs: Any,
    ) -> None:
        if learning_rate_power > 0:
            raise ValueError(
                explained(f"Ftrl: learning_rate_power needs to be negative or zero. Received: {learning_rate_power}")
            )
        self.learning_rate_power, self.initial_accumulator_value = learning_rate_power, initial_accumulator_value
        self.l1_regularization_strength, self.l2_regularization_strength, self.beta = (
            l1_regularization_strength,
            l2_regularization_strength,
            beta,
        )
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        options = {
            "power": -learning_rate_power,
            "initial_accumulator_value": initial_accumulator_value,
            "l1": l1_regularization_strength,
            "l2": l2_regularization_strength,
            "l2_shrinkage": l2_shrinkage_regularization_strength,
            "beta": beta,
        }
        super().__init__(learning_rate, options, kwargs)


class Adafactor(_Named):
    """Adaptive steps that keep little."""

    _kind = update_rules.Adafactor
    _own = ("beta_2_decay", "epsilon_1", "epsilon_2", "clip_threshold", "relative_step")
    _slot_names: ClassVar[dict[str, str]] = {"second": "velocity"}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_2_decay: float = -0.8,
        epsilon_1: float = 1e-30,
        epsilon_2: float = 1e-3,
        clip_threshold: float = 1.0,
        relative_step: bool = True,
        **kwargs: Any,
    ) -> None:
        self.beta_2_decay, self.epsilon_1, self.epsilon_2 = beta_2_decay, epsilon_1, epsilon_2
        self.clip_threshold, self.relative_step = clip_threshold, relative_step
        options = {"decay": -beta_2_decay, "eps1": epsilon_1, "eps2": epsilon_2, "clip_threshold": clip_threshold}
        super().__init__(learning_rate, options, kwargs)


_ALL = (SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, Nadam, Lamb, Lion, Ftrl, Adafactor)
_BY_NAME: dict[str, type[Optimizer]] = {kind.__name__.lower(): kind for kind in _ALL}


def get(identifier: Any) -> Any:
    """The optimiser of a name, or of what `serialize` gave; or itself."""
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if not isinstance(identifier, str):
        return identifier
    if identifier.lower() in _BY_NAME:
        kind: Any = _BY_NAME[identifier.lower()]
        return kind()
    raise ValueError(f"there is no optimiser {identifier!r}; there are: {', '.join(sorted(_BY_NAME))}")


def serialize(optimizer: Any) -> dict[str, Any]:
    """The name of the class and what the optimiser was made with."""
    return {"class_name": type(optimizer).__name__, "config": optimizer.get_config()}


def deserialize(config: dict[str, Any], custom_objects: Any = None) -> Any:
    """A new optimiser, from what `serialize` gave."""
    kinds = {kind.__name__: kind for kind in _ALL} | dict(custom_objects or {})
    if config.get("class_name") not in kinds:
        raise ValueError(explained(f"there is no optimiser {config.get('class_name')!r}", "custom_objects={...}"))
    return kinds[config["class_name"]].from_config(config.get("config", {}))


__all__ = ["SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lamb", "Lion", "Nadam"]
__all__ += ["Optimizer", "RMSprop", "deserialize", "get", "schedules", "serialize"]
__getattr__ = missing(__name__)
