"""All tests of jit run compiled code in its checking mode, but for those marked `production`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradtape.config import config


@pytest.fixture(autouse=True)
def checked_memory(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every access of native code to memory is checked while a test runs."""
    before = config.check
    config.check = "verify" if request.node.get_closest_marker("production") else "memory"
    yield
    config.check = before
