"""The pytest plugin: with --gradtape-strict, a finding that a test does not expect fails it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

LOST = """
import pytest
import gradtape as gt


def ask():
    w = gt.Variable([0.4, 1.6])
    with gt.GradientTape() as tape:
        y = gt.round(w).sum()
    return tape.gradient(y, w)

"""
FORGOTTEN = LOST + "def test_forgotten():\n    assert ask() is None\n"


def run(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `source` as a test file, in a process of its own that has no other plugins than those that are named."""
    (folder / "test_it.py").write_text(source)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    plugin = ["-p", "no:gradtape", "-p", "gradtape.pytest_plugin", "-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--rootdir", str(folder), *plugin, *options, "test_it.py"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=False,
    )


def test_finding_fails_the_test_with_its_explanation(tmp_path: Path) -> None:
    """A warning of gradtape's is a failure, and its text is the explanation without a traceback."""
    done = run(tmp_path, FORGOTTEN + "\n\ndef test_other():\n    pass\n", "--gradtape-strict")
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "[GT201] every gradient asked for is None" in done.stdout
    assert "test_it.py:9   y = gt.round(w).sum()" in done.stdout
    assert "assert ask() is None" not in done.stdout


def test_off_by_default(tmp_path: Path) -> None:
    """Without the option the test passes and the warning is pytest's business."""
    done = run(tmp_path, FORGOTTEN)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 warning" in done.stdout


def test_setting_in_the_configuration_file(tmp_path: Path) -> None:
    """`gradtape_strict = true` in the configuration file is the same as the option."""
    (tmp_path / "pytest.ini").write_text("[pytest]\ngradtape_strict = true\n")
    assert run(tmp_path, FORGOTTEN, "-c", "pytest.ini").returncode == 1


def test_what_is_expected_does_not_fail(tmp_path: Path) -> None:
    """gt.expect, pytest.warns, pytest.raises and a code that is off keep a finding from failing the test."""
    expecting = {
        "expect": 'with gt.expect("GT201"):\n        ask()',
        "warns": "with pytest.warns(gt.GradientWarning):\n        ask()",
        "raises": "with pytest.raises(gt.ShapeError):\n        gt.tensor([1.0, 2.0]) + gt.tensor([1.0, 2.0, 3.0])",
        "off": "with gt.explain.configure(GT201='off'):\n        ask()",
    }
    source = "\n\n".join(f"def test_{name}():\n    {body}\n" for name, body in expecting.items())
    done = run(tmp_path, LOST + source, "--gradtape-strict")
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout


def test_ignored_by_a_filter(tmp_path: Path) -> None:
    """A warning filter that ignores the warning is heeded."""
    mark = '@pytest.mark.filterwarnings("ignore::gradtape.GradientWarning")\n'
    done = run(tmp_path, LOST + mark + "def test_ignored():\n    ask()\n", "--gradtape-strict")
    assert done.returncode == 0, done.stdout


def test_each_test_hears_its_own_findings(tmp_path: Path) -> None:
    """The same line fails every test that reaches it, with and without pytest's handling of warnings."""
    source = LOST + "@pytest.mark.parametrize('n', [1, 2])\ndef test_twice(n):\n    ask()\n"
    assert "2 failed" in run(tmp_path, source, "--gradtape-strict").stdout
    assert "2 failed" in run(tmp_path, source, "--gradtape-strict", "-p", "no:warnings").stdout


def test_other_warnings_go_their_way(tmp_path: Path) -> None:
    """A warning that is not gradtape's is shown by pytest as ever, and caught by pytest.warns."""
    source = (
        "import warnings, pytest\n\n\ndef test_shown():\n    warnings.warn('careful')\n\n\n"
        "def test_caught():\n    with pytest.warns(UserWarning, match='careful'):\n        warnings.warn('careful')\n"
    )
    done = run(tmp_path, source, "--gradtape-strict")
    assert done.returncode == 0
    assert "2 passed, 1 warning" in done.stdout


