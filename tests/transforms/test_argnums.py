"""`argnums` of the transforms: numbers of arguments, or an explained error where the transform is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt

TRANSFORMS = [
    *(gt.grad, gt.value_and_grad, gt.jacobian, gt.jacfwd, gt.jacrev, gt.hessian),
    gt.audit_batch,
]


def total(x: Any) -> Any:
    return np.sum(x**2)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(
    "given", [np.ones((2, 3)), np.ones(3), gt.tensor([1.0]), 1.5, [0.5, 1.0], "x", None], ids=lambda x: type(x).__name__
)
def test_argument_in_the_place_of_argnums_is_an_error_at_once(transform: Callable[..., Any], given: Any) -> None:
    """`grad(f, x)` says that it returns a function which takes x, and prints no array."""
    with pytest.raises(gt.OperandError) as caught:
        transform(total, given)
    name = transform.__name__
    assert f"gt.{name}(function)(x)" in str(caught.value)
    assert f"argnums is a {type(given).__name__}" in str(caught.value)
    assert "[1." not in str(caught.value)


@pytest.mark.parametrize("argnums", [(0, 1), [0, 1], range(2), np.arange(2), (np.int64(0), -1)], ids=repr)
def test_several_numbers_of_arguments_are_taken_in_any_sequence(argnums: Any) -> None:
    """Tuples, lists, ranges and arrays of integers name arguments."""
    first, second = gt.grad(lambda x, y: x * y, argnums)(2.0, 3.0)
    assert (first, second) == (3.0, 2.0)
