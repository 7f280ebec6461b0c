"""Layers, models, losses, metrics and optimisers as plain data, and made again from it.

Data is numbers, texts, lists and dictionaries, so that it can be written as JSON. It names classes and functions; those
that are found are Keras' own, those that were registered and those that the reader gives. No code is in it.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from gradtape_standins.tensorflow import nest
from gradtape_standins.tensorflow.dtypes import DType
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.keras.symbolic import Input, KerasTensor, Operation, symbolic_operation

_registered: dict[str, Any] = {}
_names: dict[Any, str] = {}
_custom: ContextVar[dict[str, Any]] = ContextVar("custom objects", default={})  # noqa: B039 - never changed in place
_global: dict[str, Any] = {}


def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Callable[[Any], Any]:
    """A decorator for classes and functions that are to be found again by name when a model is loaded."""

    def decorated(thing: Any) -> Any:
        called = f"{package}>{name or thing.__name__}"
        _registered[called], _names[thing] = thing, called
        return thing

    return decorated


def get_registered_name(obj: Any) -> str:
    """The name under which something was registered, or its own."""
    return str(_names.get(obj, obj.__name__))


def get_registered_object(name: str, custom_objects: Any = None, module_objects: Any = None) -> Any:
    """What was registered under a name; None if there is nothing."""
    places = (_custom.get(), custom_objects or {}, _global, _registered, module_objects or {})
    return next((place[name] for place in places if name in place), None)


def get_custom_objects() -> dict[str, Any]:
    """The names that are known everywhere; it may be changed."""
    return _global


class custom_object_scope:
    """`with custom_object_scope({"Mine": Mine}):` a block in which these names are known."""

    def __init__(self, custom_objects: Any) -> None:
        self._objects, self._tokens = dict(custom_objects), list[Any]()

    def __enter__(self) -> custom_object_scope:
        self._tokens.append(_custom.set({**_custom.get(), **self._objects}))
        return self

    def __exit__(self, *details: Any) -> None:
        _custom.reset(self._tokens.pop())


CustomObjectScope = custom_object_scope


@contextmanager
def known(custom_objects: Any) -> Iterator[None]:
    """A block in which these names are known, if there are any."""
    with custom_object_scope(custom_objects or {}):
        yield


# -- to data


def serialize_keras_object(obj: Any) -> Any:
    """`obj` as plain data."""
    if obj is None or isinstance(obj, bool | int | float | str):
        return obj
    if isinstance(obj, np.generic):
        return obj.item()
    if isinstance(obj, np.ndarray):
        return {"__array__": obj.tolist(), "dtype": str(obj.dtype)}
    if isinstance(obj, DType):
        return obj.name
    if isinstance(obj, list):
        return [serialize_keras_object(part) for part in obj]
    if isinstance(obj, tuple):
        return {"__tuple__": [serialize_keras_object(part) for part in obj]}
    if isinstance(obj, dict):
        return {str(key): serialize_keras_object(part) for key, part in obj.items()}
    if isinstance(obj, slice):
        return {"__slice__": [serialize_keras_object(part) for part in (obj.start, obj.stop, obj.step)]}
    if obj is Ellipsis:
        return {"__ellipsis__": True}
    if isinstance(obj, type):
        return {"__class__": get_registered_name(obj)}
    if hasattr(obj, "get_config") or "_arguments" in getattr(obj, "__dict__", {}):
        return _described(obj)
    if callable(obj):
        lambdas = getattr(obj, "__name__", "<lambda>") == "<lambda>"
        return {"__lambda__": True} if lambdas else {"__function__": get_registered_name(obj)}
    raise TypeError(
        explained(
            f"a {type(obj).__name__} cannot be written to a file: numbers, texts, layers and named functions can",
            "give the class a get_config() that returns such",
        )
    )


def _described(obj: Any) -> dict[str, Any]:
    """An object: its class, and the arguments that make another one of it."""
    found: dict[str, Any] = {"class_name": get_registered_name(type(obj))}
    wrote_config = "get_config" in _of_users(type(obj))
    if wrote_config or "_arguments" not in vars(obj) or hasattr(obj, "calls") or hasattr(obj, "_chain"):
        return found | {"config": serialize_keras_object(obj.get_config())}
    args, kwargs = vars(obj)["_arguments"]
    if isinstance(getattr(obj, "name", None), str):
        found["name"] = obj.name
    if getattr(obj, "trainable", True) is False:
        found["trainable"] = False
    data = {"args": [serialize_keras_object(arg) for arg in args], "kwargs": serialize_keras_object(kwargs)}
    return found | {"arguments": data}


def _of_users(kind: type) -> set[str]:
    """The names in a class that were written by the user, not by Keras."""
    ours = __name__.rpartition(".")[0]
    return {name for base in kind.__mro__ if not base.__module__.startswith(ours) for name in vars(base)}


# -- from data


def deserialize_keras_object(config: Any, custom_objects: Any = None, safe_mode: bool = True, **kwargs: Any) -> Any:
    """What plain data describes, made again."""
    with known(custom_objects):
        return _made(config)


def _made(data: Any) -> Any:
    if isinstance(data, list):
        return [_made(part) for part in data]
    if not isinstance(data, dict):
        return data
    for key, reader in _READERS.items():
        if key in data:
            return reader(data)
    if isinstance(data.get("class_name"), str) and ("config" in data or "arguments" in data):
        return _made_object(data)
    return {key: _made(part) for key, part in data.items()}


def _made_object(data: dict[str, Any]) -> Any:
    if data["class_name"] == "DTypePolicy":
        return data["config"]["name"]
    kind = found_class(data["class_name"])
    if "config" in data:
        config = _made(data["config"]) if not hasattr(kind, "from_described") else data["config"]
        if hasattr(kind, "from_described"):
            return kind.from_described(config)
        return kind.from_config(config) if hasattr(kind, "from_config") else kind(**config)
    args, kwargs = _made(data["arguments"]["args"]), _made(data["arguments"]["kwargs"])
    name = data.get("name")
    takes = inspect.signature(kind.__init__).parameters
    if name is not None and ("name" in takes or any(p.kind is p.VAR_KEYWORD for p in takes.values())):
        kwargs.setdefault("name", name)
    made = kind(*args, **kwargs)
    if name is not None and made.name != name:
        vars(made)["_name" if "_name" in vars(made) else "name"] = name
    if data.get("trainable") is False:
        made.trainable = False
    return made


def _refused_lambda(data: Any) -> Any:
    raise ValueError(
        explained(
            "this model was made with a lambda, which is code; files hold none, and none is run from them",
            "a function with a name, registered or given: load_model(path, custom_objects={'name': function})",
        )
    )


_READERS: dict[str, Callable[[Any], Any]] = {
    "__tuple__": lambda data: tuple(_made(part) for part in data["__tuple__"]),
    "__slice__": lambda data: slice(*data["__slice__"]),
    "__ellipsis__": lambda data: Ellipsis,
    "__array__": lambda data: np.array(data["__array__"], data["dtype"]),
    "__class__": lambda data: found_class(data["__class__"]),
    "__function__": lambda data: found_function(data["__function__"]),
    "__lambda__": _refused_lambda,
}


def _chapters() -> list[Any]:
    from gradtape_standins.tensorflow.keras import (
        constraints,
        initializers,
        layers,
        losses,
        metrics,
        models,
        optimizers,
        random,
        regularizers,
        schedules,
    )

    return [layers, models, optimizers, schedules, losses, metrics, initializers, regularizers, constraints, random]


def found_class(name: str) -> Any:
    """The class of a name."""
    chosen = get_registered_object(name)
    if chosen is None:
        found = [vars(chapter)[name] for chapter in _chapters() if isinstance(vars(chapter).get(name), type)]
        chosen = found[0] if found and not name.startswith("_") else None
    if not isinstance(chosen, type):
        raise TypeError(
            explained(
                f"Could not locate class '{name}'",
                f"custom_objects={{{name.rpartition('>')[2]!r}: ...}}, or @keras.utils.register_keras_serializable()",
            )
        )
    return chosen


def found_function(name: str) -> Any:
    """The function of a name."""
    from gradtape_standins.tensorflow import math, nn
    from gradtape_standins.tensorflow.keras import activations, losses, metrics, ops

    chosen = get_registered_object(name)
    for chapter in (activations, losses, metrics, nn, math, ops) if chosen is None else ():
        if name in chapter.__all__:
            return getattr(chapter, name)
    if chosen is None:
        raise TypeError(explained(f"Could not locate function '{name}'", f"custom_objects={{{name!r}: ...}}"))
    return chosen


# -- the graph of a functional model


def graph_of(model: Any) -> dict[str, Any]:
    """The layers of a functional model, and the calls that connect them."""
    layers: list[Any] = []
    calls: list[dict[str, Any]] = []
    places: dict[tuple[int, int], int] = {}
    inputs = {id(symbol): number for number, symbol in enumerate(model.inputs)}

    def reference(x: Any) -> Any:
        if not isinstance(x, KerasTensor):
            return x
        if id(x) in inputs:
            return {"__input__": inputs[id(x)]}
        layer, args, kwargs, place = x.made_by
        key = id(args), id(layer)
        if key not in places:
            linked = nest.map_structure(reference, (args, kwargs))
            if isinstance(layer, Operation):
                which: Any = {"operation": _operation_name(layer)}
            else:
                if not any(layer is one for one in layers):
                    layers.append(layer)
                which = {"layer": next(n for n, one in enumerate(layers) if one is layer)}
            calls.append(which | {"args": _linked(linked[0]), "kwargs": _linked(linked[1])})
            places[key] = len(calls) - 1
        return {"__call__": places[key], "place": place}

    outputs = nest.map_structure(reference, model._outputs)
    return {
        "layers": [serialize_keras_object(layer) for layer in layers],
        "wiring": calls,
        "input_layers": _linked(nest.map_structure(_input_data, model._inputs)),
        "output_layers": _linked(outputs),
    }


def _linked(structure: Any) -> Any:
    return serialize_keras_object(structure)


def _input_data(symbol: Any) -> dict[str, Any]:
    return {"__symbol__": [*symbol.shape], "dtype": symbol.dtype, "name": symbol.layer.name if symbol.layer else None}


_OPERATORS = {
    getattr(operator, name): name for name in ("add", "sub", "mul", "truediv", "pow", "neg", "getitem", "matmul")
}


def _operation_name(layer: Any) -> str:
    if layer.operation in _OPERATORS:
        return f"operator.{_OPERATORS[layer.operation]}"
    if layer.name == "operation":
        _refused_lambda(None)
    return str(layer.name)


def from_graph(data: dict[str, Any]) -> tuple[Any, Any]:
    """The symbolic inputs and outputs of the model that `graph_of` described."""
    layers = [_made(layer) for layer in data["layers"]]
    inputs: list[Any] = []
    results: list[list[Any]] = []

    def resolved(x: Any) -> Any:
        if isinstance(x, list):
            return [resolved(part) for part in x]
        if not isinstance(x, dict):
            return x
        if "__symbol__" in x:
            batch, *shape = x["__symbol__"]
            inputs.append(Input(shape, batch, x["dtype"], x["name"]))
            return inputs[-1]
        if "__input__" in x:
            return inputs[x["__input__"]]
        if "__call__" in x:
            return results[x["__call__"]][x["place"]]
        if "__tuple__" in x:
            return tuple(resolved(part) for part in x["__tuple__"])
        made = _made(x)
        return {key: resolved(part) for key, part in x.items()} if isinstance(made, dict) else made

    begin = resolved(data["input_layers"])
    for call in data["wiring"]:
        args, kwargs = resolved(call["args"]), resolved(call["kwargs"])
        if "layer" in call:
            results.append(nest.flatten(layers[call["layer"]](*args, **kwargs)))
        else:
            name = str(call["operation"])
            base, _, short = name.partition(".")
            known_one = next((f for f, its in _OPERATORS.items() if its == short), None) if base == "operator" else None
            function = known_one or found_function(name)
            results.append(nest.flatten(symbolic_operation(function, args, kwargs, "operation" if known_one else name)))
    return begin, resolved(data["output_layers"])
