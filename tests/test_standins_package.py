"""gradtape without its stand-ins, which are a distribution of their own: what needs them says how to install them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

NOT_INSTALLED = """\
import sys

class Refuse:
    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] == "gradtape_standins":
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)

sys.meta_path.insert(0, Refuse())
"""


def run_without_standins(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a process in which the stand-ins cannot be imported."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", NOT_INSTALLED + code],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **environment},
        check=False,
    )


def test_run_command_says_how_to_install_the_stand_ins(tmp_path: Path) -> None:
    """`gradtape run --stand-in` is an error of usage, which names the package and the command that installs it."""
    (tmp_path / "forum.py").write_text("print('was run')\n")
    code = "from gradtape.commands import main\nsys.exit(main(['run', '--stand-in', 'torch', 'forum.py']))"
    done = run_without_standins(code, tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "gradtape: run: --stand-in: gradtape's stand-ins for other libraries are a package of their own, "
        "gradtape_standins, which is not installed\n  fix: pip install gradtape[standins]\n"
    )


def test_pytest_plugin_says_how_to_install_the_stand_ins(tmp_path: Path) -> None:
    """A worker of pytest that is to have stand-ins ends with the same words, and not with a traceback."""
    code = "import pytest\nsys.exit(pytest.main(['-p', 'no:gradtape', '-p', 'gradtape.pytest_plugin']))"
    done = run_without_standins(code, tmp_path, GRADTAPE_STAND_IN="torch", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert done.returncode == 4
    assert "GRADTAPE_STAND_IN=torch asks for stand-ins: " in done.stderr
    assert "fix: pip install gradtape[standins]" in done.stderr
    assert "Traceback" not in done.stderr


def test_advice_has_the_names_of_the_real_library_or_else_of_numpy(tmp_path: Path) -> None:
    """Without stand-ins, advice for a file that imports torch is written with names that torch has, if it is loaded."""
    code = """
from types import ModuleType
from gradtape.explain.render.spelling import name_in

print(repr(name_in("torch", "sum")))
name_in.cache_clear()
sys.modules["torch"] = ModuleType("torch")
sys.modules["torch"].sum = sum
print(name_in("torch", "sum"), repr(name_in("torch", "prod")))
"""
    done = run_without_standins(code, tmp_path)
    assert (done.returncode, done.stdout) == (0, "''\nsum ''\n"), done.stderr


def test_gradtape_works_without_the_stand_ins(tmp_path: Path) -> None:
    """Every public chapter can be imported, and a script is run and explained."""
    (tmp_path / "train.py").write_text(
        "import gradtape as gt\nx = gt.Variable([1.0, 2.0])\nwith gt.GradientTape() as tape:\n    y = (x * x).sum()\n"
        "print(tape.gradient(y, x))\n"
    )
    code = "import gradtape\nfor name in gradtape.__all__:\n    getattr(gradtape, name)\n"
    code += "from gradtape.commands import main\nsys.exit(main(['run', 'train.py']))"
    done = run_without_standins(code, tmp_path)
    assert (done.returncode, done.stdout) == (0, "[2. 4.]\n"), done.stderr
    assert "nothing found" in done.stderr
