"""`tf.keras.Model`, `Sequential`, and models made of symbolic tensors."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import nest
from gradtape_standins.tensorflow.arrays import expand_dims, squeeze
from gradtape_standins.tensorflow.errors import DataLossError, explained
from gradtape_standins.tensorflow.keras import saving
from gradtape_standins.tensorflow.keras.layers.base import Layer
from gradtape_standins.tensorflow.keras.serialization import (
    deserialize_keras_object,
    from_graph,
    graph_of,
    known,
    serialize_keras_object,
)
from gradtape_standins.tensorflow.keras.summary import print_summary
from gradtape_standins.tensorflow.keras.symbolic import Input, KerasTensor, calls_between, evaluated, symbolic_call
from gradtape_standins.tensorflow.keras.training import Training
from gradtape_standins.tensorflow.keras.variables import scope, unique_name


class Model(Training, Layer):
    """Layers that are trained together. Subclass it and write `call`, or give symbolic `inputs` and `outputs`.

    >>> from gradtape_standins import tensorflow as tf
    >>> inputs = tf.keras.Input(shape=(4,))
    >>> outputs = tf.keras.layers.Dense(2)(inputs)
    >>> model = tf.keras.Model(inputs, outputs)
    >>> model(tf.ones([3, 4])).shape
    TensorShape([3, 2])
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        symbols = nest.flatten((args, kwargs))
        if not issubclass(cls, Functional | Sequential) and any(isinstance(x, KerasTensor) for x in symbols):
            return super().__new__(_functional(cls), *args, **kwargs)  # type: ignore[arg-type]
        return super().__new__(cls, *args, **kwargs)

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
        gt.nn.save(filepath, {f"{place:04d}": concrete(v._value) for place, v in enumerate(self.weights)})

    def load_weights(self, filepath: Any, **kwargs: Any) -> None:
        """Read the numbers of all variables: all of them or, if one does not fit, none."""
        if not Path(filepath).exists():
            raise FileNotFoundError(explained(f"there is no file {Path(filepath).name} to load weights from"))
        try:
            stored = gt.nn.load(filepath)
            self.set_weights([stored[key] for key in sorted(stored)])
        except ValueError as error:
            raise DataLossError(None, None, str(error)) from None

    def save(self, filepath: Any, overwrite: bool = True, **kwargs: Any) -> None:
        """Write the whole model to a file, which `tf.keras.models.load_model` reads."""
        saving.save_model(self, filepath, overwrite)

    def export(self, filepath: Any, *args: Any, **kwargs: Any) -> None:
        """Not there: it writes graphs of TensorFlow."""
        raise NotImplementedError(
            explained("model.export writes graphs of TensorFlow, which are not here", "model.save('name.keras')")
        )

    def to_json(self, **kwargs: Any) -> str:
        """What describes the model, without its numbers."""
        return saving.model_to_json(self)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A new model, from what `get_config` gave."""
        with known(custom_objects):
            if "wiring" in config:
                kind: Any = cls if issubclass(cls, Functional) else _functional(cls)  # type: ignore[arg-type]
                inputs, outputs = from_graph(config)
                made = kind(inputs, outputs, name=config["name"])
                made.trainable = config.get("trainable", True)
                return made
            return cls(**deserialize_keras_object(config))


class Functional(Model):
    """A model from symbolic inputs to symbolic outputs."""

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name or unique_name("functional"), **kwargs)
        self._inputs, self._outputs = (_only(structure) for structure in (inputs, outputs))
        self.calls = calls_between(nest.flatten(inputs), nest.flatten(outputs))
        self._nodes = [layer for layer, _ in self.calls if isinstance(layer, Layer)]
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
        symbols = nest.flatten(self._inputs)
        if isinstance(inputs, dict) and not isinstance(self._inputs, dict):
            values = [inputs[symbol.name] for symbol in symbols if symbol.name in inputs]
        else:
            values = nest.flatten(inputs)
        if len(symbols) != len(values):
            raise ValueError(explained(f"{self.name} has {len(symbols)} inputs; got {len(values)}"))
        return evaluated(symbols, [_of_rank(v, symbol) for v, symbol in zip(values, symbols)], self._outputs)

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs."""
        return [symbol.name for symbol in self.inputs]

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs: the keys of a dictionary, or the names of the layers that make them."""
        if isinstance(self._outputs, dict):
            return list(self._outputs)
        return [o.name if o.made_by is None else o.made_by[0].name for o in self.outputs]

    input = property(lambda self: self._inputs)
    output = property(lambda self: self._outputs)

    def get_config(self) -> dict[str, Any]:
        """The layers and the calls that connect them."""
        return {"name": self.name, "trainable": self.trainable, **graph_of(self)}

    from_described = Model.from_config


def _only(structure: Any) -> Any:
    """The element of a list of one; everything else as it is."""
    return structure[0] if isinstance(structure, list | tuple) and len(structure) == 1 else structure


def _of_rank(value: Any, symbol: KerasTensor) -> Any:
    """`value` with the number of axes of `symbol`: a last axis of length 1 is added or taken away."""
    shape = getattr(value, "shape", None)
    if shape is None or isinstance(value, KerasTensor):
        return value
    if len(shape) == symbol.ndim - 1 and symbol.shape[-1] == 1:
        return expand_dims(value, -1)
    if len(shape) == symbol.ndim + 1 and shape[-1] == 1:
        return squeeze(value, -1)
    if len(shape) != symbol.ndim:
        raise ValueError(
            explained(
                f"Invalid input shape for input {symbol.name}: expected shape {symbol.shape}, but input has "
                f"incompatible shape {tuple(shape)}",
                "the first axis is the batch: x[None] for a single example",
            )
        )
    return value


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

    >>> from gradtape_standins import tensorflow as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="relu"), tf.keras.layers.Dense(1)])
    >>> model(tf.ones([5, 2])).shape, model.count_params()
    (TensorShape([5, 1]), 13)
    """

    def __init__(self, layers: Any = None, trainable: bool = True, name: str | None = None) -> None:
        super().__init__(name=name, trainable=trainable)
        self._parts: list[Any] = []
        self._chain: list[Any] = []  # the symbolic input and, layer by layer, what becomes of it
        for layer in layers or []:
            self._append(layer)
        self._number()

    def _number(self) -> None:
        """Take a name for a functional model, as Keras does: a Sequential whose shapes are known has one inside."""
        if self._chain and self._parts:
            unique_name("functional")

    def add(self, layer: Any) -> None:
        """Put a layer at the end."""
        self._append(layer)
        self._number()

    def _append(self, layer: Any) -> None:
        if isinstance(layer, KerasTensor):
            self._begin(layer)
        elif not isinstance(layer, Layer):
            raise ValueError(explained(f"Only layers can be added to a Sequential; got a {type(layer).__name__}"))
        elif type(layer).__name__ == "InputLayer":
            self._begin(KerasTensor(layer._given_shape))
        else:
            self._parts.append(layer)
            if layer.__dict__.get("_given_shape") is not None and not self._chain:
                self._begin(KerasTensor(layer._given_shape))
            elif self._chain:
                self._continue(layer)

    def _begin(self, symbol: Any) -> None:
        self._chain = [symbol]
        for layer in self._parts:
            self._continue(layer)

    def _continue(self, layer: Any) -> None:
        """The symbolic output of the next layer; its variables are made."""
        token = scope.set((*scope.get(), self.name))
        try:
            self._chain.append(layer(self._chain[-1]))
        finally:
            scope.reset(token)
        self.built = True

    def build(self, input_shape: Any = None) -> None:
        """Make the variables, for inputs of that shape."""
        if input_shape is not None and not self._chain:
            self._begin(KerasTensor(input_shape))
            self._number()

    def _built_for(self, inputs: Any) -> None:
        if not self.built:
            unique_name("functional")  # the one that Keras makes inside
        super()._built_for(inputs)

    def pop(self) -> Any:
        """Take the last layer away."""
        if self._chain:
            self._chain.pop()
        return self._parts.pop()

    @property
    def inputs(self) -> list[Any]:
        """The symbolic input, if its shape is known."""
        return self._ends("input", 0)

    @property
    def outputs(self) -> list[Any]:
        """The symbolic output, if the shape of the input is known."""
        return self._ends("output", -1)

    def _ends(self, what: str, place: int) -> list[Any]:
        if not self._chain:
            raise AttributeError(f"Sequential model '{self.name}' has no defined {what}s yet.")
        return [self._chain[place]]

    input = property(lambda self: self.inputs[0])
    output = property(lambda self: self.outputs[0])

    @property
    def layers(self) -> list[Any]:
        """The layers."""
        return list(self._parts)

    @property
    def input_shape(self) -> Any:
        """The shape of the input."""
        return tuple(self._ends("input shape", 0)[0].shape)

    @property
    def output_shape(self) -> Any:
        """The shape of the output."""
        return tuple(self._ends("output shape", -1)[0].shape)

    def get_config(self) -> dict[str, Any]:
        """The layers, and the shape of the input."""
        first = self._chain[0] if self._chain else None
        return {
            "name": self.name,
            "trainable": self.trainable,
            "layers": [serialize_keras_object(layer) for layer in self._parts],
            "build_input_shape": None if first is None else [*first.shape],
            "input_dtype": None if first is None else first.dtype,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A new model, from what `get_config` gave."""
        with known(custom_objects):
            made = cls([deserialize_keras_object(layer) for layer in config["layers"]], name=config["name"])
        if config.get("build_input_shape") is not None:
            made._begin(KerasTensor(config["build_input_shape"], config.get("input_dtype") or "float32"))
        made.trainable = config.get("trainable", True)
        return made

    from_described = from_config

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """The layers, one after the other."""
        if self._chain:
            inputs = _of_rank(inputs, self._chain[0])
        for layer in self._parts:
            inputs = layer(inputs)
        return inputs


def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None) -> Any:
    """A model of the same layers, made anew: with variables of its own, that begin as those of new layers do."""
    copies: dict[int, Any] = {}

    def copy_of(layer: Any) -> Any:
        if id(layer) not in copies:
            copies[id(layer)] = (
                clone_model(layer) if isinstance(layer, Model) else (clone_function or Layer.again)(layer)
            )
        return copies[id(layer)]

    if isinstance(model, Sequential):
        start = [Input(model.input_shape[1:])] if model._chain else []
        return Sequential([*start, *(copy_of(layer) for layer in model.layers)], name=model.name)
    if not isinstance(model, Functional):
        raise ValueError(
            explained(
                "clone_model: a Sequential or a functional model is wanted; this one is a class of your own",
                "make another one: type(model)(...)",
            )
        )
    inputs = [Input(symbol.shape[1:], symbol.shape[0], symbol.dtype, symbol.name) for symbol in model.inputs]
    outputs = evaluated(model.inputs, inputs, model._outputs, copy_of)
    return Functional(nest.pack_sequence_as(model._inputs, inputs), outputs, name=model.name)


load_model, save_model, model_from_json = saving.load_model, saving.save_model, saving.model_from_json

__all__ = ["Functional", "Model", "Sequential", "clone_model", "load_model", "model_from_json", "save_model"]
__getattr__ = missing(__name__)
