"""The programs in examples/gallery arrive at results that are known to be right, and draw them."""

from __future__ import annotations

import ast
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools import run_examples
from tools.run_examples import load

GALLERY = Path(__file__).parents[1] / "examples" / "gallery"
PROGRAMS = sorted(path.stem for path in GALLERY.glob("*.py"))

Solve = Callable[..., dict[str, Any]]


def is_labelled(axis: Any) -> bool:
    """Whether a panel of a picture has a title, or is a colour bar with a label."""
    return bool(axis.get_title() or axis.get_title(loc="left") or axis.get_ylabel())


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
        plot.close("all")
        with plot.rc_context():
            module.draw(found)
            assert plot.get_fignums()
            for figure in map(plot.figure, plot.get_fignums()):
                assert all(is_labelled(axis) for axis in figure.axes)
                figure.savefig(io.BytesIO(), format="png", dpi=40)
        plot.close("all")
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
    assert 'if __name__ == "__main__":\n    found = solve()\n    print(found["result"])\n' in text
    assert text.endswith("    draw(found)\n    plt.show()\n")


def test_every_program_is_tested_and_listed() -> None:
    """Each program has a test of its result here, and a line in docs/gallery.md."""
    tests = Path(__file__).read_text(encoding="utf-8")
    page = (GALLERY.parents[1] / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert [name for name in PROGRAMS if f'solve("{name}"' not in tests] == []
    assert [name for name in PROGRAMS if f"[{name}.py](../examples/gallery/{name}.py)" not in page] == []


def test_table_has_a_row_for_each_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Gallery programs have two times and a result, others their last line; one that fails has its error."""
    (tmp_path / "gallery").mkdir()
    programs = {
        "plain.py": "print('41')\nprint('42 is the answer')",
        "gallery/good.py": "def solve(compiled=True):\n    return {'result': f'{compiled=}'}\ndef draw(found): pass",
        "gallery/bad.py": "def solve(compiled=True):\n    raise ValueError('no such orbit')\ndef draw(found): pass",
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(run_examples, "EXAMPLES", tmp_path)
    rows = {name: run_examples.row(tmp_path / name) for name in programs}
    assert rows["plain.py"][0][3] == "42 is the answer"
    assert rows["plain.py"][1]
    (_, eager, compiled, result), well = rows["gallery/good.py"]
    assert float(eager) >= 0.0
    assert float(compiled) >= 0.0
    assert (result, well) == ("compiled=True", True)
    assert rows["gallery/bad.py"] == (["gallery/bad.py", "", "", "ValueError: no such orbit"], False)


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


def test_broadcast_regression(solve: Solve) -> None:
    """The broadcast is named in the first step, and explains nothing; without it, most of the variance is explained."""
    for compiled in (True, False):
        found = solve("broadcast_regression", compiled=compiled)
        assert "[GT101]" in found["messages"][0]
        assert abs(found["explained"]["wrong"]) < 1e-6
        assert found["explained"]["right"] > 0.85
        assert found["bills"]["wrong"] > 3 * found["bills"]["right"]


def test_questions_as_tapes(solve: Solve) -> None:
    """Each tape answers as the guide says, with gradients in the shapes of the values, compiled as well."""
    for compiled in (True, False):
        tapes = solve("questions_as_tapes", compiled=compiled)["tapes"]
        for tape in tapes.values():
            for value, gradient in zip(tape["values"], tape["gradients"], strict=True):
                assert gradient is None or gradient.shape == value.shape
        assert np.array_equal(tapes["several_numbers"]["gradients"][0], [2.0, 4.0, 6.0])
        assert np.array_equal(tapes["jacobian_of_a_sum"]["gradients"][0], np.ones(3))
        assert np.allclose(tapes["column_against_row"]["gradients"][0], 2 * (np.arange(1.0, 4.0) - 4.0) / 3)
        assert tapes["rounded"]["gradients"][0] is None
        assert "round" in tapes["rounded"]["why"]
        assert np.array_equal(tapes["zero_slope"]["gradients"][0], np.zeros(3))


def test_five_mistakes(solve: Solve) -> None:
    """Each mistake is named as long as it is there, and not when it is mended; the mended script learns."""
    runs = solve("five_mistakes")["runs"]
    codes = [set(run["codes"]) for run in runs]
    for number, code in enumerate(["GT201", "GT402", "GT101", "GT510", "GT503"]):
        assert all(code in said for said in codes[: number + 1])
        assert all(code not in said for said in codes[number + 1 :])
    assert codes[5] == set()
    assert len(runs[0]["losses"]) == len(runs[1]["losses"]) == 2
    assert runs[2]["error"] > 0.9
    assert runs[5]["error"] < 0.1


def test_digits_robust_loss(solve: Solve) -> None:
    """With four wrong labels of ten, most new images are told apart."""
    found = solve("digits_robust_loss", epochs=12)
    assert found["final"]["generalised"] > 0.75
    plain, robust = found["curves"]["cross entropy"], found["curves"]["generalised"]
    assert plain.shape == robust.shape == (12, 2)
    assert robust[-1, 0] < plain[-1, 0] + 0.03


def test_dates_with_attention(solve: Solve) -> None:
    """The loss falls to a tenth, and attention is a distribution over the letters."""
    found = solve("dates_with_attention", steps=120)
    assert found["losses"][-1] < found["losses"][0] / 10
    assert np.allclose(found["looks"].sum(axis=2), 1.0, atol=1e-5)


def test_character_language_model(solve: Solve) -> None:
    """The verse that was held back takes fewer bits than by bigrams, and the rhyme is continued."""
    found = solve("character_language_model", steps=200)
    assert found["held_back"] < 0.85 * found["bigram"]
    assert found["losses"][-1] < found["losses"][0] / 4


def test_cartpole_policy(solve: Solve) -> None:
    """The pole stays up several times as long as before learning."""
    found = solve("cartpole_policy", batches=15)
    assert found["steps"].mean() > 4 * found["history"][0].mean()


def test_orbit_design(solve: Solve) -> None:
    """The orbit closes, is the published one, keeps its energy, and is stable."""
    found = solve("orbit_design")
    assert found["history"][-1] < 1e-10
    assert abs(found["unknowns"][2] - found["published"]["period"]) < 1e-5
    assert abs(found["speed"] - found["published"]["speed"]) < 1e-5
    assert found["drift"] < 1e-6
    assert np.abs(np.abs(found["multipliers"]) - 1.0).max() < 0.05


def test_rows_on_dask(solve: Solve) -> None:
    """The truth is within four standard errors, less memory than the rows is used, and threads change no bit."""
    pytest.importorskip("dask", reason="rows_on_dask needs dask")
    found = solve("rows_on_dask", rows=200_000)
    assert found["off"] < 4.0
    assert found["same"]
    assert found["history"][-1][1] < 1e-8
