"""Gradients within limits: by value, by norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import OperandError
from gradtape.extend import argument_error, leaves, map_structure


def global_norm(grads: Any) -> Any:
    """The Euclidean norm of all numbers of a nested structure together.

    >>> import numpy as np, gradtape as gt
    >>> gt.optim.global_norm({"w": np.array([3.0]), "b": np.array([4.0])})
    np.float64(5.0)
    """
    each = [np.sum(np.square(np.abs(leaf))) for leaf in leaves(grads) if leaf is not None]
    total: Any = each[0] if each else np.float64(0.0)
    for part in each[1:]:
        total = total + part
    return np.sqrt(total)


def clip_by_norm(grads: Any, max_norm: float) -> Any:
    """`grads`, all scaled by the same factor so that their `global_norm` is at most `max_norm`. None stays None.

    >>> import numpy as np, gradtape as gt
    >>> gt.optim.clip_by_norm({"w": np.array([3.0]), "b": np.array([4.0])}, 1.0)["w"].round(4)
    array([0.6])
    """
    _check("clip_by_norm", "max_norm", max_norm)
    # the small number is PyTorch's, whose clipped gradients these are
    factor = np.minimum(max_norm / (global_norm(grads) + 1e-6), 1.0)
    return map_structure(lambda leaf: None if leaf is None else leaf * factor.astype(leaf.dtype), grads)


def clip_by_value(grads: Any, limit: float) -> Any:
    """Every number of `grads` within -limit and limit. None stays None.

    >>> import numpy as np, gradtape as gt
    >>> gt.optim.clip_by_value([np.array([-3.0, 0.5])], 1.0)
    [array([-1. ,  0.5])]
    """
    _check("clip_by_value", "limit", limit)
    return map_structure(lambda leaf: None if leaf is None else np.clip(leaf, -limit, limit), grads)


def _check(function: str, name: str, value: Any) -> None:
    if not isinstance(value, int | float | np.number) or not value > 0:
        raise argument_error(OperandError, f"{function}: {name}={value!r}.", "a number above 0")
