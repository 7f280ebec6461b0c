"""The functional way to make models: `Input`, and layers called with what it returns.

A `KerasTensor` knows which layer made it from which others. Its shape is found by calling the layer with zeros.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape_standins.tensorflow import nest
from gradtape_standins.tensorflow.arrays import zeros
from gradtape_standins.tensorflow.dtypes import as_dtype
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.keras.default_dtype import floatx

_UNKNOWN = 2
"""The length that stands for a batch of any size while shapes are found out."""

_INNER = (16, 17)
"""The lengths that stand for None on other axes; where they lead to different lengths, the result's is None too."""


class KerasTensor:
    """What will be a tensor when the model is called."""

    def __init__(self, shape: Any, dtype: Any = "float32", made_by: Any = None, name: str | None = None) -> None:
        from gradtape_standins.tensorflow.keras.variables import unique_name

        self.shape = tuple(shape)
        self.dtype = as_dtype(dtype).name
        self.made_by = made_by  # (layer, args, kwargs, place among the outputs), or None for an input
        self.name = unique_name("keras_tensor") if name is None else name
        self.layer: Any = None  # of an input: the layer that stands for it among those of a model

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}, sparse=False, ragged=False, name={self.name}>"

    def __add__(self, other: Any) -> Any:
        return _applied(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _applied(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _applied(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _applied(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return _applied(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _applied(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _applied(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _applied(operator.truediv, other, self)

    def __pow__(self, other: Any) -> Any:
        return _applied(operator.pow, self, other)

    def __matmul__(self, other: Any) -> Any:
        return _applied(operator.matmul, self, other)

    def __neg__(self) -> Any:
        return _applied(operator.neg, self)

    def __getitem__(self, index: Any) -> Any:
        return _applied(operator.getitem, self, index)

    def __bool__(self) -> bool:
        raise TypeError(explained("A symbolic KerasTensor cannot be used as a boolean: it has no value yet"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise ValueError(
            explained(
                "A KerasTensor is symbolic: it is a placeholder, and has no numbers for NumPy", "keras.ops, or a layer"
            )
        )

    def __tf_tensor__(self) -> Any:
        raise ValueError(
            explained(
                "A KerasTensor has no value: it cannot be used as input to a TensorFlow function",
                "put the function into a layer: tf.keras.layers.Lambda(lambda x: tf.sin(x))(inputs)",
            )
        )


def _applied(operation: Any, *operands: Any) -> Any:
    return symbolic_call(Operation(operation), operands, {})


class Operation:
    """An operator between symbolic tensors, called as a layer is."""

    def __init__(self, operation: Any, name: str = "operation") -> None:
        self.operation = operation
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.operation(*args, **kwargs)


def symbolic_operation(operation: Any, args: Any, kwargs: Any, name: str) -> Any:
    """What a function returns for symbolic tensors: symbolic tensors again."""
    return symbolic_call(Operation(operation, name), args, kwargs)


def Input(
    shape: Any = None, batch_size: int | None = None, dtype: Any = None, name: str | None = None, **kwargs: Any
) -> KerasTensor:
    """The input of a model: a symbolic tensor with a first axis of any length."""
    if shape is None:
        raise ValueError(explained("Input: shape is wanted, without the batch", "tf.keras.Input(shape=(784,))"))
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    from gradtape_standins.tensorflow.keras.layers.core import InputLayer
    from gradtape_standins.tensorflow.keras.variables import unique_name

    symbol = KerasTensor((batch_size, *sizes), dtype or floatx(), None, name)
    symbol.layer = InputLayer(shape=sizes, batch_size=batch_size, name=name or unique_name("input_layer"))
    symbol.layer.built, symbol.layer._output_shapes = True, [symbol.shape]
    vars(symbol.layer)["_symbols"] = (symbol, symbol)
    return symbol


def symbolic_call(layer: Any, args: Any, kwargs: Any) -> Any:
    """What `layer` returns for symbolic tensors: symbolic tensors again."""
    symbols = [x for x in nest.flatten((args, kwargs)) if isinstance(x, KerasTensor)]

    def called(inner: int) -> Any:
        def dummy(x: Any) -> Any:
            if not isinstance(x, KerasTensor):
                return x
            first, rest = x.shape[:1], x.shape[1:]
            lengths = [*(_UNKNOWN if n is None else n for n in first), *(inner if n is None else n for n in rest)]
            return zeros(lengths, x.dtype)

        filled_args, filled_kwargs = nest.map_structure(dummy, (args, kwargs))
        with gt.no_grad():
            return layer(*filled_args, **filled_kwargs)

    made = called(_INNER[0])
    varies = any(None in symbol.shape[1:] for symbol in symbols)
    others = nest.flatten(called(_INNER[1]) if varies else made)
    open_batch = bool(symbols) and symbols[0].shape[:1] == (None,)
    outputs = []
    for place, part in enumerate(nest.flatten(made)):
        shape: tuple[Any, ...] = tuple(n if n == m else None for n, m in zip(part.shape, others[place].shape))
        if open_batch and shape and shape[0] == _UNKNOWN:
            shape = (None, *shape[1:])
        outputs.append(KerasTensor(shape, part.dtype, (layer, args, kwargs, place)))
    result = nest.pack_sequence_as(made, outputs)
    if not isinstance(layer, Operation) and "_symbols" not in vars(layer):
        vars(layer)["_symbols"] = (args[0] if args else None, result)
    return result


def calls_between(inputs: list[KerasTensor], outputs: list[KerasTensor]) -> list[tuple[Any, list[KerasTensor]]]:
    """The layers from `inputs` to `outputs` with what they are called with; those farthest from the end first."""
    found: list[tuple[Any, list[KerasTensor]]] = []
    seen: set[int] = set()
    depths: dict[int, int] = {}

    def visit(tensor: KerasTensor) -> None:
        if id(tensor) in seen:
            return
        seen.add(id(tensor))
        if tensor.made_by is None:
            if not any(tensor is one for one in inputs):
                raise ValueError(explained(f"the outputs depend on {tensor.name}, which is not among the inputs"))
            if tensor.layer is not None:
                found.append((tensor.layer, []))
            return
        layer, args, kwargs, _ = tensor.made_by
        parts = [part for part in nest.flatten((args, kwargs)) if isinstance(part, KerasTensor)]
        for part in parts:
            visit(part)
        if not any(layer is one for one, _ in found):
            found.append((layer, parts))

    for output in outputs:
        visit(output)
    for layer, parts in reversed(found):
        for part in parts:
            maker = part.layer if part.made_by is None else part.made_by[0]
            depths[id(maker)] = max(depths.get(id(maker), 0), depths.get(id(layer), 0) + 1)
    return sorted(found, key=lambda call: -depths.get(id(call[0]), 0))


def evaluated(
    inputs: list[KerasTensor], values: list[Any], outputs: Any, chosen: Callable[[Any], Any] | None = None
) -> Any:
    """The values of `outputs`, given those of `inputs`; with the layers that `chosen` gives in the place of theirs."""
    known = {id(symbol): value for symbol, value in zip(inputs, values, strict=True)}
    calls: dict[tuple[int, int], list[Any]] = {}

    def value_of(tensor: Any) -> Any:
        if not isinstance(tensor, KerasTensor):
            return tensor
        if id(tensor) not in known:
            layer, args, kwargs, place = tensor.made_by
            key = id(args), id(layer)
            if key not in calls:
                given_args, given_kwargs = nest.map_structure(value_of, (args, kwargs))
                runs = layer if chosen is None or isinstance(layer, Operation) else chosen(layer)
                calls[key] = nest.flatten(runs(*given_args, **given_kwargs))
            known[id(tensor)] = calls[key][place]
        return known[id(tensor)]

    return nest.map_structure(value_of, outputs)
