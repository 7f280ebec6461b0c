"""Errors of SciPy's own that a tensor has caused: a note names the import with which there is a gradient."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt

POINT = np.array([1.2, 2.0])


def failure(source: str, folder: Path) -> Exception:
    """The error with which the gradient of `f` ends, that a file of this source defines."""
    file = folder / "model.py"
    file.write_text(source)
    names: dict[str, Any] = {}
    exec(compile(source, str(file), "exec"), names)
    with pytest.raises(Exception) as caught:  # noqa: PT011  (each of SciPy's functions has another)
        gt.grad(names["f"])(POINT)
    return caught.value


def gradient(source: str) -> Any:
    """The gradient of the `f` that a source defines."""
    names: dict[str, Any] = {}
    exec(source, names)
    return gt.grad(names["f"])(POINT)


@pytest.mark.parametrize(
    ("imported", "body", "fix"),
    [
        ("import scipy.sparse as sp", "return sp.diags(x).sum()", "import gradtape.scipy.sparse as sp"),
        (
            "from scipy.optimize import fsolve",
            "return fsolve(lambda s: s**3 - x[0] * s - x[1], 1.5)[0]",
            "from gradtape.scipy.optimize import fsolve",
        ),
        ("from scipy import stats", "return stats.gamma.logpdf(x, 2.0).sum()", "from gradtape.scipy import stats"),
    ],
)
def test_the_import_is_named_and_works(imported: str, body: str, fix: str, tmp_path: Path) -> None:
    """Whatever SciPy raises, its error carries a problem with the import, with which there is a gradient."""
    error: Any = failure(f"{imported}\ndef f(x):\n    {body}\n", tmp_path)
    assert error.problem.code == "GT312"
    assert error.problem.fixes[0] == fix
    if not isinstance(error, gt.GradTapeError):
        assert error.__notes__ == [f"gradtape: {error.problem}"]
    assert np.all(gradient(f"{fix}\ndef f(x):\n    {body}\n") != 0.0)


def test_a_sparse_matrix_of_tensors_in_scipys_solver(tmp_path: Path) -> None:
    """A matrix of `gradtape.scipy.sparse` in a function of SciPy's: the import of that function is named."""
    source = (
        "import gradtape.scipy.sparse as sp\nfrom scipy.sparse.linalg import cg\n"
        "def f(x):\n    return cg(sp.diags(x), [1.0, 2.0])[0].sum()\n"
    )
    error: Any = failure(source, tmp_path)
    assert error.problem.fixes[0] == "from gradtape.scipy.sparse.linalg import cg"
    mended = source.replace("from scipy", "from gradtape.scipy")
    np.testing.assert_allclose(gradient(mended), [-1.0 / 1.2**2, -2.0 / 2.0**2], rtol=1e-6)


@pytest.mark.parametrize(
    "body",
    ["raise ValueError('of the model')", "return sp.diags([1.0], [0, 1])", "return x['name']"],
)
def test_other_errors_are_left_alone(body: str, tmp_path: Path) -> None:
    """An error of the program, and one of SciPy's that no tensor has caused, get no note."""
    error = failure(f"import scipy.sparse as sp\ndef f(x):\n    {body}\n", tmp_path)
    assert not getattr(error, "__notes__", [])
