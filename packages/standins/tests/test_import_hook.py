"""The finder: within it the libraries' names are the stand-ins; outside everything is as it was."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest
from snippet_comparison import SOURCES

from gradtape.errors import GradientWarning
from gradtape_standins import LIBRARIES, standing_in


def test_same_module_under_both_names() -> None:
    """`import autograd` and `import gradtape_standins.autograd` give one and the same object, submodules included."""
    with standing_in():
        theirs = importlib.import_module("autograd.numpy.linalg")
        assert theirs is importlib.import_module("gradtape_standins.autograd.numpy.linalg")
        assert sys.modules["autograd.numpy"].linalg is theirs
        assert theirs.__name__ == theirs.__spec__.name == "gradtape_standins.autograd.numpy.linalg"


def test_every_form_of_import() -> None:
    """Plain, dotted, renamed and from-imports all find the stand-in."""
    with standing_in():
        import autograd.numpy.random as npr
        from autograd import grad
        from autograd import numpy as np
        from autograd.scipy.stats import norm

        import gradtape_standins.autograd as ours
    assert grad is ours.grad
    assert np is ours.numpy
    assert npr is ours.numpy.random
    assert norm is ours.scipy.stats.norm


def test_nothing_is_left_behind() -> None:
    """After the block neither the finder nor a module of the libraries' names remains."""
    path = list(sys.meta_path)
    with standing_in():
        importlib.import_module("autograd.misc.optimizers")
        assert sys.meta_path != path
    assert sys.meta_path == path
    assert not [name for name in sys.modules if name.partition(".")[0] == "autograd"]


def test_entering_is_enough(tmp_path: Path) -> None:
    """Entered and forgotten, it stands in for the rest of the process, which ends without a complaint."""
    script = tmp_path / "conftest.py"
    script.write_text("from gradtape_standins import standing_in\nstanding_in().__enter__()\nimport autograd\n")
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_block_is_left_clean_by_an_error() -> None:
    """An exception within the block removes the finder too."""
    path = list(sys.meta_path)
    with pytest.raises(ZeroDivisionError), standing_in():
        1 / 0  # noqa: B018
    assert sys.meta_path == path


def test_real_modules_are_set_aside_and_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was imported from the real library before is hidden in the block, and there again after it."""
    real, below = ModuleType("autograd"), ModuleType("autograd.numpy")
    monkeypatch.setitem(sys.modules, "autograd", real)
    monkeypatch.setitem(sys.modules, "autograd.numpy", below)
    with pytest.warns(GradientWarning, match="GT317"), standing_in():
        assert importlib.import_module("autograd").__name__ == "gradtape_standins.autograd"
    assert sys.modules["autograd"] is real
    assert sys.modules["autograd.numpy"] is below


def test_real_library_that_was_imported_before_is_named_with_its_holders(monkeypatch: pytest.MonkeyPatch) -> None:
    """The warning has the library and the modules that keep it, by the module, a function or a class of it."""
    real, below = ModuleType("torch"), ModuleType("torch.nn")
    exec("def relu(x): ...\nclass Linear: ...", vars(below))
    below.Linear.__module__ = below.relu.__module__ = "torch.nn"
    users = {"by_module": {"torch": real}, "by_function": {"f": below.relu}, "by_class": {"L": below.Linear}}
    for name, held in {**users, "innocent": {"x": 1}}.items():
        module = ModuleType(name)
        vars(module).update(held)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "torch", real)
    monkeypatch.setitem(sys.modules, "torch.nn", below)
    with pytest.warns(GradientWarning, match="GT317") as caught, standing_in("torch"):
        pass
    text = str(caught[0].message)
    assert "torch was imported before its stand-in" in text
    assert "by_class, by_function, by_module keep it" in " ".join(text.split())
    assert "innocent" not in text
    assert "gradtape run --stand-in=torch -m pytest" in " ".join(text.split())


def test_stand_ins_are_not_taken_for_holders_of_the_real_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes of the stand-in that go by the library's name are not the library's."""
    importlib.import_module("gradtape_standins.torch")
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    with pytest.warns(GradientWarning, match="what has imported it keeps it"), standing_in("torch"):
        pass


