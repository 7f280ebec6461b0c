"""A layer that gets the wrong number of features because of a reshape: the reshape is mended, not the layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt

rng = np.random.default_rng(0)
IMAGES = rng.normal(size=(8, 4, 8, 8)).astype(np.float32)
HEAD = gt.nn.Linear(256, 10, rng=rng)


def by_name(h: Any) -> Any:
    h = h.reshape(-1, 64)
    return HEAD(h)


def at_once(h: Any) -> Any:
    return HEAD(h.reshape((-1, 64)))


def by_function(h: Any) -> Any:
    flat = np.reshape(h, (-1, 64))
    return HEAD(flat)


@pytest.mark.parametrize(
    ("function", "plain", "tracked"),
    [
        (by_name, "h.reshape(-1, 256)", "h.reshape(len(h), -1)"),
        (at_once, "h.reshape(-1, 256)", "h.reshape(len(h), -1)"),
        (by_function, "np.reshape(h, (-1, 256))", "np.reshape(h, (len(h), -1))"),
    ],
)
def test_a_reshape_that_makes_rows_of_parts_of_examples(function: Any, plain: str, tracked: str) -> None:
    """The edit gives each example its features back; where the number of examples is known it is written out."""
    with pytest.raises(gt.ShapeError, match="has 64 features") as caught:
        function(IMAGES)
    assert list(caught.value.problem.fixes) == [plain]
    with pytest.raises(gt.ShapeError) as caught:
        function(gt.tensor(IMAGES, requires_grad=True))
    assert list(caught.value.problem.fixes) == [tracked]
    assert caught.value.problem.fixes[0].checked


def test_images_that_were_not_flattened() -> None:
    """Channels, rows and columns that multiply to the features are made one axis."""
    with pytest.raises(gt.ShapeError) as caught:
        HEAD(IMAGES)
    assert caught.value.problem.fixes[0] == "HEAD(IMAGES.reshape(len(IMAGES), -1))"


def test_another_number_of_features_is_the_layers_business() -> None:
    """Where the elements do not come out even, the layer is offered as it has to be."""
    with pytest.raises(gt.ShapeError) as caught:
        HEAD(np.ones((8, 30), np.float32))
    assert list(caught.value.problem.fixes) == ["Linear(30, 10)"]
