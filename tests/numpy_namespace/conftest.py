"""Tests of the namespace are about what records in them: leaves of other tests do not count."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradtape.core.graph import ambient_leaves
from gradtape.core.recording import interpreters


@pytest.fixture(autouse=True)
def nothing_else_records() -> Iterator[None]:
    """Hide the leaves and interpreters that are alive, for the length of a test."""
    leaves, levels = dict(ambient_leaves), set(interpreters)
    ambient_leaves.clear()
    interpreters.clear()
    yield
    ambient_leaves.update({key: leaf for key, leaf in leaves.items() if leaf() is not None})
    interpreters.update(levels)
