"""gradcheck and gradgradcheck: derivatives against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape.extend import Tensor as Value
from gradtape_standins.torch.autograd.functional import plainly
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.tensor import Tensor


class GradcheckError(RuntimeError):
    """A derivative that is not that of the function; the message compares both."""


def _checked(func: Callable[..., Any], inputs: Any, order: int, tolerances: tuple[float, float], eager: bool) -> bool:
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    moving = [i for i, x in enumerate(given) if isinstance(x, Tensor) and x.requires_grad]
    if not moving:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, and none has requires_grad=True.\n"
            "  fix: torch.tensor(..., dtype=torch.float64, requires_grad=True)"
        )

    def moved(*values: Any) -> Any:
        full: list[Any] = [x._value if isinstance(x, Tensor) else x for x in given]
        for place, value in zip(moving, values, strict=True):
            full[place] = value
        return plainly(func)(*full)

    moved.__name__ = getattr(func, "__name__", type(func).__name__)
    rtol, atol = tolerances
    values = [Value(given[i]._numbers) for i in moving]
    try:
        with translating():
            gt.gradcheck(moved, *values, order=order, rtol=rtol, atol=atol)
    except gt.GradcheckError as error:
        if eager:
            raise GradcheckError(str(error)) from None
        return False
    return True


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    **_: Any,
) -> bool:
    """Whether the gradient of `func` is the one that finite differences give; inputs in double precision.

    >>> from gradtape_standins import torch
    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, (x,))
    True
    """
    return _checked(func, inputs, 1, (rtol, atol), raise_exception)


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    **_: Any,
) -> bool:
    """Whether the second derivatives of `func` are those that finite differences give."""
    return _checked(func, inputs, 2, (rtol, atol), raise_exception)
