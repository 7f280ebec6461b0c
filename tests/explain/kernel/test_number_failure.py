"""Functions of Python's own that take numbers: what they say of tensors is explained."""

from __future__ import annotations

import decimal
import json
import statistics
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import gradtape as gt

REFUSED: list[tuple[Callable[[Any], Any], Callable[[Any], Any], str]] = [
    (lambda x: bytearray(x), lambda x: bytearray(x.tobytes()), "bytearray(x.tobytes())"),
    (lambda x: memoryview(x), lambda x: memoryview(x.numpy()), "memoryview(x.numpy())"),
    (lambda x: Decimal(x), lambda x: Decimal(x.item()), "Decimal(x.item())"),
    (lambda x: decimal.Decimal(x), lambda x: Decimal(x.item()), "Decimal(x.item())"),
    (lambda x: Fraction(x), lambda x: Fraction(x.item()), "Fraction(x.item())"),
    (lambda x: json.dumps(x), lambda x: json.dumps(x.tolist()), "json.dumps of x.tolist()"),
    (lambda x: json.dumps({"x": [x]}), lambda x: json.dumps(x.tolist()), "json.dumps of each tensor x: x.tolist()"),
]


@pytest.mark.parametrize(("call", "cured", "fix"), REFUSED)
@pytest.mark.parametrize("way", [gt.grad, lambda f: lambda x: gt.jvp(f, (x,), (1.0,))])
def test_an_error_for_a_tensor_names_what_to_write(
    call: Callable[[Any], Any], cured: Callable[[Any], Any], fix: str, way: Callable[[Any], Any]
) -> None:
    """The error keeps its type, and has a code and a fix that works."""

    def program(x: Any) -> Any:
        call(x)
        return x * x

    with pytest.raises(TypeError) as caught:
        way(program)(1.3)
    problem: Any = caught.value.problem  # type: ignore[attr-defined]
    assert problem.code == "GT312"
    assert problem.fixes[0].startswith(fix)
    assert cured(gt.tensor(1.3)) is not None


def test_statistics_have_a_function_with_a_gradient() -> None:
    """The fix for `statistics.stdev` is NumPy's function, with its gradient."""
    with pytest.raises(TypeError) as caught:
        gt.grad(lambda x: statistics.stdev([x, 2 * x]))(1.3)
    problem: Any = caught.value.problem  # type: ignore[attr-defined]
    assert problem.fixes[0].startswith("np.std(gt.stack([x, 2 * x]), ddof=1)")
    assert np.allclose(gt.grad(lambda x: np.std(gt.stack([x, 2 * x]), ddof=1))(1.3), np.sqrt(0.5))


def test_errors_about_other_values_stay_as_they_are() -> None:
    """An error that no tensor has caused gets no note."""

    def program(x: Any) -> Any:
        json.dumps(object())
        return x

    with pytest.raises(TypeError) as caught:
        gt.grad(program)(1.3)
    assert not hasattr(caught.value, "problem")
