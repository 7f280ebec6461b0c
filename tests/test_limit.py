"""The workloads of benchmarks/limit at their small sizes, and the hand-written programs where they can be built."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradtape as gt

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
QUICK = ("-O1", "-march=native", "-ffast-math", "-fopenmp", "-std=c++17", "-fPIC")
"""Flags that compile in half the time; the sums are formed as with the benchmark's own."""


def _load_package() -> ModuleType:
    path = BENCHMARKS / "limit" / "__init__.py"
    spec = importlib.util.spec_from_file_location("limit", path, submodule_search_locations=[str(path.parent)])
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules["limit"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


limit = _load_package()
compiler = importlib.import_module("limit.compiler")
plot = importlib.import_module("limit.plot")
table = importlib.import_module("limit.table")

NAMES = sorted({name for name, _ in limit.ROWS.values()})
ANCHORED = [name for name in NAMES if compiler.has_anchor(name)]


def double_precision(arguments: list[Any]) -> list[Any]:
    """The arguments with double precision in the place of single precision."""
    return [a.astype(float) if getattr(a, "dtype", None) == np.float32 else a for a in arguments]


@pytest.mark.parametrize("name", NAMES)
def test_workload_has_its_gradient(name: str) -> None:
    """A compiled workload has NumPy's value and, along a direction, the slope of central differences."""
    module, plain = limit.load(name), limit.load(name, "numpy")
    arguments = double_precision(module.initialise(module.SMALL))
    program, given, positions = limit.close_over(module, arguments)
    step = gt.jit(gt.value_and_grad(program, argnums=positions))
    step(*given)
    value, gradients = step(*given)
    assert step.stats.uncompiled == 0
    np.testing.assert_allclose(value, plain.program(*arguments), rtol=1e-10)
    rng = np.random.default_rng(0)
    directions = [rng.standard_normal(np.shape(arguments[i])) for i in module.ARGUMENTS]
    ends = []
    for sign in (1e-6, -1e-6):
        moved = list(arguments)
        for i, direction in zip(module.ARGUMENTS, directions, strict=True):
            moved[i] = moved[i] + sign * direction
        ends.append(plain.program(*moved))
    slope = (ends[0] - ends[1]) / 2e-6
    terms = [np.sum(g * d) for g, d in zip(gradients, directions, strict=True)]
    noise = 1e-8 * abs(float(value))  # of the differences
    np.testing.assert_allclose(sum(terms), slope, rtol=1e-5, atol=noise + 1e-6 * sum(abs(t) for t in terms))


@pytest.fixture(scope="module")
def anchors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """All anchors, built quickly, two at a time."""
    if compiler.missing():
        pytest.skip(compiler.missing())
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("anchors")))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: compiler.build(name, QUICK), ["call", *ANCHORED]))
    yield {name: compiler.Anchor(name, QUICK) for name in ANCHORED}
    patch.undo()


def test_anchors_agree_with_gradtape(anchors: dict[str, Any]) -> None:
    """Value and gradients of every hand-written program are gradtape's, to rounding."""
    contenders = importlib.import_module("limit.contenders")
    for name, anchor in anchors.items():
        module = limit.load(name)
        arguments = module.initialise(module.SMALL)
        program, given, positions = limit.close_over(module, arguments)
        value, gradients = gt.value_and_grad(program, argnums=positions)(*given)
        run, arrays = contenders.bind_anchor(anchor, module, arguments)
        run(*arrays)
        found, slopes = run(*arrays)
        difference = limit.relative_difference([found, *slopes], [value, *gradients])
        assert difference <= limit.tolerance(arguments), name


def test_anchors_leave_the_arithmetic_of_the_process(anchors: dict[str, Any]) -> None:
    """With the anchors loaded, numbers below the normal range are not rounded to zero."""
    assert anchors
    smallest = np.array([5e-324])
    assert smallest * 3.0 > smallest


def test_every_row_of_the_order_exists() -> None:
    """The table has the rows that the order names, and no others."""
    assert list(limit.ROWS) == list(limit.ORDER)


def test_table_totals_and_plot() -> None:
    """Ratios, rows above the goal, rivals ahead and failures are told from the times."""
    results: dict[str, Any] = {
        "solve": {"gradtape": {"best": 8e-3, "first": 0.2, "memory": 8_000_000}, "C++": {"best": 1e-3, "first": 0.1}},
        "gp": {"gradtape": {"best": 2e-3, "first": 0.2}, "C++": {"best": 1e-3}, "jax": {"best": 1e-3, "first": 0.1}},
        "lenet": {"gradtape": {"best": 1e-3, "first": 0.2}, "torch": {"failed": "no memory"}},
    }
    totals = table.totals(results, {"gp": {"gradtape": {"best": 4e-3}}})
    assert "geometric mean over 2 rows: 4.00" in totals
    assert "now / before over 1 of them: 0.50" in totals
    assert "above 4: solve 8.0" in totals
    assert "a rival is ahead: gp (jax 2.00)" in totals
    assert "lenet, torch: no memory" in totals
    line = table.row("gp", results["gp"], ["jax"], json.loads(json.dumps(results["gp"])))
    assert line == "| gp | 2 000 | 2 000 | 1.00 | 1 000 | 2.00 | **1 000** | 0.20 | 0.10 | - | - |"
    assert table.header(["jax"], True).count("|") == 2 * line.count("|")
    drawn = plot.draw(results, results)
    assert drawn.startswith("<svg")
    assert drawn.count("<title>") == 3 + 1 + 3
