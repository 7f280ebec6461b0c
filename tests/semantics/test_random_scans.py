"""Random bodies of scans give what the same steps give one after the other (see `random_scans`)."""

from __future__ import annotations

import warnings

import pytest

import gradtape as gt
from tests.semantics.random_scans import Program, differences, drawn_checks, is_native


@pytest.mark.parametrize("start", range(0, 32, 4))
def test_derivatives(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and derivatives, eager and compiled, are those of the steps, with every access to memory checked."""
    monkeypatch.setattr(gt.config, "check", "memory")
    for seed in range(start, start + 4):
        monkeypatch.setattr(gt.config, "native", is_native(seed))
        program = Program(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gt.GradientWarning)  # some programs do not depend on an argument
            assert differences(program, seed, drawn_checks(seed, 1)) == [], f"seed {seed}\n{program.source}"
