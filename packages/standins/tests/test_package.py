"""The stand-ins as a package of their own: one version with gradtape, and library code wherever it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from snippet_comparison import SOURCES

import gradtape
import gradtape_standins
from gradtape.commands import run as run_command
from gradtape.core.location import is_library, is_own_file, is_own_module

PROJECT = Path(__file__).parents[1]
ROOT = PROJECT.parents[1]


def project(folder: Path) -> dict[str, object]:
    """The section [project] of a distribution."""
    found: dict[str, object] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a new process that finds gradtape and the stand-ins."""
    everything = {**os.environ, "PYTHONPATH": SOURCES, **environment}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=everything, check=False)


def test_both_distributions_have_the_version_of_one_file() -> None:
    """Neither project file writes a version: the one in gradtape/version.py is that of both modules."""
    ours, gradtapes = project(PROJECT), project(ROOT)
    assert gradtape_standins.__version__ == gradtape.__version__
    assert ours["dynamic"] == ["version", "dependencies"]
    assert gradtapes["dynamic"] == ["version"]
    same = ("license", "requires-python", "authors", "classifiers")
    assert {key: ours[key] for key in same} == {key: gradtapes[key] for key in same}
    assert (PROJECT / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_run_command_knows_the_stand_ins_that_there_are() -> None:
    """The list of the command, which has to be there without the stand-ins, is theirs."""
    assert run_command.LIBRARIES == gradtape_standins.LIBRARIES


OTHER = "import gradtape\ngradtape.__version__ = '0.0.9'\n"


def test_gradtape_of_another_version_is_refused_with_the_fix() -> None:
    """The error of the import names both versions and the command that makes them one."""
    done = run(OTHER + "import gradtape_standins.torch")
    version = gradtape_standins.__version__
    assert done.returncode == 1
    assert f"gradtape_standins {version} needs gradtape {version}, and gradtape is 0.0.9" in done.stderr
    assert "fix: pip install --upgrade gradtape[standins]" in done.stderr


def test_run_command_refuses_stand_ins_of_another_version(tmp_path: Path) -> None:
    """`gradtape run --stand-in` says the same without a traceback, as an error of usage."""
    (tmp_path / "forum.py").write_text("import torch\n")
    arguments = ["run", "--stand-in", str(tmp_path / "forum.py")]
    done = run(OTHER + f"import sys\nfrom gradtape.commands import main\nsys.exit(main({arguments}))")
    assert done.returncode == 2
    assert "and gradtape is 0.0.9\n  fix: pip install --upgrade" in done.stderr
    assert "Traceback" not in done.stderr


def test_files_of_the_stand_ins_are_library_code() -> None:
    """Messages skip their frames, and jit treats them as gradtape's own; the tests beside them are the user's."""
    from gradtape_standins import torch

    assert is_library(torch.__file__)
    assert is_own_file(torch.__file__)
    assert is_own_module(torch.__name__)
    assert not is_library(__file__)
    assert not is_own_module("gradtape_others.torch")


def test_warning_names_the_line_of_the_user() -> None:
    """The place of an operation inside a stand-in is the line that called the stand-in."""
    from gradtape_standins import torch

    x = torch.tensor([1.0], requires_grad=True)
    loss = torch.nn.functional.mse_loss(x, torch.zeros(1))
    assert loss._value._node.location.file == __file__


@pytest.mark.parametrize("before", ["", "gradtape.core.location.is_library(here)\n"])
def test_package_is_library_code_from_any_folder(tmp_path: Path, before: str) -> None:
    """What is registered counts from then on, even if a file of it was taken for the user's before."""
    (tmp_path / "elsewhere").mkdir()
    here = tmp_path / "elsewhere" / "module.py"
    code = (
        f"import gradtape.core.location\nhere = {str(here)!r}\n{before}"
        f"gradtape.core.location.register_own_package('elsewhere', {str(here.parent)!r})\n"
        "print(gradtape.core.location.is_library(here), gradtape.core.location.user_files)"
    )
    done = run(code)
    assert done.stdout == "True set()\n", done.stderr
