"""A plugin for pytest: with `--gradtape-strict`, what gradtape warns of in a test is a failure of that test.

Known to pytest by the entry point of the package, and off unless asked for. What a test expects does not fail
it: `with gt.expect("GT101")`, `pytest.warns(gt.BroadcastWarning)`, `pytest.raises(gt.ShapeError)`, a warning filter
that ignores it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gradtape.explain.problem import Problem

OPTION = "--gradtape-strict"


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
        from gradtape.explain.locked import explain

        explain(call.excinfo.value)


def _listened(item: pytest.Item) -> Iterator[None]:
    if not (item.config.getoption(OPTION) or item.config.getini("gradtape_strict")):
        return (yield)
    found: list[Problem] = []
    with warnings.catch_warnings():
        warnings.showwarning = _collecting(found)
        result = yield
    if found:
        pytest.fail("\n\n".join(problem.to_text() for problem in found), pytrace=False)
    return result


def _collecting(found: list[Problem]) -> Any:
    """Called for every warning that is shown: neither for those a test expects, nor for those a filter ignores."""
    before: Any = warnings.showwarning
    module: Any = warnings
    record = module._showwarnmsg_impl if before is module._showwarning_orig else None  # pytest's own list

    def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        problem: Any = getattr(message, "problem", None)
        if type(problem).__module__ == "gradtape.explain.problem":
            found.append(problem)
        elif record is not None:
            record(warnings.WarningMessage(message, category, filename, lineno, file, line))
        else:
            before(message, category, filename, lineno, file, line)

    return show
