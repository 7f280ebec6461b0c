"""The functions of explanations that the kernel calls are loaded by name, when they are first called."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gradtape.explain import entry_points


@pytest.mark.parametrize("name", entry_points.__all__)
def test_every_name_is_a_function_of_its_module(name: str) -> None:
    """The table names the module that has the function, and type checkers see the same one."""
    function = entry_points.__getattr__(name)
    assert callable(function)
    assert function is getattr(entry_points, name)
    assert function.__name__ == name


def test_names_and_modules_are_the_same() -> None:
    """Every name has a module."""
    assert sorted(entry_points._HOMES) == entry_points.__all__


def test_other_names() -> None:
    """There is no function of another name."""
    with pytest.raises(AttributeError, match="has no function 'explain'"):
        entry_points.explain  # type: ignore[attr-defined]  # noqa: B018


def test_a_healthy_gradient_loads_no_explanation() -> None:
    """The modules are not imported by a program that has no problem."""
    code = """
import sys
import gradtape as gt
x = gt.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
print([name for name in sys.modules if name.startswith(("gradtape.explain.detectors", "gradtape.explain.queries"))])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
