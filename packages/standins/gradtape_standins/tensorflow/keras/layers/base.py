"""Layer: an object with variables that is built when it is first called."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from gradtape_standins.tensorflow import nest
from gradtape_standins.tensorflow.arrays import cast, convert_to_tensor
from gradtape_standins.tensorflow.conversion import Holder
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.keras import constraints, initializers, regularizers
from gradtape_standins.tensorflow.keras.constructor_arguments import KeepsConstructorArguments
from gradtape_standins.tensorflow.keras.default_dtype import floatx
from gradtape_standins.tensorflow.keras.symbolic import KerasTensor, symbolic_call
from gradtape_standins.tensorflow.keras.variables import Variable, scope, snake_case, unique_name
from gradtape_standins.tensorflow.module import Module
from gradtape_standins.tensorflow.shapes import TensorShape
from gradtape_standins.tensorflow.tensor import wrap
from gradtape_standins.tensorflow.variable import Variable as TensorFlowVariable

_training: ContextVar[bool | None] = ContextVar("whether a model is being trained", default=None)


class Layer(KeepsConstructorArguments, Module):
    """The base of all layers. Subclasses write `build(input_shape)`, where variables are made, and `call(inputs)`.

    >>> from gradtape_standins import tensorflow as tf
    >>> class Scale(tf.keras.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight(shape=(), initializer="ones", name="factor")
    ...     def call(self, inputs):
    ...         return inputs * self.factor
    >>> layer = Scale()
    >>> layer(tf.constant([1.0, 2.0])).numpy(), [w.path for w in layer.weights]
    (array([1., 2.], dtype=float32), ['scale/factor'])
    """

    built = False
    supports_masking = False
    """Whether a mask (which steps of time are there) passes from the inputs to the outputs."""

    def again(self, **changes: Any) -> Any:
        """A new layer, made with the arguments of this one but for `changes`."""
        args, kwargs = self.__dict__["_arguments"]
        return type(self)(*args, **{"name": self.name, **kwargs, **changes})

    def __init__(
        self,
        *,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        activity_regularizer: Any = None,
        input_shape: Any = None,
        input_dim: int | None = None,
        autocast: bool = True,
        **kwargs: Any,
    ) -> None:
        if kwargs:
            raise ValueError(
                explained(f"Unrecognized keyword arguments passed to {type(self).__name__}: {', '.join(kwargs)}")
            )
        self._name = unique_name(snake_case(type(self).__name__)) if name is None else name
        self._trainable = trainable
        self._dtype = (dtype["config"]["name"] if isinstance(dtype, dict) else dtype) or floatx()
        self._autocast = autocast
        self.activity_regularizer = regularizers.get(activity_regularizer)
        given = (input_dim,) if input_dim is not None else input_shape
        self._given_shape = None if given is None else (None, *given)

    # -- what is inside

    def _children(self) -> Iterator[Any]:
        """The variables and layers among the attributes, in the order in which they were set."""
        seen: set[int] = set()
        for name, value in list(vars(self).items()):
            for part in _flat(value) if name not in _NO_CHILDREN else ():
                if isinstance(part, Layer | TensorFlowVariable | Module) and id(part) not in seen:
                    seen.add(id(part))
                    yield part

    @property
    def weights(self) -> list[Any]:
        """The variables: the layer's own, then those of the layers inside it."""
        own, inner, seen = [], [], set()
        for part in self._children():
            if isinstance(part, Variable):  # Keras does not know of a plain tf.Variable or tf.Module inside a layer
                own.append(part)
            elif isinstance(part, Layer):
                inner += part.weights
        found = []
        for variable in [*own, *inner]:
            if id(variable) not in seen:
                seen.add(id(variable))
                found.append(variable)
        return found

    @property
    def variables(self) -> list[Any]:  # type: ignore[override]
        """The variables."""
        return self.weights

    @property
    def trainable(self) -> bool:
        """Whether the variables are to be trained."""
        return bool(self.__dict__.get("_trainable", True))

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = bool(value)
        for part in self._children():
            if isinstance(part, Layer):
                part.trainable = value

    @property
    def trainable_variables(self) -> list[Any]:  # type: ignore[override]
        """The variables that are to be trained."""
        if not self.trainable:
            return []
        frozen = {id(v) for layer in self._flatten_layers() if not layer.trainable for v in layer.weights}
        return [v for v in self.weights if v.trainable and id(v) not in frozen]

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that are to be trained."""
        return self.trainable_variables

    @property
    def non_trainable_variables(self) -> list[Any]:  # type: ignore[override]
        """The variables that are not to be trained."""
        trained = {id(v) for v in self.trainable_variables}
        return [v for v in self.weights if id(v) not in trained]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that are not to be trained."""
        return self.non_trainable_variables

    def _flatten_layers(self) -> Iterator[Layer]:
        yield self
        for part in self._children():
            if isinstance(part, Layer):
                yield from part._flatten_layers()

    @property
    def losses(self) -> list[Any]:
        """The penalties of regularisers, and what `add_loss` was given in the last call."""
        found = []
        for layer in self._flatten_layers():
            found += layer.__dict__.get("_added", [])
            found += [penalty(variable) for variable, penalty in layer.__dict__.get("_penalties", [])]
        return found

    def add_loss(self, loss: Any) -> None:
        """Count `loss` among `losses` until the next call."""
        self.__dict__.setdefault("_added", []).append(loss)

    def add_weight(
        self,
        shape: Any = (),
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer: Any = None,
        constraint: Any = None,
        aggregation: Any = None,
        name: str | None = None,
    ) -> Variable:
        """A new variable of this layer."""
        if isinstance(shape, str):
            raise ValueError(
                explained("add_weight: the first argument is the shape", "add_weight(shape=..., name=...)")
            )
        chosen = initializers.get("glorot_uniform" if initializer is None else initializer)
        tokens = scope.get()
        token = scope.set(tokens if tokens and tokens[-1] == self.name else (*tokens, self.name))
        try:
            called = unique_name("variable") if name is None else name
            made = Variable(chosen, tuple(shape), dtype or self._dtype, trainable, called)
        finally:
            scope.reset(token)
        made.constraint = constraints.get(constraint)
        self.__dict__.setdefault("_weights", []).append(made)
        penalty = regularizers.get(regularizer)
        if penalty is not None:
            self.__dict__.setdefault("_penalties", []).append((made, penalty))
        return made

    def get_weights(self) -> list[Any]:
        """The numbers, as arrays."""
        return [variable.numpy() for variable in self.weights]

    def set_weights(self, weights: Any) -> None:
        """Give the variables other numbers: all of them or, if one does not fit, none."""
        arrays, variables = [np.asarray(w) for w in weights], self.weights
        if len(arrays) != len(variables) or any(a.shape != tuple(v.shape) for a, v in zip(arrays, variables)):
            raise ValueError(
                explained(
                    f"{self.name} has variables of shapes {[tuple(v.shape) for v in variables]}; got arrays of shapes "
                    f"{[a.shape for a in arrays]}",
                    "build the layer first, and give one array for each variable, in the order of `weights`",
                )
            )
        for array, variable in zip(arrays, variables):
            variable.assign(array)

    def count_params(self) -> int:
        """How many numbers there are."""
        return sum(variable._value.size for variable in self.weights)

    @property
    def dtype(self) -> str:
        """The dtype of the variables."""
        return str(self.__dict__.get("_dtype", "float32"))

    compute_dtype = variable_dtype = dtype

    # -- building and calling

    def build(self, input_shape: Any) -> None:
        """Make the variables; nothing here."""
        self.built = True

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """What the layer computes; subclasses write it."""
        raise NotImplementedError(f"{type(self).__name__} has no `call`")

    def _built_for(self, inputs: Any) -> None:
        if self.built:
            return
        shapes = nest.map_structure(lambda x: getattr(x, "shape", None), inputs)
        self.build(shapes)
        self.built = True

    def ensure_built(self, input_shape: Any) -> None:
        """Make the variables for inputs of this shape, if that was not done yet."""
        if not self.built:
            token = scope.set((*scope.get(), self.name))
            try:
                self.build(input_shape)
            finally:
                scope.reset(token)
            self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the outputs, given that of the inputs."""
        return mask if self.supports_masking else None

    def _mask_for(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """The mask of the first argument, which is passed on to a `call` that takes it."""
        mask = kwargs.get("mask")
        if mask is None and args:
            masks = nest.map_structure(mask_of, args[0])
            mask = masks if any(part is not None for part in nest.flatten(masks)) else None
        if not _takes(self.call, "mask"):
            kwargs.pop("mask", None)
        elif mask is not None:
            kwargs["mask"] = mask
        return mask

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, KerasTensor) for x in nest.flatten((args, kwargs))):
            return symbolic_call(self, args, kwargs)
        if "_name" not in self.__dict__:
            raise RuntimeError(
                explained(
                    f"In layer '{type(self).__name__}', you forgot to call `super().__init__()` as the first statement "
                    "in the `__init__()` method"
                )
            )
        for arg in args:
            if isinstance(arg, str | bytes):
                raise ValueError(
                    explained(
                        "Only input tensors may be passed as positional arguments. The following argument value should "
                        f"be passed as a keyword argument: {arg!r}"
                    )
                )
        args = tuple(nest.map_structure(self._converted, arg) for arg in args)
        takes_training = _takes(self.call, "training")
        training = kwargs.get("training")
        training = _training.get() if training is None else training
        if takes_training and training is not None:
            kwargs["training"] = training
        elif not takes_training:
            kwargs.pop("training", None)
        outer = scope.get()
        tokens = scope.set((*outer, self.name)), _training.set(training)
        try:
            self._built_for(args[0] if args else None)
            self.__dict__.pop("_added", None)
            mask = self._mask_for(args, kwargs)
            result = self.call(*args, **kwargs)
            passed = self.compute_mask(args[0], mask) if args else None
            if passed is not None:
                result = masked(result, passed)
        finally:
            scope.reset(tokens[0])
            _training.reset(tokens[1])
        if "_output_shapes" not in self.__dict__:  # set in each call, it would be another thing for `gt.jit`
            parts = nest.flatten(result)
            self._output_shapes = tuple(tuple(part.shape) if hasattr(part, "shape") else None for part in parts)
            vars(self)["_called_with"] = nest.map_structure(_spec_text, args[0]) if args else None
        if self.activity_regularizer is not None:
            self.add_loss(self.activity_regularizer(result))
        return result

    def _converted(self, x: Any) -> Any:
        """Arrays as tensors; floating point numbers in the dtype of the layer."""
        if isinstance(x, np.ndarray | np.generic | float):
            x = convert_to_tensor(x)
        if isinstance(x, Holder) and x._value.dtype.kind == "f" and self._autocast and x.dtype != self._dtype:  # type: ignore[attr-defined]
            return cast(x, self._dtype)
        return x

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for an input of this shape."""
        return nest.map_structure(lambda x: x.shape, symbolic_call(self, (KerasTensor(input_shape),), {}))

    @property
    def input(self) -> Any:
        """The symbolic input of the first call with symbolic tensors."""
        return self._symbol("input", 0)

    @property
    def output(self) -> Any:
        """The symbolic output of the first call with symbolic tensors."""
        return self._symbol("output", 1)

    def _symbol(self, what: str, place: int) -> Any:
        if "_symbols" not in self.__dict__:
            raise AttributeError(f"The layer {self.name} has never been called and thus has no defined {what}.")
        return self.__dict__["_symbols"][place]

    def get_config(self) -> dict[str, Any]:
        """The name, whether it is trained, and of Keras' own layers the arguments they were made with."""
        policy = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": self.dtype}}
        config = {"name": self.name, "trainable": self.trainable, "dtype": {**policy, "registered_name": None}}
        if type(self).__module__.startswith(__name__.rpartition(".")[0]):
            args, kwargs = self.__dict__["_arguments"]
            bound = inspect.signature(type(self).__init__).bind(self, *args, **kwargs)
            bound.apply_defaults()
            kinds = {p.name: p.kind for p in bound.signature.parameters.values()}
            config |= {
                n: v
                for n, v in list(bound.arguments.items())[1:]
                if kinds[n] is inspect.Parameter.POSITIONAL_OR_KEYWORD
            }
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A new layer, from what `get_config` gave."""
        return cls(**config)

    def __getattr__(self, name: str) -> Any:
        if name in ("kernel", "bias", "gamma", "beta", "embeddings", "moving_mean") and not self.built:
            raise AttributeError(f"You must build the layer before accessing `{name}`.")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


_NO_CHILDREN = ("_arguments", "_symbols", "_called_with", "_compile_arguments")


def _spec_text(x: Any) -> str:
    """The shape and dtype of an input, by which a model that is loaded is built."""
    if not isinstance(x, Holder):
        return ""
    return json.dumps([list(x._value.shape), str(x._value.dtype)])


def mask_of(x: Any) -> Any:
    """Which steps of time are there in `x`; None if all are."""
    return getattr(x, "_keras_mask", None) if isinstance(x, Holder) else None


def masked(result: Any, mask: Any) -> Any:
    """`result` with a mask: a new tensor, as the layer may have returned its input."""
    if not isinstance(result, Holder):
        return result
    made = wrap(result._value)
    made._keras_mask = mask
    return made


def _takes(function: Callable[..., Any], name: str) -> bool:
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for part in value.values():
            yield from _flat(part)
    elif isinstance(value, list | tuple) and not isinstance(value, TensorShape):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def checked_axes(layer: Layer, inputs: Any, count: int, at_least: bool = False) -> None:
    """Raise ValueError unless `inputs` has `count` axes, or at least so many."""
    found = len(inputs.shape)
    if found < count if at_least else found != count:
        raise ValueError(
            explained(
                f"Input 0 of layer '{layer.name}' is incompatible with the layer: expected {'min_' * at_least}ndim="
                f"{count}, found "
                f"ndim={len(inputs.shape)}. Full shape received: {tuple(inputs.shape)}"
            )
        )


def checked_input(layer: Layer, inputs: Any, size: int, axis: int = -1) -> None:
    """Raise ValueError unless `inputs` has the length that the layer was built for."""
    if inputs.shape[axis] != size:
        raise ValueError(
            explained(
                f"Input 0 of layer '{layer.name}' is incompatible with the layer: expected axis {axis} of input shape "
                f"to have value {size}, but received input with shape {inputs.shape}"
            )
        )
