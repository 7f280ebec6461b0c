"""Layers, optimisers and schedules give the numbers that PyTorch gave for the same cases."""

from __future__ import annotations

import pytest

from tests.nn import cases

STORED = cases.stored()


@pytest.mark.parametrize("key", cases.LAYERS)
def test_layer_gives_the_numbers_of_pytorch(key: str) -> None:
    """Outputs, the gradients in parameters and inputs, and running statistics are PyTorch's."""
    assert cases.digest(cases.run(cases.LAYERS[key])) == pytest.approx(STORED["layers"][key], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("key", cases.OPTIMISERS)
def test_optimiser_gives_the_numbers_of_pytorch(key: str) -> None:
    """After 20 steps the parameters are where PyTorch's are."""
    assert cases.digest(cases.optimised(key)) == pytest.approx(STORED["optimisers"][key], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("key", cases.SCHEDULES)
def test_schedule_gives_the_numbers_of_pytorch(key: str) -> None:
    """The first 20 learning rates are PyTorch's."""
    assert cases.digest(cases.scheduled(key)) == pytest.approx(STORED["schedules"][key], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("key", cases.PLATEAUS)
def test_plateau_gives_the_numbers_of_pytorch(key: str) -> None:
    """The learning rates after 60 metrics that rise and fall are PyTorch's."""
    assert cases.digest(cases.levelled(key)) == pytest.approx(STORED["plateaus"][key], rel=1e-9, abs=1e-9)


def test_every_stored_case_is_compared() -> None:
    """The stored numbers and the cases are the same list."""
    assert set(STORED["layers"]) == set(cases.LAYERS)
    assert set(STORED["optimisers"]) == set(cases.OPTIMISERS)
    assert set(STORED["schedules"]) == set(cases.SCHEDULES)
    assert set(STORED["plateaus"]) == set(cases.PLATEAUS)
