"""What SciPy calls array-like, for functions that take tensors: nested lists of tensors and numbers too."""

from __future__ import annotations

from typing import Any

from gradtape.errors import GradTapeError, OperandError
from gradtape.extend import BatchTensor, Tensor, argument_error, as_value, concrete, is_tracked
from gradtape.mirror import holds_tensor, is_nested
from gradtape.ops.creation_from import array


def as_array(x: Any) -> Any:
    """Tensors as they are, nested lists that hold tensors as one tensor, the rest as an array of numbers.

    >>> import gradtape as gt
    >>> as_array([gt.tensor(1.0), 2.0])
    Tensor([1., 2.])
    """
    if is_nested(type(x)) and holds_tensor(x):
        return array(x)
    return as_value(x)


def as_floating(x: Any) -> Any:
    """The same with integers and truth values as float64.

    >>> as_floating([1, 2])
    array([1., 2.])
    """
    x = as_array(x)
    return x if x.dtype.kind in "fc" else x.astype(float)


def as_vector(x: Any, called: str) -> Any:
    """A number or a vector as a floating vector; `called` names the argument in the error for anything else.

    >>> as_vector(2, "lfilter: b")
    array([2.])
    """
    x = as_floating(x)
    if x.ndim > 1:
        raise refusal(f"{called} has shape {x.shape}; a vector is accepted.", f"{called.rpartition(' ')[2]}.ravel()")
    return x if x.ndim else x.reshape((1,))


def refusal(what: str, fix: str, kind: type[GradTapeError] = OperandError) -> GradTapeError:
    """The error for an argument that cannot be taken, at the user's line; a ValueError, as SciPy's are."""
    return argument_error(kind, what, fix)


def one_of(called: str, given: Any, accepted: tuple[Any, ...]) -> None:
    """Raise unless `given`, the value of the argument that `called` names, is among the accepted values.

    >>> one_of("stft: scaling", "psd", ("spectrum", "psd"))
    """
    if given not in accepted:
        words = ", ".join(map(repr, accepted))
        raise refusal(f"{called}={given!r}; accepted are {words}.", f"{called.rpartition(' ')[2]}={accepted[0]!r}")


def along(axis: int, place: Any) -> tuple[Any, ...]:
    """The index that has `place` at a non-negative axis and everything before it.

    >>> along(1, 0)
    (slice(None, None, None), 0)
    """
    return (*(slice(None),) * axis, place)


def is_tensor(*values: Any) -> bool:
    """Whether one of the values is a tensor.

    >>> is_tensor(1.0, [2.0])
    False
    """
    return any(isinstance(value, Tensor) for value in values)


def surely(condition: Any) -> bool:
    """Whether a condition holds; False for one example of a batch, whose numbers are not known.

    >>> surely(1.0 > 0)
    True
    """
    return not isinstance(condition, BatchTensor) and bool(condition)


def as_constant(x: Any, called: str) -> Any:
    """An argument that only steers, such as labels, as an array; a tensor of floating point numbers is refused.

    `jit` hands over arrays from outside of a function as tensors, so that those of whole numbers are taken.

    >>> as_constant([1, 2], "mean: labels")
    array([1, 2])
    """
    x = as_array(x)
    if not isinstance(x, Tensor):
        return x
    if x.dtype.kind in "fc" and is_tracked(x):
        raise refusal(
            f"{called} is a tensor of {x.dtype}, and has no derivative.", f"{called.rpartition(' ')[2]}.numpy()"
        )
    return concrete(x)
