"""What can go wrong, by kind. Every error is a `GradTapeError` and also the built-in class that NumPy would raise.

Messages name the user's line, the shapes or dtypes involved, what is accepted and what to write instead.
"""

from __future__ import annotations

import numpy as np


class GradTapeError(Exception):
    """The root of gradtape's errors.

    >>> import gradtape as gt
    >>> try:
    ...     gt.tensor([1, 2], requires_grad=True)
    ... except gt.GradTapeError as error:
    ...     print(type(error).__name__)
    DtypeError
    """


class ShapeError(GradTapeError, ValueError):
    """Operands, a seed or a gradient whose shapes do not fit."""


class DtypeError(GradTapeError, TypeError):
    """A dtype that cannot be differentiated, or is not the one that was asked for."""


class OperandError(GradTapeError, TypeError):
    """An argument of a type that the function does not take."""


class IndexingError(GradTapeError, IndexError):
    """An index that is out of range or of the wrong kind."""


class AxisError(GradTapeError, np.exceptions.AxisError):
    """An axis that the array does not have."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self._message = message

    def __str__(self) -> str:
        return self._message


class LinearAlgebraError(GradTapeError, np.linalg.LinAlgError):
    """A matrix that is singular, not square, or not positive definite where it has to be."""


class StructureError(GradTapeError, TypeError):
    """Nested structures that should match and do not."""


class TapeError(GradTapeError, RuntimeError):
    """A tape or a graph used in a way that it cannot be: twice, out of order, or after it was freed."""


class RuleError(GradTapeError, ValueError):
    """A gradient rule that returned the wrong number of gradients, or one of the wrong shape or dtype."""


class MutationError(GradTapeError, RuntimeError):
    """An array that the tape had saved was changed before the gradient was taken."""


class UntrackedError(GradTapeError, RuntimeError):
    """A gradient was asked of something that was never recorded."""


class DetachError(GradTapeError, TypeError):
    """A tracked tensor would have lost its gradient in silence."""


class UnsupportedError(GradTapeError, TypeError):
    """A function that NumPy has and gradtape does not."""


class GradientWarning(UserWarning):
    """A gradient that is None or zero for a reason that is probably a mistake."""


_BY_NUMPY_CLASS: list[tuple[type[Exception], type[GradTapeError]]] = [
    (np.exceptions.AxisError, AxisError),
    (np.linalg.LinAlgError, LinearAlgebraError),
    (IndexError, IndexingError),
    (ValueError, ShapeError),
    (TypeError, OperandError),
]


def family(error: Exception) -> type[GradTapeError] | None:
    """The class of ours that is also `error`'s class, if NumPy's `error` has one."""
    for numpy_class, ours in _BY_NUMPY_CLASS:
        if isinstance(error, numpy_class):
            return ours
    return None
