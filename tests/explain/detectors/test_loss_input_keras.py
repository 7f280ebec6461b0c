"""Losses of Keras that are told to take logits and are given probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
import gradtape_standins.tensorflow as tf
from gradtape.explain.model.problem import Problem

rng = np.random.default_rng(0)
X, labels = rng.normal(size=(9, 4)), rng.integers(0, 3, size=9)
W = rng.normal(size=(4, 3))


@pytest.mark.parametrize("target", [labels, np.eye(3)[labels]])
def test_from_logits(target: Any) -> None:
    """A loss of Keras with from_logits=True that is given probabilities, and one that is told so."""
    kind = "SparseCategoricalCrossentropy" if target.ndim == 1 else "CategoricalCrossentropy"
    loss = getattr(tf.keras.losses, kind)

    def entropy(from_logits: bool) -> None:
        w = tf.Variable(W)
        with tf.GradientTape():
            probabilities = tf.nn.softmax(X @ w)
            loss(from_logits=from_logits)(target, probabilities)

    problems: list[Problem] = []
    with gt.explain.configure(GT5="note"), gt.explain.listening(problems.append):
        entropy(False)
        assert problems == []
        entropy(True)
    (problem,) = problems
    assert problem.title.startswith("from_logits=True takes logits")
    assert problem.fixes[0] == "X @ w"
