"""Edits of an index, and whether an index picks one element of each row."""

from __future__ import annotations

import numpy as np
import pytest

from gradtape.explain.fixes.index_edits import one_of_each_row


@pytest.mark.parametrize(
    ("shape", "labels", "works"),
    [((3, 2), [0, 1, 1], True), ((3, 2), [0, 1, -1], True), ((3, 2), [0, 1, 2], False), ((3, 2), [0, 1], False)],
)
def test_one_of_each_row(shape: tuple[int, ...], labels: list[int], works: bool) -> None:
    """The labels are tried as an index: one for each row, and none that is not there."""
    assert one_of_each_row(shape, np.array(labels)) is works
