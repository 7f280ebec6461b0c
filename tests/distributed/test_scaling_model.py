"""The page of the scaling model has the table and the plot that the model gives."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def model() -> Any:
    """benchmarks/scaling.py as a module."""
    spec = importlib.util.spec_from_file_location("scaling", ROOT / "benchmarks" / "scaling.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_table_and_the_plot_of_the_model(model: Any) -> None:
    """python benchmarks/scaling.py --plot docs/images/scaling.svg prints the table for docs/scaling.md."""
    assert "\n".join(model.table()) in (ROOT / "docs" / "scaling.md").read_text("utf-8")
    assert model.draw() == (ROOT / "docs" / "images" / "scaling.svg").read_text("utf-8")


def test_the_model_ranks_the_designs(model: Any) -> None:
    """More workers are less efficient, larger chunks more; a tree of 33 workers has one level below its root."""
    long, _, short = model.WORKS
    for design in model.DESIGNS:
        shares = [model.efficiency(design, long, workers) for workers in (1, 10, 100, 1000)]
        assert shares == sorted(shares, reverse=True)
    fewer = long._replace(chunks=1000)
    assert model.by_groups(fewer, 10) < model.by_groups(long, 10)
    assert model.by_ranks(short, 10) < model.by_shards(short, 10) < model.by_groups(short, 10)
    assert [model.depth(workers, 32) for workers in (1, 2, 33, 34)] == [0, 1, 1, 2]
