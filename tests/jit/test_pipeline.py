"""The stages of the compiler: each can be printed, by name, in the order in which it is run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.errors import OperandError
from gradtape.jit import JitWarning, jit
from gradtape.jit.pipeline import STAGES


def smooth(x: Any) -> Any:
    return np.exp(x * 1.0) + np.linalg.eigvalsh(np.outer(x, x))


@pytest.fixture
def step() -> Any:
    compiled = jit(smooth)
    compiled(np.ones(3))
    return compiled


def test_stages_are_named_in_the_order_of_the_pipeline(step: Any) -> None:
    """Every stage has a text, and there are no others."""
    assert [*STAGES] == ["traced", "optimised", "scheduled", "llvm", "source"]
    assert all(step.stage(name) for name in STAGES)


def test_passes_come_between_traced_and_optimised(step: Any) -> None:
    """What is traced has the operation that changes nothing, what is optimised has not."""
    assert "multiply(%0, 1.0)" in step.stage("traced") == str(step.traced)
    assert "multiply(%0, 1.0)" not in step.stage("optimised")
    assert str(step.program).startswith(step.stage("optimised"))


def test_the_schedule_has_groups_and_kernels(step: Any) -> None:
    """Each step is a native group or a kernel, with its instructions."""
    text = step.stage("scheduled")
    assert "native group, %0" in text
    assert "NumPy kernel" in text
    assert "= exp(%0)" in text
    assert "= eigvalsh(" in text


def test_llvm_has_a_module_for_each_group(step: Any) -> None:
    """As many modules as groups."""
    text = step.stage("llvm")
    assert text.startswith("; native group 0")
    assert text.count("ModuleID") == step.stage("scheduled").count("native group")
    assert "define" in text


def test_llvm_of_a_loop_that_python_runs() -> None:
    """Groups in the body of a loop are native code of the program, too."""

    def repeat(x: Any) -> Any:
        for _ in range(60):
            x = np.tanh(x + np.linalg.eigvalsh(np.outer(x, x)))
        return x

    compiled = jit(repeat)
    with pytest.warns(JitWarning, match=r"GT702.*eigvalsh"):
        compiled(np.ones(3))
    assert "define" in compiled.stage("llvm")


def test_without_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then all steps are kernels, and the stage of LLVM says so."""
    monkeypatch.setattr(gt.config, "native", False)
    compiled = jit(smooth)
    compiled(np.ones(3))
    assert "native" not in compiled.stage("scheduled")
    assert compiled.stage("llvm") == "; no native code: every step is a NumPy kernel"


def test_source_is_what_is_run(step: Any) -> None:
    """The last stage is the function that runs the steps."""
    assert step.stage("source") == step.source


def test_a_stage_that_does_not_exist(step: Any) -> None:
    """The error lists those that do."""
    with pytest.raises(
        OperandError, match=r"no stage 'lowered'(.|\n)*'traced', 'optimised', 'scheduled', 'llvm', 'source'"
    ):
        step.stage("lowered")


def test_before_the_first_call() -> None:
    """There is nothing to print yet."""
    with pytest.raises(OperandError, match="has not been compiled yet"):
        jit(smooth).stage("traced")
