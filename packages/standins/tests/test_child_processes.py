"""Test-suites under a stand-in: `gradtape run --stand-in=torch -m pytest`, whatever imports the library, and when."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from snippet_comparison import SOURCES

OURS = "gradtape_standins.torch"

SUITE = {
    # the real library, or what is like it: one that can be told from the stand-in
    "site/torch/__init__.py": "from torch import nn\nREAL = True\n",
    "site/torch/nn.py": "REAL = True\n",
    "site/autograd/__init__.py": "REAL = True\n",
    # a plugin that imports it when it is loaded, before any conftest.py
    "site/early.py": "import torch\n\ndef pytest_configure(config):\n    config.early = torch.__name__\n",
    "suite/conftest.py": "import torch\n\nNAME = torch.__name__\n",
    "suite/package.py": "from torch import nn\n\nNAME = nn.__name__\n",
    "suite/test_it.py": f"""
import subprocess, sys
import autograd, torch
from conftest import NAME
from package import NAME as BELOW

def test_gradient():
    x = torch.ones(2, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]

def test_everything_has_the_stand_in(pytestconfig):
    assert [torch.__name__, NAME, BELOW] == ["{OURS}", "{OURS}", "{OURS}.nn"]
    assert getattr(pytestconfig, "early", "{OURS}") == "{OURS}"

def test_processes_have_it_too():
    script = "import torch; print(torch.__name__)"
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "{OURS}"

def test_others_are_real():
    assert autograd.REAL
""",
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A small test-suite, and the libraries that it imports."""
    for name, content in SUITE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path


def run(suite: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the suite, with the real libraries on its path."""
    paths = [str(suite / "site"), SOURCES]
    everything = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment}
    everything.pop("PYTEST_ADDOPTS", None)
    command = (sys.executable, *command)
    return subprocess.run(
        command, cwd=suite / "suite", env=everything, capture_output=True, text=True, check=False, timeout=300
    )


PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")


@pytest.mark.parametrize("options", [("-p", "early"), ("-n", "2")], ids=str)
def test_a_suite_has_the_stand_in_from_the_beginning(suite: Path, options: tuple[str, ...]) -> None:
    """In the tests, conftest.py, packages, early plugins, workers of xdist and processes that tests start."""
    done = run(suite, "-m", "gradtape", "run", "--quiet", "--stand-in", "torch", *PYTEST, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout
    assert "GT317" not in done.stdout + done.stderr


def test_without_it_the_suite_has_the_real_library(suite: Path) -> None:
    """What is asserted above fails under plain pytest, so that it shows something."""
    done = run(suite, *PYTEST)
    assert done.returncode == 1
    assert "3 failed, 1 passed" in done.stdout


def test_the_head_of_the_output_names_the_libraries(suite: Path) -> None:
    """pytest's report begins with what is stood in for; without stand-ins nothing is said."""
    command = [word for word in PYTEST if word != "-q"]
    done = run(suite, "-m", "gradtape", "run", "--quiet", "--stand-in=torch", *command)
    assert "gradtape stands in for: torch" in done.stdout
    assert "stands in for" not in run(suite, *command).stdout


def test_the_exit_status_is_that_of_pytest(suite: Path) -> None:
    """A test that fails, and a suite without tests, give the status that pytest gives them."""
    (suite / "suite" / "test_it.py").write_text("def test_wrong():\n    assert False\n")
    command = ("-m", "gradtape", "run", "--quiet", "--stand-in=torch", *PYTEST)
    assert run(suite, *command).returncode == 1
    assert run(suite, *command, "-k", "nothing").returncode == 5


def test_a_conftest_that_is_too_late_is_warned_of(suite: Path) -> None:
    """A stand-in that conftest.py installs, after a plugin has imported the real library, names that plugin."""
    late = "from gradtape_standins import standing_in\nstanding_in('torch').__enter__()\n"
    (suite / "suite" / "conftest.py").write_text(late + SUITE["suite/conftest.py"])
    done = run(suite, *PYTEST, "-p", "early")
    assert "GT317" in done.stdout + done.stderr
    assert "torch was imported before its stand-in" in done.stdout + done.stderr
    assert "early keeps it" in " ".join((done.stdout + done.stderr).split())


def test_a_process_without_the_stand_in_is_refused(suite: Path) -> None:
    """If only the environment variable arrives, the plugin stops the run and says how it is started."""
    done = run(suite, *PYTEST, GRADTAPE_STAND_IN="torch")
    assert done.returncode == 4
    assert "in this process torch is not stood in for" in " ".join(done.stderr.split())
    assert "gradtape run --stand-in=torch -m pytest" in done.stderr


def test_a_sitecustomize_of_the_user_runs_too(suite: Path) -> None:
    """The one that installs the stand-ins hides none."""
    (suite / "site" / "sitecustomize.py").write_text("import os\nos.environ['SEEN'] = 'yes'\n")
    script = "import os, subprocess, sys\n" + (
        "told = 'import os, torch; print(os.environ[\"SEEN\"], torch.__name__)'\n"
        "del os.environ['SEEN']\n"
        "print(subprocess.check_output([sys.executable, '-c', told], text=True).strip())\n"
    )
    (suite / "suite" / "script.py").write_text(script)
    done = run(suite, "-m", "gradtape", "run", "--quiet", "--stand-in", "script.py")
    assert (done.returncode, done.stdout.strip()) == (0, f"yes {OURS}"), done.stderr


def test_modules_run_as_python_runs_them(suite: Path) -> None:
    """`-m` has the arguments, the path and the name that python -m gives; what is behind it is the module's."""
    (suite / "suite" / "tool.py").write_text("import sys\nprint(__name__, __package__, sys.argv[1:], sys.path[0])\n")
    words = ("-m", "tool", "--quiet", "--strict", "x")
    done = run(suite, "-m", "gradtape", "run", "--quiet", *words)
    assert done.stdout.split() == run(suite, *words).stdout.split()
    assert run(suite, "-m", "gradtape", "run", "-m", "no.such.module").returncode == 2
    unknown = run(suite, "-m", "gradtape", "run", "--stand-in=jax", "-m", "tool")
    assert unknown.returncode == 2
    assert "no stand-in for jax" in unknown.stderr
