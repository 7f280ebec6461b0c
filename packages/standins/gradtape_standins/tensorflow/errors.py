"""`tf.errors`: TensorFlow's classes of errors, with gradtape's explanations as messages."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from gradtape.errors import (
    AxisError,
    GradTapeError,
    IndexingError,
    LinearAlgebraError,
    NumericsError,
    RuleError,
    ShapeError,
)
from gradtape.extend import Location
from gradtape_standins.missing_names import missing
from gradtape_standins.python_errors import as_python

F = TypeVar("F", bound=Callable[..., Any])


class OpError(Exception):
    """The root of the errors that operations raise."""

    error_code = 2

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(message)
        self.node_def, self.op, self.message = node_def, op, message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.node_def, self.op, self.message)


class CancelledError(OpError):
    """An operation was cancelled."""

    error_code = 1


class UnknownError(OpError):
    """An error of another kind."""

    error_code = 2


class InvalidArgumentError(OpError):
    """Shapes, dtypes or values that the operation cannot take.

    >>> from gradtape_standins import tensorflow as tf
    >>> try:
    ...     tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    ... except tf.errors.InvalidArgumentError as error:
    ...     print(str(error).splitlines()[0])
    [GT110] these shapes do not fit: (2,) and (3,)
    """

    error_code = 3


class NotFoundError(OpError):
    """Something that was asked for by name is not there."""

    error_code = 5


class AlreadyExistsError(OpError):
    """Something that was to be made is there already."""

    error_code = 6


class PermissionDeniedError(OpError):
    """Something that the caller may not do."""

    error_code = 7


class ResourceExhaustedError(OpError):
    """Memory or another resource is used up."""

    error_code = 8


class FailedPreconditionError(OpError):
    """The state does not allow the operation."""

    error_code = 9


class OutOfRangeError(OpError):
    """The end of the data was passed."""

    error_code = 11


class UnimplementedError(OpError):
    """An operation that does not exist for these arguments."""

    error_code = 12


class InternalError(OpError):
    """An error inside the library."""

    error_code = 13


class UnavailableError(OpError):
    """Something is not available now."""

    error_code = 14


class DataLossError(OpError):
    """Data that is damaged."""

    error_code = 15


_TRANSLATED = (ShapeError, AxisError, IndexingError, LinearAlgebraError, NumericsError)


class NotDense(ValueError):
    """Something that is no tensor (a ragged or sparse one) was given to a function of tensors.

    It has `applied(function, args, kwargs)`, which knows the functions that can take it, and refuses the others.
    """

    def __init__(self, tensor: Any, message: str) -> None:
        super().__init__(message)
        self.tensor = tensor


NotDense.__name__ = NotDense.__qualname__ = "ValueError"  # what is shown to those who meet it


def in_tensorflow_terms(function: F) -> F:
    """`function`, whose errors about shapes, axes, indices and matrices are TensorFlow's `InvalidArgumentError`.

    The message stays gradtape's, and `.problem` the finding behind it.
    """

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except _TRANSLATED as error:
            raise translated(error) from None
        except (GradTapeError, AttributeError) as error:
            from gradtape_standins.tensorflow.string_tensors import can_rearrange, rearranged

            if can_rearrange(wrapper, args, kwargs):
                return rearranged(wrapper, args, kwargs)
            if not isinstance(error, GradTapeError):
                raise
            if error.problem.code == "GT302":  # a gradient of the wrong shape: TensorFlow fails at a reshape, later
                raise translated(error) from None
            raise as_python(error) from error.__cause__
        except NotDense as given:
            return given.tensor.applied(wrapper, args, kwargs)

    return wrapper  # type: ignore[return-value]


class _InvalidValue(InvalidArgumentError, ValueError):
    """An `InvalidArgumentError` that those who expect Python's ValueError catch, too: rules are the user's own."""


_InvalidValue.__name__ = _InvalidValue.__qualname__ = "InvalidArgumentError"


def translated(error: GradTapeError) -> InvalidArgumentError:
    """The same finding as an `InvalidArgumentError`."""
    kind = _InvalidValue if isinstance(error, RuleError) else InvalidArgumentError
    ours = kind(None, None, str(error))
    ours.problem = error.problem  # type: ignore[attr-defined]
    return ours


def invalid(what: str, fix: str = "") -> InvalidArgumentError:
    """An error at the user's line that says what is wrong and what to write instead."""
    return InvalidArgumentError(None, None, explained(what, fix))


def explained(what: str, fix: str = "") -> str:
    """`what`, the user's line, and the fix."""
    return f"{what}.\n{Location.here().show()}" + (f"\n  fix: {fix}" if fix else "")


__all__ = ["AlreadyExistsError", "CancelledError", "DataLossError", "FailedPreconditionError", "InternalError"]
__all__ += ["InvalidArgumentError", "NotFoundError", "OpError", "OutOfRangeError", "PermissionDeniedError"]
__all__ += ["ResourceExhaustedError", "UnavailableError", "UnimplementedError", "UnknownError"]
__getattr__ = missing(__name__)


def check_supported(what: str, fix: str = "", /, **given: tuple[Any, ...]) -> None:
    """Raise if an argument has a value that this stand-in has nothing for; `given` has for each its value and those it
    may have.

    >>> check_supported("Conv2D", data_format=("channels_last", None, "channels_last"))
    """
    for name, (value, *accepted) in given.items():
        if not any(value is one or (type(value) is type(one) and value == one) for one in accepted):
            listed = " or ".join(map(repr, accepted))
            raise NotImplementedError(
                explained(f"{what}: {name}={value!r} is not in this stand-in; {listed} is taken", fix)
            )


def check_channels_last(layer: Any, data_format: Any) -> None:
    """Raise unless the channels are the last axis, which is what the layers of this stand-in compute with."""
    if data_format not in (None, "channels_last", "channels_first"):
        raise ValueError(explained(f"data_format={data_format!r}; 'channels_last' or 'channels_first' is wanted"))
    fix = "tf.keras.layers.Permute((2, 3, 1)) in front, and Permute((3, 1, 2)) behind, without data_format"
    check_supported(type(layer).__name__, fix, data_format=(data_format, None, "channels_last"))
