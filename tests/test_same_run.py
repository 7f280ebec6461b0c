"""A script does the same whether it is run by `python` or by `gradtape run`, with every option: output, status, files.

The scripts in `same_run/` print all that they can observe: counters and programs of compiled functions, how often their
functions are called, bits, random states, warnings, what is freed and when, names and handlers of the interpreter. What
may differ is on stderr, and listed in docs/explanations.md.
"""

from __future__ import annotations

import difflib
import json
import os
import random
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jit import random_loops
from jit.test_random_programs import BINARY, UNARY, grown
from test_examples import EXAMPLES, NEEDS, ROOT
from test_examples import RUNS as EXAMPLE_RUNS

import gradtape as gt
from gradtape.explain.report import Collector

SCRIPTS = ROOT / "tests" / "same_run"
NAMES = sorted(path.stem for path in SCRIPTS.glob("*.py") if path.stem != "endings")
ENDINGS = ["fail", "clash", "odd", "none", "closed", "text", "256", "well"]


def python(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """`python` with these arguments, as a user would call it."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )


def assert_same(script: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a script alone, and with a report in strict mode; what it prints and its status are the same. The latter."""
    alone = python(script, *arguments, cwd=cwd)
    options = ["--strict", "--report", "report.html", "--json", "found.json"]
    observed = python("-m", "gradtape", "run", *options, script, "--", *arguments, cwd=cwd)
    different = difflib.unified_diff(alone.stdout.splitlines(), observed.stdout.splitlines(), "python", "run", n=1)
    assert "\n".join(different) == "", observed.stderr
    assert observed.stdout == alone.stdout
    if (cwd / "found.json").exists():
        found = json.loads((cwd / "found.json").read_text(encoding="utf-8"))
        assert found["status"] % 256 == alone.returncode, observed.stderr
        said = {"warning", "error"} & {problem["voice"] for problem in found["problems"]}
        assert observed.returncode == (alone.returncode or bool(said))
        assert (cwd / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    else:  # it has left without a word
        assert observed.returncode == alone.returncode
    return observed


@pytest.mark.parametrize("name", NAMES)
def test_script_observes_nothing(name: str, tmp_path: Path) -> None:
    """A report in strict mode changes nothing that the script can observe."""
    assert_same(SCRIPTS / f"{name}.py", "--steps", "3", cwd=tmp_path)


@pytest.mark.parametrize("name", ["custom_rules", "jit_counters", "warning_state"])
def test_run_without_options(name: str, tmp_path: Path) -> None:
    """Neither does `gradtape run` alone."""
    alone = python(SCRIPTS / f"{name}.py", cwd=tmp_path)
    observed = python("-m", "gradtape", "run", SCRIPTS / f"{name}.py", cwd=tmp_path)
    assert (observed.stdout, observed.returncode) == (alone.stdout, alone.returncode)


@pytest.mark.parametrize("name", [name for name in EXAMPLE_RUNS if name not in NEEDS])
def test_example_is_the_same(name: str, tmp_path: Path) -> None:
    """A report in strict mode changes nothing in the examples."""
    assert_same(EXAMPLES / name, *EXAMPLE_RUNS[name][0], cwd=tmp_path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_script_ends_as_without(ending: str, tmp_path: Path) -> None:
    """The status is that of the script, what it has registered for its end runs, and its error is seen."""
    observed = assert_same(SCRIPTS / "endings.py", ending, cwd=tmp_path)
    errors = {
        "fail": "RuntimeError: an error of",
        "clash": "ShapeError: [GT110]",
        "odd": "Odd: odd",
        "none": "TypeError:",
    }
    if ending in errors:
        assert 'endings.py", line ' in observed.stderr
        assert errors[ending] in observed.stderr
    assert ("a message\n" in observed.stderr) == (ending == "text")


def test_report_shows_functions_that_are_compiled(tmp_path: Path) -> None:
    """The gradients of a compiled function and of custom rules are in the report, although nothing is run for it."""
    script = tmp_path / "compiled.py"
    script.write_text(
        "import numpy as np\nimport gradtape as gt\n\n"
        "step = gt.jit(gt.value_and_grad(lambda w: np.sum(np.tanh(w * 40.0))))\nprint(step(np.ones(5)), step.stats)\n\n"
        "double = gt.custom_vjp(lambda x: x * 2.0)\n"
        "double.defvjp(lambda x: (x * 2.0, None), lambda saved, g: (print('called') or g * 2.0,))\n"
        "print(gt.grad(lambda x: np.sum(double(x) ** 2))(np.ones(3)))\n"
    )
    observed = assert_same(script, cwd=tmp_path)
    assert observed.stdout.count("called") == 1
    assert "note: [GT503]" in observed.stderr
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "could not be looked at" not in page
    assert "np.tanh(w * 40.0)" in page


@pytest.mark.parametrize(
    ("option", "script"), [("-B", "./one.py"), ("-B", "inner/../link.py"), ("-P", "one.py"), ("-B", "broken.py")]
)
def test_script_is_found_where_python_finds_it(option: str, script: str, tmp_path: Path) -> None:
    """The path of the script, of its folder and of its arguments are those of Python, however it is named."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "real.py").write_text(
        "\ufeffimport sys\r\nprint(__file__, sys.argv, sys.path, sys.flags)\r\n"
    )
    (tmp_path / "one.py").write_text((tmp_path / "inner" / "real.py").read_text())
    (tmp_path / "broken.py").write_text("print(1)\nx = = 2\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "inner" / "real.py")
    alone = python(option, script, "-x", cwd=tmp_path)
    observed = python(option, "-m", "gradtape", "run", "--quiet", script, "-x", cwd=tmp_path)
    assert (observed.stdout, observed.stderr, observed.returncode) == (alone.stdout, alone.stderr, alone.returncode)


def test_report_is_written_where_the_run_began(tmp_path: Path) -> None:
    """A relative path of a report is that of the caller, also if the script goes to another folder."""
    script = tmp_path / "leaving.py"
    script.write_text("import os\n\nos.mkdir('inner')\nos.chdir('inner')\n")
    assert python("-m", "gradtape", "run", "--report", "out.html", "leaving.py", cwd=tmp_path).returncode == 0
    assert (tmp_path / "out.html").exists()
    assert not list((tmp_path / "inner").iterdir())


def random_gradient(seed: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A gradient of a random program or of a random loop, of first or second order, and what it is called with."""
    choose, numbers = random.Random(seed), np.random.default_rng(seed)
    if seed % 4 == 0:
        loop = random_loops.asked(random_loops.function(seed), choose.randint(1, 3))
        return loop, (numbers.uniform(0.1, 1.0, 8), numbers.uniform(0.1, 1.0, 100))
    count = len(UNARY) + len(BINARY)
    plan = [(choose.randrange(count), choose.randrange(8), choose.randrange(8)) for _ in range(choose.randint(1, 30))]
    shapes = [choose.choice([(), (3,), (2, 3), (3, 3), (0, 3), (2, 2, 3)]) for _ in range(choose.randint(1, 3))]

    def function(arrays: Any) -> Any:
        return grown(plan)(*arrays)

    def second(arrays: Any) -> Any:
        return sum(np.sum(slope * slope) for slope in gt.grad(function)(arrays))

    taken = gt.grad(second) if choose.random() < 0.3 else gt.value_and_grad(function)
    return taken, ([numbers.uniform(-1.5, 1.5, shape) for shape in shapes],)


@pytest.mark.parametrize("seed", range(1003, 1015))
def test_traced_program_is_the_same_when_observed(seed: int) -> None:
    """A survey and a collector leave no instruction, constant or guard in the program of a random function."""
    function, arguments = random_gradient(seed)
    programs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gt.GradientWarning)  # accidents of broadcasting are meant here
        for is_observed in (False, False, True):  # loops are found sooner in the second trace, observed or not
            step = gt.jit(function)
            with ExitStack() as observers:
                if is_observed:
                    observers.enter_context(gt.explain.surveying(lambda problem: None))
                    seen = observers.enter_context(Collector(is_private=True))
                step.lower(*arguments)
            programs.append((str(step.traced), str(step.stats)))
    assert programs[2] == programs[1]
    assert seen.gradients
