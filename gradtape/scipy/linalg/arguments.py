"""How the functions of `gradtape.scipy.linalg` read their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import LinearAlgebraError, OperandError, UnsupportedError
from gradtape.extend import Tensor, argument_error, as_value, numbers_if_known
from gradtape.mirror import Original, holds_tensor
from gradtape.ops.creation_from import asarray

original = Original("scipy.linalg")


def as_numbers(x: Any, check_finite: bool = False, name: str = "a") -> Any:
    """`x` as a tensor or an array of floating point numbers; nested lists of numbers and tensors are stacked."""
    if isinstance(x, (list, tuple)) and holds_tensor(x):
        x = asarray(x)
    x = as_value(x)
    if x.dtype.kind in "iub":
        x = x.astype(np.float64)
    if check_finite:
        numbers = numbers_if_known(x) if isinstance(x, Tensor) else x
        if numbers is not None and not np.all(np.isfinite(numbers)):
            raise argument_error(
                OperandError,
                f"{name} of shape {x.shape} must not contain infs or NaNs.",
                "check_finite=False skips this check; np.nan_to_num replaces them",
            )
    return x


def as_matrix(x: Any, check_finite: bool = False, name: str = "a", square: bool = False) -> Any:
    """The same for a matrix or a stack of them."""
    x = as_numbers(x, check_finite, name)
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        what = "a square matrix, or a stack of them" if square else "a matrix, or a stack of them"
        raise argument_error(OperandError, f"{name} has shape {x.shape}.", what)
    return x


def as_one_matrix(x: Any, check_finite: bool = False, name: str = "a", square: bool = False) -> Any:
    """The same for a single matrix."""
    x = as_matrix(x, check_finite, name, square)
    if x.ndim != 2:
        raise argument_error(OperandError, f"{name} has shape {x.shape}.", "one matrix; gt.vmap for a stack of them")
    return x


def known_numbers(x: Any, what: str) -> Any:
    """The numbers of a tensor, where the shape of a result depends on them."""
    numbers = numbers_if_known(x) if isinstance(x, Tensor) else x
    if numbers is None:
        raise argument_error(
            UnsupportedError,
            f"{what}: how many results there are depends on the numbers, which are not known while jit traces.",
            "call it outside of the compiled function",
        )
    return np.asarray(numbers)


def numbers_or_tensor(x: Any) -> Any:
    """The numbers of a tensor that has no gradient, if they are known and those of one example."""
    known = numbers_if_known(x) if isinstance(x, Tensor) else x
    return x if known is None or np.shape(known) != np.shape(x) else np.asarray(known)


def no_such_option(function: str, option: str, given: Any, accepted: str) -> Exception:
    """The error for an option that a function does not have."""
    return argument_error(OperandError, f"{function}: {option}={given!r}.", accepted)


def singular(what: str, fix: str) -> Exception:
    """The error for a matrix at which there is no result."""
    return argument_error(LinearAlgebraError, what, fix)
