"""`tf.keras.Model`, `Sequential`, and models made of symbolic tensors."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import gradtape as gt
from gradtape.standins.names import missing
from gradtape.standins.tensorflow import nest
from gradtape.standins.tensorflow.errors import DataLossError, explained
from gradtape.standins.tensorflow.keras.layers.base import Layer
from gradtape.standins.tensorflow.keras.summary import print_summary
from gradtape.standins.tensorflow.keras.symbolic import KerasTensor, evaluated, layers_between, symbolic_call
from gradtape.standins.tensorflow.keras.training import Training
from gradtape.standins.tensorflow.keras.variables import unique_name


class Model(Training, Layer):
    """Layers that are trained together. Subclass it and write `call`, or give symbolic `inputs` and `outputs`.

    >>> from gradtape.standins import tensorflow as tf
    >>> inputs = tf.keras.Input(shape=(4,))
    >>> outputs = tf.keras.layers.Dense(2)(inputs)
    >>> model = tf.keras.Model(inputs, outputs)
    >>> model(tf.ones([3, 4])).shape
    TensorShape([3, 2])
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        symbols = nest.flatten((args, kwargs))
        if not issubclass(cls, Functional | Sequential) and any(isinstance(x, KerasTensor) for x in symbols):
            return object.__new__(_functional(cls))  # type: ignore[arg-type]
        return object.__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if any(isinstance(x, KerasTensor) for x in nest.flatten((args, kwargs))):
            self.__class__ = _functional(type(self))  # type: ignore[arg-type]
            Functional.__init__(self, *args, **kwargs)  # type: ignore[arg-type]
        else:
            super().__init__(*args, **kwargs)

    @property
    def layers(self) -> list[Any]:
        """The layers, in the order in which they were set."""
        return [part for part in self._children() if isinstance(part, Layer)]

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """The layer of a name or number."""
        if index is not None:
            return self.layers[index]
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in self.layers]}.")

    def build(self, input_shape: Any = None) -> None:
        """Make the variables, by a call with zeros of that shape."""
        if input_shape is not None and not self.built:
            self.built = True
            symbolic_call(self, (KerasTensor(input_shape),), {})

    def _built_for(self, inputs: Any) -> None:
        self.built = True

    def summary(self, *args: Any, **kwargs: Any) -> None:
        """Print a table of the layers."""
        print_summary(self)

    # -- files

    def save_weights(self, filepath: Any, overwrite: bool = True, **kwargs: Any) -> None:
        """Write the numbers of all variables to a safetensors file."""
        if not overwrite and Path(filepath).exists():
            raise FileExistsError(f"{Path(filepath).name} is there already; overwrite=True replaces it")
        gt.nn.save(filepath, {f"{place:04d}": v._value._concrete() for place, v in enumerate(self.weights)})

    def load_weights(self, filepath: Any, **kwargs: Any) -> None:
        """Read the numbers of all variables: all of them or, if one does not fit, none."""
        stored = gt.nn.load(filepath)
        try:
            self.set_weights([stored[key] for key in sorted(stored)])
        except ValueError as error:
            raise DataLossError(None, None, str(error)) from None

    def save(self, filepath: Any, *args: Any, **kwargs: Any) -> None:
        """Not there: Keras' files hold code and graphs."""
        raise NotImplementedError(
            explained(
                "model.save writes Keras' own files, which are not here",
                "model.save_weights(path) keeps the numbers, and your program has the model",
            )
        )


class Functional(Model):
    """A model from symbolic inputs to symbolic outputs."""

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name or unique_name("functional"), **kwargs)
        self._inputs, self._outputs = inputs, outputs
        symbols = nest.flatten(inputs)
        starts = [symbol.layer for symbol in symbols if symbol.layer is not None]
        self._nodes = [n for n in [*starts, *layers_between(symbols, nest.flatten(outputs))] if isinstance(n, Layer)]
        self.built = True

    @property
    def layers(self) -> list[Any]:
        """The layers, in the order in which they run."""
        return list(self._nodes)

    @property
    def inputs(self) -> list[Any]:
        """The symbolic inputs."""
        return nest.flatten(self._inputs)

    @property
    def outputs(self) -> list[Any]:
        """The symbolic outputs."""
        return nest.flatten(self._outputs)

    @property
    def input_shape(self) -> Any:
        """The shape of the input, or the structure of shapes of several."""
        return nest.map_structure(lambda x: tuple(x.shape), self._inputs)

    @property
    def output_shape(self) -> Any:
        """The shape of the output, or the structure of shapes of several."""
        return nest.map_structure(lambda x: tuple(x.shape), self._outputs)

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """The layers, one after the other."""
        symbols, values = nest.flatten(self._inputs), nest.flatten(inputs)
        if len(symbols) != len(values):
            raise ValueError(explained(f"{self.name} has {len(symbols)} inputs; got {len(values)}"))
        return evaluated(symbols, values, self._outputs)


@functools.cache
def _functional(kind: type[Model]) -> type[Model]:
    """The class of models of `kind` that were made from symbolic inputs and outputs."""
    if kind is Model:
        return Functional
    if issubclass(kind, Functional):
        return kind
    return type(kind.__name__, (kind, Functional), {"__module__": kind.__module__, "__doc__": kind.__doc__})


class Sequential(Model):
    """Layers one after the other.

    >>> from gradtape.standins import tensorflow as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="relu"), tf.keras.layers.Dense(1)])
    >>> model(tf.ones([5, 2])).shape, model.count_params()
    (TensorShape([5, 1]), 13)
    """

    def __init__(self, layers: Any = None, trainable: bool = True, name: str | None = None) -> None:
        super().__init__(name=name, trainable=trainable)
        self._parts: list[Any] = []
        self._start: Any = None
        for layer in layers or []:
            self.add(layer)

    def add(self, layer: Any) -> None:
        """Put a layer at the end."""
        if isinstance(layer, KerasTensor):
            self._start = layer.shape
        elif not isinstance(layer, Layer):
            raise ValueError(explained(f"Only layers can be added to a Sequential; got a {type(layer).__name__}"))
        else:
            given = layer.__dict__.get("_given_shape")
            if type(layer).__name__ == "InputLayer":
                self._start = given
                return
            self._parts.append(layer)
            if self._start is None and given is not None:
                self._start = given
        if self._start is not None and self._parts:
            self.built = False
            self.build(self._start)

    def pop(self) -> Any:
        """Take the last layer away."""
        return self._parts.pop()

    @property
    def layers(self) -> list[Any]:
        """The layers."""
        return list(self._parts)

    @property
    def input_shape(self) -> Any:
        """The shape of the input."""
        if self._start is None:
            raise AttributeError(f"Sequential model '{self.name}' has no defined input shape yet.")
        return tuple(self._start)

    @property
    def output_shape(self) -> Any:
        """The shape of the output."""
        return tuple(self.compute_output_shape(self.input_shape))

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """The layers, one after the other."""
        for layer in self._parts:
            inputs = layer(inputs)
        return inputs


def clone_model(model: Any) -> Any:
    """Not there."""
    raise NotImplementedError(explained("clone_model is not in this stand-in", "make the model again"))


def load_model(filepath: Any, *args: Any, **kwargs: Any) -> Any:
    """Not there: Keras' files hold code and graphs."""
    raise NotImplementedError(
        explained(
            "load_model reads Keras' own files, which are not here", "make the model, then model.load_weights(path)"
        )
    )


__all__ = ["Functional", "Model", "Sequential", "clone_model", "load_model"]
__getattr__ = missing(__name__)