def test_no_warning_without_the_real_library() -> None:
    """Neither a library that was not imported, nor a stand-in in an outer block, is the real one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with standing_in("torch"):
            importlib.import_module("torch.nn")
            with standing_in("torch"):
                importlib.import_module("torch.nn")


def test_one_library_alone() -> None:
    """Named libraries are replaced, others are not; an unknown one is refused with the names there are."""
    with standing_in("torch"):
        assert sys.meta_path[0].find_spec("autograd") is None
    with (
        pytest.raises(ValueError, match="no stand-in for jax; there are: autograd, tensorflow, torch"),
        standing_in("jax"),
    ):
        pass


def test_blocks_can_be_nested() -> None:
    """An inner block ends without disturbing the outer one."""
    with standing_in():
        outer = importlib.import_module("autograd")
        with standing_in():
            assert importlib.import_module("autograd") is outer
        assert importlib.import_module("autograd") is outer


@pytest.mark.parametrize(
    ("statement", "nearest"),
    [
        ("import autograd.nunpy", "autograd.numpy"),
        ("import autograd.numpy.linalgg", "autograd.numpy.linalg"),
        ("from autograd import elementwise_gard", "autograd.elementwise_grad"),
        ("from autograd.misc.optimizers import adan", "autograd.misc.optimizers.adam"),
        ("from autograd.scipy.stats import nrom", "autograd.scipy.stats.norm"),
        ("import autograd.jacobian_product", "autograd.vector_jacobian_product"),
    ],
)
def test_missing_import_says_what_is_nearest(statement: str, nearest: str) -> None:
    """A module that is not there raises ModuleNotFoundError and a name ImportError, as Python has it, explained."""
    with standing_in(), pytest.raises(ImportError) as raised:
        exec(statement, {})
    assert type(raised.value) is (ModuleNotFoundError if statement.startswith("import") else ImportError)
    assert "the stand-in for autograd has no " in str(raised.value)
    assert nearest in str(raised.value)
    assert "fix: " in str(raised.value)
    assert "gradtape_standins" not in str(raised.value)


def test_missing_attribute_says_what_is_nearest() -> None:
    """An attribute that is not there raises AttributeError, so that hasattr is False, with the nearest names."""
    from gradtape_standins import autograd

    assert not hasattr(autograd, "value_and_grads")
    with pytest.raises(AttributeError, match=r"nearest that is there: autograd\.value_and_grad"):
        _ = autograd.value_and_grads
    with pytest.raises(AttributeError, match="run this with the real autograd"):
        _ = autograd.zzzzzzzz


def run(*command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python with this gradtape, and catch what it prints."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([SOURCES, os.environ.get("PYTHONPATH", "")])}
    everything = [sys.executable, *map(str, command)]
    return subprocess.run(everything, cwd=cwd, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("library", LIBRARIES)
def test_importing_a_stand_in_is_silent(library: str) -> None:
    """Importing a stand-in, with all warnings shown, prints nothing."""
    code = f"from gradtape_standins import standing_in\nwith standing_in():\n    import {library}"
    done = run("-W", "error", "-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


SCRIPT = """\
import sys
import autograd.numpy as np
from autograd import grad

print(grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0])), sys.argv[1:])
"""


def test_run_command_stands_in(tmp_path: Path) -> None:
    """`gradtape run --stand-in` runs a script that imports autograd, wherever the option stands."""
    (tmp_path / "forum.py").write_text(SCRIPT)
    done = run("-m", "gradtape", "run", "--quiet", "forum.py", "--stand-in", "--steps", "3", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "[2. 4.] ['--steps', '3']\n")


def test_run_command_explains_a_missing_name(tmp_path: Path) -> None:
    """The error of a script that asks for what is not there ends with the explanation."""
    (tmp_path / "forum.py").write_text("import autograd\nautograd.jacobain\n")
    done = run("-m", "gradtape", "run", "--quiet", "--stand-in", "forum.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "nearest that is there: autograd.jacobian" in done.stderr
