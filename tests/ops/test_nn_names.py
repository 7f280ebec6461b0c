"""`gt.nn.functional`: each name is listed, loaded when first needed, and documented with an example that runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gradtape as gt
from gradtape.core.operation import Op

F = gt.nn.functional
ROOT = Path(__file__).parent.parent.parent
CHAPTERS = ["activations", "attention", "convolution", "cross_entropy", "distances", "labels", "layers", "losses"]
CHAPTERS += ["normalisation", "pooling", "rectifiers"]
SHARED = ["log_softmax", "logsumexp", "relu", "sigmoid", "softmax", "tanh"]


def chapter(name: str) -> Any:
    return importlib.import_module(f"gradtape.ops.{name}")


def test_every_public_name_of_the_chapters_is_offered() -> None:
    """What the chapters list is in the namespace, and nothing else but what it shares with `gt`."""
    listed = [name for each in CHAPTERS for name in chapter(each).__all__]
    assert sorted(listed + SHARED) == sorted(F.__all__)
    for each in CHAPTERS:
        for name in chapter(each).__all__:
            assert getattr(F, name) is getattr(chapter(each), name)


@pytest.mark.parametrize("name", SHARED)
def test_shared_names_are_the_same_functions(name: str) -> None:
    """What `gt` has by the same name is the same function."""
    assert getattr(F, name) is getattr(gt, name)


@pytest.mark.parametrize("name", sorted(F.__all__))
def test_examples_run(name: str) -> None:
    """The docstring begins with a sentence and has an example, and its output is what is printed."""
    documented = inspect.getdoc(getattr(F, name)) or ""
    assert documented.partition("\n")[0].endswith(".")
    test = doctest.DocTestParser().get_doctest(documented, {}, name, None, None)
    assert len(test.examples) >= 2
    report: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=report.append).failed == 0, "".join(report)


@pytest.mark.parametrize("name", [name for name in sorted(F.__all__) if not isinstance(getattr(F, name), Op)])
def test_every_argument_has_a_type(name: str) -> None:
    """Every argument and the result are annotated."""
    signature = inspect.signature(getattr(F, name))
    assert signature.return_annotation is not inspect.Signature.empty
    assert [p.name for p in signature.parameters.values() if p.annotation is inspect.Parameter.empty] == []


@pytest.mark.parametrize("module", ["gradtape.nn", "gradtape.nn.functional"])
def test_examples_of_the_modules_run(module: str) -> None:
    """The examples of the packages themselves give what they say."""
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_the_chapters_wait_until_they_are_needed() -> None:
    """`import gradtape` loads none of them; `gt.nn` does."""
    code = (
        "import sys, gradtape\n"
        f"chapters = [f'gradtape.ops.{{name}}' for name in {CHAPTERS!r}]\n"
        "assert not any(name in sys.modules for name in chapters), 'loaded too early'\n"
        "gradtape.nn.functional.conv2d\n"
        "assert all(name in sys.modules for name in chapters), 'not loaded'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