def test_finding_of_a_fixture_is_an_error_of_the_test(tmp_path: Path) -> None:
    """What is found while a fixture is made is reported for the test that asked for it."""
    source = LOST + "@pytest.fixture\ndef lost():\n    return ask()\n\n\ndef test_uses(lost):\n    pass\n"
    done = run(tmp_path, source, "--gradtape-strict")
    assert "1 error" in done.stdout
    assert "[GT201]" in done.stdout


def test_works_in_several_processes(tmp_path: Path) -> None:
    """With xdist the failure and its text come back from the workers."""
    done = run(tmp_path, FORGOTTEN, "--gradtape-strict", "-p", "xdist", "-n", "1")
    assert done.returncode == 1
    assert "[GT201]" in done.stdout


def test_failing_test_keeps_its_own_failure(tmp_path: Path) -> None:
    """A test that fails by itself is reported with its own traceback."""
    done = run(tmp_path, LOST + "def test_fails():\n    assert ask() == 3\n", "--gradtape-strict")
    assert "assert ask() == 3" in done.stdout


def test_help_says_what_it_does(tmp_path: Path) -> None:
    """`pytest --help` describes the option and the setting."""
    text = " ".join(run(tmp_path, FORGOTTEN, "--help").stdout.split())
    assert "--gradtape-strict a test fails if gradtape warns in it" in text
    assert "gradtape_strict (bool)" in text


OBSERVING = """
import random
import warnings

import numpy as np


@pytest.fixture
def quiet():
    warnings.simplefilter("ignore")
    yield
    print("after", warnings.filters[0][0], len(warnings.filters))


@pytest.fixture
def collected():
    shown, before = [], warnings.showwarning
    warnings.showwarning = lambda message, category, *rest, **more: shown.append(category.__name__)
    yield shown
    warnings.showwarning = before


def test_recorded(recwarn):
    ask()
    warnings.warn("mine")
    print("recorded", [each.category.__name__ for each in recwarn])


def test_fixture_sets_a_filter(quiet):
    ask()
    warnings.warn("mine")
    print("filters", [entry[:3] for entry in warnings.filters])


def test_fixture_shows(collected):
    ask()
    warnings.warn("mine")
    print("shown", collected)


def test_compiled():
    random.seed(0)
    step = gt.jit(gt.value_and_grad(lambda w: np.sum(np.tanh(w * 40.0))))
    print("compiled", step(np.ones(3)), step.stats, step.program, random.random())


def test_own_failure():
    assert gt.Variable(1.0) == 2.0


def test_raised():
    with pytest.raises(gt.ShapeError), warnings.catch_warnings():
        warnings.simplefilter("error")
        gt.Variable([1.0, 2.0]) + gt.Variable([1.0, 2.0, 3.0])


def test_others_warnings():
    with pytest.warns(RuntimeWarning) as caught:
        np.log(np.zeros(2))
    print("others", len(caught), warnings.filters[0][:3])
    np.log(np.zeros(3))
"""


def test_strict_mode_changes_nothing_that_a_test_observes(tmp_path: Path) -> None:
    """Recorders and filters of fixtures, counters, outcomes and warnings of others are the same in strict mode."""
    done = [run(tmp_path, LOST + OBSERVING, "-s", "-rA", *options) for options in ([], ["--gradtape-strict"])]
    kept = [
        [line for line in each.stdout.splitlines() if not line.startswith(("=", "-")) and " passed" not in line]
        for each in done
    ]
    assert "recorded ['GradientWarning', 'UserWarning']" in done[0].stdout
    assert "shown ['GradientWarning', 'UserWarning']" in done[0].stdout
    assert kept[1] == kept[0]
    assert [each.returncode for each in done] == [1, 1]
    assert ["1 failed, 6 passed" in each.stdout for each in done] == [True, True]
