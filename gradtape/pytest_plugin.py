"""A plugin for pytest: with `--gradtape-strict`, what gradtape warns of in a test is a failure of that test.

Known to pytest by the entry point of the package, and off unless asked for. What a test expects does not fail
it: `with gt.expect("GT101")`, `pytest.warns(gt.BroadcastWarning)`, `pytest.raises(gt.ShapeError)`, a warning filter
that ignores it. Tests of programs for PyTorch, TensorFlow, Keras and JAX are watched, as by `gt.watch()`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gradtape.explain.model.problem import Problem

OPTION = "--gradtape-strict"
SHOWN_BEFORE = pytest.StashKey[tuple[Any, Any]]()
"""How warnings were shown when the setup of a test began."""
STAND_IN = "GRADTAPE_STAND_IN"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option, and the setting `gradtape_strict` of the configuration file."""
    group = parser.getgroup("gradtape", "gradients, explained")
    group.addoption(
        OPTION,
        action="store_true",
        default=None,
        help="a test fails if gradtape warns in it (an accidental broadcast, a gradient that is None or NaN ...) and "
        "the test does not expect it: with gt.expect('GT101'), pytest.warns or pytest.raises",
    )
    parser.addini("gradtape_strict", f"the same as {OPTION}", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Raise if stand-ins were asked for and this process, a worker say, was started without them."""
    if not os.environ.get(STAND_IN):
        return
    from gradtape.standins_package import PACKAGE, import_standins

    try:
        missing = import_standins("child_processes").missing_here()
    except ImportError as error:
        if error.name != PACKAGE:
            raise
        raise pytest.UsageError(f"{STAND_IN}={os.environ[STAND_IN]} asks for stand-ins: {error}") from None
    if missing:
        raise pytest.UsageError(
            f"{STAND_IN}={os.environ[STAND_IN]} asks for stand-ins, and in this process {', '.join(missing)} is not "
            "stood in for: it was started without the PYTHONPATH of gradtape run (python -I and -E do not read it).\n"
            f"  fix: gradtape run --stand-in={os.environ[STAND_IN]} -m pytest"
        )


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say for which libraries gradtape stands in, if for any."""
    named = os.environ.get(STAND_IN)
    return f"gradtape stands in for: {named.replace(',', ', ')}" if named else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """What is found while fixtures are made fails the test they are made for."""
    yield from _listened(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """What is found in the test fails it."""
    yield from _listened(item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    """A write to an array that a gradient rule has locked is refused by NumPy, and explained by us; asked or not."""
    if call.excinfo is not None and "gradtape" in sys.modules and isinstance(call.excinfo.value, ValueError):
        from gradtape.explain.kernel.locked_write import explain_refused_write

        explain_refused_write(call.excinfo.value)


def _listened(item: pytest.Item) -> Iterator[None]:
    """Listen while a phase of a test runs. The test finds and leaves the state of `warnings` as without us."""
    if not (item.config.getoption(OPTION) or item.config.getini("gradtape_strict")):
        return (yield)
    module: Any = warnings
    before = module.showwarning, module._showwarnmsg_impl
    if item.stash.setdefault(SHOWN_BEFORE, before) != before:
        return (yield)  # a fixture, such as recwarn, records the warnings of the test
    if not item.config.pluginmanager.has_plugin("warnings") and "gradtape.explain.emit.policy" in sys.modules:
        from gradtape.explain.emit.policy import (
            forget_warned,  # else pytest sees to it that a test hears its own warnings
        )

        forget_warned()
    from gradtape.watching import watch

    listener = _Listener()
    module.showwarning = listener.show
    try:
        with watch():  # tests of programs for PyTorch, TensorFlow or JAX
            result = yield
    finally:
        listener.is_over = True
        if module.showwarning == listener.show:  # else a fixture has replaced it, and puts it back in its own time
            module.showwarning = before[0]
    if listener.found:
        pytest.fail("\n\n".join(problem.to_text() for problem in listener.found), pytrace=False)
    return result


class _Listener:
    """Shows warnings as before, and keeps those of ours: neither those a test expects, nor those a filter ignores."""

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.is_over = False
        self._before: Any = warnings.showwarning
        module: Any = warnings
        is_usual = self._before is module._showwarning_orig
        self._record = module._showwarnmsg_impl if is_usual else None  # pytest's own list

    def show(self, message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        """Called for every warning that is shown."""
        problem: Any = getattr(message, "problem", None)
        if not self.is_over and type(problem).__module__ == "gradtape.explain.model.problem":
            self.found.append(problem)
        elif self._record is not None:
            self._record(warnings.WarningMessage(message, category, filename, lineno, file, line))
        else:
            self._before(message, category, filename, lineno, file, line)
