"""Operations are tried at zeros, kinks and poles and on every pair of shapes: what would be warned of is meant here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gradtape as gt


@pytest.fixture(autouse=True)
def on_purpose() -> Iterator[None]:
    """Nothing is said of broadcasts, zeros, infinities and arguments without effect; tests/explain is about that."""
    with gt.explain.configure(GT10="off", GT201="off", GT4="off", GT5="off"):
        yield
