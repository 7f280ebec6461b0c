"""The programs in examples/gallery arrive at results that are known to be right, and draw them."""

from __future__ import annotations

import ast
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools.run_examples import load

GALLERY = Path(__file__).parents[1] / "examples" / "gallery"
PROGRAMS = sorted(path.stem for path in GALLERY.glob("*.py"))

Solve = Callable[..., dict[str, Any]]


@pytest.fixture
def solve() -> Solve:
    """Run a program, reduced by arguments of its `solve`, compiled by default; then draw and save its pictures."""
    plot = pytest.importorskip("matplotlib.pyplot", reason="the gallery draws with matplotlib")
    plot.switch_backend("Agg")

    def run(name: str, compiled: bool = True, **reduced: Any) -> dict[str, Any]:
        module = load(GALLERY / f"{name}.py")
        found: dict[str, Any] = module.solve(compiled=compiled, **reduced)
        assert isinstance(found["result"], str)
        assert "\n" not in found["result"]
        with plot.rc_context():
            module.draw(found)
            assert plot.get_fignums()
            for number in plot.get_fignums():
                figure = plot.figure(number)
                assert all(axis.get_title() or axis.get_label() == "<colorbar>" for axis in figure.axes)
                figure.savefig(io.BytesIO(), format="png", dpi=40)
                plot.close(figure)
        return found

    return run


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_is_in_the_format_of_sphinx_gallery(name: str) -> None:
    """A title in the docstring, cells of prose, `solve` and `draw`, and a main guard; lines that fit a page."""
    text = (GALLERY / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    title, underline, *_ = (ast.get_docstring(tree) or "").splitlines()
    assert underline == "=" * len(title)
    assert text.count("\n# %%\n") >= 2
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert functions["solve"].args.args[0].arg == "compiled"
    assert "draw" in functions
    assert 'if __name__ == "__main__":\n    found = solve()\n    print(found["result"])\n    draw(found)' in text


def test_every_program_is_tested_and_listed() -> None:
    """Each program has a test of its result here, and a line in docs/gallery.md."""
    tests = Path(__file__).read_text(encoding="utf-8")
    page = (GALLERY.parents[1] / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert [name for name in PROGRAMS if f'solve("{name}"' not in tests] == []
    assert [name for name in PROGRAMS if f"[{name}.py](../examples/gallery/{name}.py)" not in page] == []


def test_heat_backwards(solve: Solve) -> None:
    """The pattern that explains the picture to within its noise is much closer to the truth than the picture is."""
    found = solve("heat_backwards", steps=30)
    assert found["misfit"] < 1.0
    assert found["error"] < 0.6 * found["before"]


def test_kalman_nile(solve: Solve) -> None:
    """The estimates are those of Durbin and Koopman, with and without jit."""
    compiled, eager = solve("kalman_nile"), solve("kalman_nile", compiled=False)
    for found in (compiled, eager):
        assert abs(found["noise"] - 15099) < 2
        assert abs(found["drift"] - 1469.1) < 1
        assert abs(found["likelihood"] + 632.54) < 0.02


def test_survival_censoring(solve: Solve) -> None:
    """The estimates are those that are published for this trial; ignoring the censoring shrinks the effect."""
    found = solve("survival_censoring")
    assert abs(found["effect"] - 1.267) < 0.002
    assert abs(found["error"] - 0.311) < 0.002
    assert abs(found["shape"] - 1.366) < 0.002
    assert found["ignored"] < 0.6 * found["effect"]


def test_hierarchical_hmc(solve: Solve) -> None:
    """The chains agree with each other and with the posterior means by quadrature."""
    found = solve("hierarchical_hmc", draws=1000)
    assert found["r_hat"] < 1.02
    assert found["off"] < 5.0


def test_wave_inversion(solve: Solve) -> None:
    """The recordings are explained, and the speed of the rock is found."""
    found = solve("wave_inversion", iterations=12)
    assert found["misfits"][-1] < found["misfits"][0] / 20
    assert found["error"] < 0.5 * found["before"]


def test_flow_pressure(solve: Solve) -> None:
    """The flow is free of divergence, and both unknowns are found within four standard errors, which are small."""
    found = solve("flow_pressure", steps=150)
    assert found["divergence"] < 1e-11
    for name, truth in (("viscosity", 0.01), ("lid", 1.0)):
        assert abs(found[name] - truth) < 4 * found["errors"][name]
        assert found["errors"][name] < 0.1 * truth


def test_topology_optimisation(solve: Solve) -> None:
    """The tape's gradient is the adjoint formula; the compliance falls to a quarter at the volume that is allowed."""
    found = solve("topology_optimisation", iterations=25)
    assert found["agreement"] < 1e-8
    assert found["history"][-1] < found["history"][0] / 4
    assert abs(found["volume"] - 0.5) < 1e-4


def test_gaussian_mixture(solve: Solve) -> None:
    """L-BFGS and EM arrive at the same likelihood, and the true centres are within four standard errors."""
    found = solve("gaussian_mixture")
    assert abs(found["history"][-1] - found["em"][-1]) < 1e-7
    assert found["off"] < 4.0


def test_gaussian_process(solve: Solve) -> None:
    """The noise is found, and most of what was held back is inside of the band."""
    found = solve("gaussian_process", years=12)
    assert abs(found["noise"] - 0.25) < 0.05
    assert found["inside"] > 0.8


def test_ode_uncertainty(solve: Solve) -> None:
    """The rates are the published ones, within a fraction of their standard errors."""
    found = solve("ode_uncertainty")
    assert found["off"] < 0.5
    assert np.all(np.linalg.eigvalsh(found["covariance"]) > 0)


def test_option_calibration(solve: Solve) -> None:
    """The truth is within three standard errors; Feller's condition binds, and the fit with it is worse."""
    found = solve("option_calibration")
    assert found["off"] < 3.0
    assert found["feller_free"] < -0.05
    assert abs(found["feller"]) < 1e-4
    assert found["rms"]["kept"] > 1.5 * found["rms"]["free"]
    assert found["price"] > 0.0


def test_bundle_adjustment(solve: Solve) -> None:
    """What is left in the pictures is the noise, the points are found, and the passes do not grow with their number."""
    found, fewer = solve("bundle_adjustment"), solve("bundle_adjustment", points=80)
    assert abs(found["chi"] - 1.0) < 0.1
    assert found["error"] < 0.05 * found["error_before"]
    assert found["colours"] < 20
    assert fewer["colours"] < 20
