"""`gradtape run --stand-in numpy script.py`: the script's own imports of NumPy and SciPy are ours, others' not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from gradtape.commands import main
from gradtape.commands.numpy_imports import numpy_is_ours

SCRIPT = """\
import numpy as np
import numpy.linalg as la
import numpy.ma, scipy.special, statistics
from numpy import array, zeros
from numpy.lib.stride_tricks import sliding_window_view
from scipy import constants
import gradtape as gt
import helper, library.module

def energy(t):
    u = zeros(4)
    u[1:3] = array([t, t * t])
    u[0] += helper.length(t) * la.norm([t, 1.0])
    return np.sum(u**2)

print(np.__name__, helper.np.__name__, helper.imported_late(), library.module.np.__name__, constants.__name__)
print(bool(abs(gt.grad(energy)(2.0) - (energy(2.0 + 1e-6) - energy(2.0 - 1e-6)) / 2e-6) < 1e-4))
print(numpy.ma.masked_array is not None, scipy.special.__name__, sliding_window_view([1.0, 2.0], 1).shape)
"""
HELPER = """\
import numpy as np

def length(t):
    return np.linalg.norm(np.array([t, 2.0]))

def imported_late():
    import numpy.fft
    return numpy.fft.__name__
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a script, a module beside it, and a package that is installed in a folder below it."""
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text(HELPER)
    installed = tmp_path / "lib" / "site-packages" / "library"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    (installed / "module.py").write_text("import numpy as np\n")
    monkeypatch.syspath_prepend(str(installed.parent))
    for name in ("helper", "library", "library.module"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_the_script_and_modules_beside_it_get_our_namespaces(folder: Path, capsys: Any) -> None:
    """Its own imports in every form are ours, at any time; a library in a folder below keeps NumPy."""
    assert main(["run", "--stand-in", "numpy", str(folder / "script.py")]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told == [
        "gradtape.numpy gradtape.numpy gradtape.numpy.fft numpy gradtape.scipy.constants",
        "True",
        "True gradtape.scipy.special (2, 1)",
    ]
    for name in ("helper", "library", "library.module"):
        sys.modules.pop(name, None)


def test_imports_are_python_s_own_again_afterwards(tmp_path: Path) -> None:
    """The hook is there for the length of the block, also where that fails."""
    import builtins

    before = builtins.__import__

    def fail() -> None:
        with numpy_is_ours(str(tmp_path)):
            raise KeyError("stop")

    with pytest.raises(KeyError):
        fail()
    assert builtins.__import__ is before


def test_unknown_libraries_are_named(tmp_path: Path, capsys: Any) -> None:
    """The error lists what there is, NumPy among it."""
    script = tmp_path / "empty.py"
    script.write_text("")
    assert main(["run", "--stand-in=pandas", str(script)]) == 2
    assert "numpy" in capsys.readouterr().err
