"""What the core notes of values that leave the tape, in both modes."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import forward

START = 1.3172946


def by_bytes(x: Any) -> Any:
    return x * np.frombuffer((x * 1.0).tobytes())[0]


def by_text(x: Any) -> Any:
    return x * float(str(x * 1.0))


def by_number(x: Any) -> Any:
    return x * math.exp(x)


@pytest.mark.parametrize("function", [by_bytes, by_text, by_number])
def test_value_that_comes_back_is_reported_in_both_modes(function: Any) -> None:
    """GT210 in reverse and in forward mode, whether a number, a text or bytes have left."""
    with pytest.warns(gt.GradientWarning, match="GT210"):
        gt.grad(function)(START)
    with pytest.warns(gt.GradientWarning, match="GT210"):
        gt.jvp(function, (START,), (1.0,))


def test_forward_mode_keeps_a_limited_part_of_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has left is judged before the graph since then is dropped."""
    monkeypatch.setattr(forward, "KEPT_BYTES", 1)
    with pytest.warns(gt.GradientWarning, match="GT210"):
        value, tangent = gt.jvp(by_number, (START,), (1.0,))
    assert (float(value), float(tangent)) == pytest.approx((START * math.exp(START), math.exp(START)))


def test_watched_tensor_that_is_pickled_and_read_again_is_known() -> None:
    """The tape is told that what comes back is the tensor that left."""
    with gt.GradientTape() as tape:
        x = tape.watch(np.array([0.5, 1.5]))
        again = pickle.loads(pickle.dumps(x))
        loss = np.sum(x * again)
    with pytest.warns(gt.GradientWarning, match="GT2"):
        tape.gradient(loss, x)
    np.testing.assert_array_equal(again.numpy(), [0.5, 1.5])


def test_error_inside_forward_mode_leaves_it_closed() -> None:
    """An exception ends the accumulator, and the next one works."""
    with pytest.raises(ZeroDivisionError):
        gt.jvp(lambda x: x / (1 // 0), (1.0,), (1.0,))
    assert gt.jvp(lambda x: x * x, (3.0,), (1.0,))[1] == 6.0
