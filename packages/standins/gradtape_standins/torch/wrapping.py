"""How a function of gradtape's values becomes one of PyTorch's: arguments unwrapped, results wrapped and named."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.errors import DtypeError, GradTapeError
from gradtape.extend import Tensor as Value
from gradtape.extend import argument_error, array_of, node_of
from gradtape_standins.torch import dtypes
from gradtape_standins.torch.errors import as_torch
from gradtape_standins.torch.grad_fn import labels
from gradtape_standins.torch.storage import is_grad_enabled
from gradtape_standins.torch.tensor import Tensor, unwrap, wrap

Function = Callable[..., Any]
ALIASES = {"axis": "dim", "keepdims": "keepdim"}
"""NumPy's names for arguments, which PyTorch takes too."""


def function(
    label: str | None = None, overload: Callable[..., int | str] | None = None
) -> Callable[[Function], Function]:
    """A function of values as one of tensors. `label` is what PyTorch calls the operation (`Mul` of `MulBackward0`).

    `overload`, a function of the same arguments, tells which of several operations PyTorch would have taken: the
    number behind the name, or another name.
    """
    full = None if label is None else f"{label}Backward0"

    def decorate(inner: Function) -> Function:
        @functools.wraps(inner)
        def wrapped(*args: Any, out: Any = None, **kwargs: Any) -> Any:
            try:
                plain = [arg._value if isinstance(arg, Tensor) else unwrap(arg) for arg in args]
                if kwargs:
                    kwargs = {ALIASES.get(key, key): unwrap(value) for key, value in kwargs.items()}
                name = full if overload is None else _overloaded(label, overload(*plain, **kwargs))
                result = wrap(inner(*plain, **kwargs), name)
            except GradTapeError as error:
                raise as_torch(error) from error.__cause__
            for arg in args:
                if isinstance(arg, Tensor) and arg._inference:
                    _refuse_saved(arg, result)
            return result if out is None else _write_out(wrapped.__name__, out, result, args, kwargs)

        return wrapped

    return decorate


def _refuse_saved(inference: Tensor, result: Any) -> None:
    """Refuse a result whose gradient needs the numbers of a tensor that was made in inference mode."""
    array = array_of(inference._held)
    parts = result if isinstance(result, tuple) else (result,)
    pending = [node_of(part._held) for part in parts if _is_tracked(part)]
    while pending:
        node = pending.pop()
        if any(item is array for item in node.inputs):
            raise RuntimeError(
                f"Inference tensors cannot be saved for backward: a tensor of shape {tuple(inference.shape)} that was "
                "made under torch.inference_mode() is needed for a gradient.\n"
                "  fix: x.clone() is a normal tensor; or torch.no_grad() where the tensor is made"
            )
        pending += [parent for parent in node.parents if parent.op is not None and parent not in labels]


def _is_tracked(result: Any) -> bool:
    return isinstance(result, Tensor) and result.requires_grad


def _write_out(name: str, out: Any, result: Any, args: Any, kwargs: Any) -> Any:
    """Write a result to the tensor that was given as `out`; there is no gradient of that."""
    if is_grad_enabled() and (_is_tracked(out) or any(_is_tracked(part) for part in flat_tensors([*args, kwargs]))):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad.\n"
            f"  fix: result = torch.{name}(...) without out=; or with torch.no_grad(): around it"
        )
    if result.shape != out.shape and not out.numel():
        out.resize_(*result.shape)
    return out._write(result._value, f"out= of {name}", cast=True)


def flat_tensors(given: Any) -> list[Tensor]:
    """The tensors among arguments, in lists and dictionaries too."""
    if isinstance(given, dict):
        given = list(given.values())
    if isinstance(given, (list, tuple)):
        return [found for part in given for found in flat_tensors(part)]
    return [given] if isinstance(given, Tensor) else []


def _overloaded(label: str | None, choice: int | str) -> str:
    if isinstance(choice, int):
        return f"{label}Backward{choice}"
    return choice if "Backward" in choice else f"{choice}Backward0"


def by_dim(input: Any, dim: Any = None, *args: Any, **kwargs: Any) -> int:
    """The overload of a reduction: 0 over all elements, 1 along axes."""
    return int(dim is not None)


def view(label: str, overload: Callable[..., int | str] | None = None) -> Callable[[Function], Function]:
    """A function of one value whose result shares its numbers."""
    full = f"{label}Backward0"

    def decorate(inner: Function) -> Function:
        plainly = function(label)(inner)

        @functools.wraps(inner)
        def wrapped(input: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(input, Tensor):
                return plainly(input, *args, **kwargs)
            args, kwargs = unwrap(tuple(args)), unwrap(kwargs)
            try:
                seen = input._viewed(lambda value: inner(value, *args, **kwargs))
            except GradTapeError as error:
                raise as_torch(error) from error.__cause__
            return labelled(seen, full if overload is None else _overloaded(label, overload(input, *args, **kwargs)))

        return wrapped

    return decorate


def labelled(tensor: Tensor, label: str) -> Tensor:
    """`tensor`, whose node is known by `label` from now on."""
    wrap(tensor._held, label)
    return tensor


def value(x: Any) -> Any:
    """A number, list, array or value as a value of gradtape's or an array; numbers become the default type."""
    if isinstance(x, (Value, np.ndarray, np.generic)):
        return x
    from gradtape_standins.torch.creation import convert_to_array

    return convert_to_array(x)


def operand(x: Any) -> Any:
    """An operand of arithmetic: values and Python numbers as they are, arrays as values."""
    if isinstance(x, (Value, bool, int, float, complex)):
        return x
    return Value(np.array(x))


def promoted(*operands: Any, floating: bool = False) -> tuple[Any, ...]:
    """Operands in the type that PyTorch computes in; with `floating`, integers in the default type."""
    first = operands[0]
    if len(operands) == 2:  # what is most frequent: two tensors of one type, or a tensor and a number of its kind
        second = operands[1]
        if isinstance(first, Value) and first.dtype.kind in "fc":
            if type(second) is float or type(second) is int:
                return operands
            if isinstance(second, Value) and second.dtype is first.dtype:
                return operands
    given = tuple([operand(x) for x in operands])
    kind = dtypes.result(*given)
    if floating and kind.kind not in "fc":
        kind = dtypes.default()
    return tuple([cast(x, kind) for x in given])


def cast(x: Any, kind: Any) -> Any:
    """A value or a Python number in a type."""
    if isinstance(x, Value):
        return x if x.dtype == kind else gt.astype(x, kind)
    return np.asarray(x, kind)


def one_type(name: str, **operands: Any) -> None:
    """Refuse operands of different types where PyTorch does not convert them."""
    kinds = {what: dtypes.of(x.dtype) for what, x in operands.items()}
    if len(set(kinds.values())) > 1:
        listed = " and ".join(f"{what} has {kind!r}" for what, kind in kinds.items())
        raise argument_error(
            DtypeError, f"{name}: {listed}; operands of one type are accepted.", "x.to(weight.dtype), or x.float()"
        )


def floating(x: Any) -> Any:
    """A value in floating point numbers: integers in the default type."""
    x = operand(x) if not isinstance(x, Value) else x
    if isinstance(x, (bool, int, float, complex)):
        return np.asarray(x, dtypes.default() if not isinstance(x, complex) else dtypes.default_complex())
    return x if x.dtype.kind in "fc" else gt.astype(x, dtypes.default())
