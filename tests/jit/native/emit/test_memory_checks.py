"""The checking mode of native code: accesses outside of buffers, memory that was not written, and guard zones."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import gradtape as gt
from gradtape.config import config
from gradtape.errors import OperandError
from gradtape.jit.native.emit import block, nest
from gradtape.jit.native.emit.memory_checks import CheckFailed, Guarded
from gradtape.jit.native.emit.nest import NestCode
from gradtape.jit.native.schedule import verify, workspace

from ..programs import Builder, by_kernels


def scattered(builder):
    """Half of an array in another one that is filled up with zeros."""
    x = builder.input((6,))
    doubled = builder("multiply", x, 2.0)
    return builder("scatter", doubled, index=(slice(0, 12, 2),), shape=(12,))


def test_the_numbers_are_the_same():
    """Checked code computes the bits that unchecked code computes."""
    builder = Builder()
    outputs = [scattered(builder), builder("sum", builder.values[1], axis=None, keepdims=False)]
    array = np.linspace(0.0, 1.0, 6)
    checked = builder.group(*outputs)(array)
    config.check = "off"
    for one, other in zip(checked, builder.group(*outputs)(array), strict=True):
        assert one.tobytes() == other.tobytes()
    np.testing.assert_allclose(checked[0], by_kernels(builder, [array], outputs)[0])


def test_an_access_outside_of_a_buffer_is_reported(monkeypatch):
    """A load that begins too far on raises, and names the function and the buffer."""
    monkeypatch.setattr(verify, "verify_plan", lambda plan: None)
    start = nest.NestEmitter.start
    monkeypatch.setattr(nest.NestEmitter, "start", lambda self, key: start(self, key) + 3)
    builder = Builder()
    group = builder.group(builder("sin", builder.input((5,))))
    with pytest.raises(CheckFailed, match=r"nest_0 (reads|writes) .* outside of slot_\d"):
        group(np.ones(5))


def test_memory_that_was_not_written_is_reported(monkeypatch):
    """Where zeros around a scatter are forgotten, the output is refused."""

    def emit_nothing(module, name, places):
        nest.emit_zeros(module, name, [])
        return NestCode(name, 1, None, 0, False, {})

    monkeypatch.setattr(block, "emit_zeros", emit_nothing)
    builder = Builder()
    group = builder.group(scattered(builder))
    with pytest.raises(CheckFailed, match="output 0 was computed from memory that had not been written"):
        group(np.ones(6))


def test_a_temporary_that_is_read_after_its_end_is_reported(monkeypatch):
    """Memory is filled with poison when the next temporary begins in it, so that its old contents are not read."""
    monkeypatch.setattr(verify, "verify_workspace", lambda *arguments: None)
    arrange = workspace.Workspace.arrange

    def all_at_the_start(self, *arguments, **options):
        arranged = arrange(self, *arguments, **options)
        return arranged._replace(offsets=dict.fromkeys(arranged.offsets, 0))

    monkeypatch.setattr(workspace.Workspace, "arrange", all_at_the_start)
    builder = Builder()
    x = builder.input((40,))
    total = builder("sum", builder("sin", x), axis=None, keepdims=True)
    top = builder("max", builder("multiply", x, total), axis=None, keepdims=True)
    result = builder("multiply", builder("add", total, top), x)
    with pytest.raises(CheckFailed):
        builder.group(result)(np.linspace(1.0, 2.0, 40))


def test_guard_zones_are_compared():
    """A write before or after an array, or to an input, raises."""
    for distance, what in ((-8, "before"), (24, "after")):
        guarded = Guarded((3,), np.dtype(float), "input 0", np.zeros(3))
        ctypes.c_double.from_address(guarded.array.ctypes.data + distance).value = 1.0
        with pytest.raises(CheckFailed, match=f"wrote to memory {what} input 0"):
            guarded.check()
    guarded = Guarded((3,), np.dtype(float), "input 0", np.zeros(3))
    guarded.array[1] = 1.0
    with pytest.raises(CheckFailed, match="changed input 0"):
        guarded.check()


def test_a_failed_check_is_an_error_and_no_reason_to_run_uncompiled(monkeypatch):
    """jit falls back to the function where its program fails, but not in the checking modes."""
    monkeypatch.setattr(verify, "verify_plan", lambda plan: None)
    start = nest.NestEmitter.start
    monkeypatch.setattr(nest.NestEmitter, "start", lambda self, key: start(self, key) + 3)
    compiled = gt.jit(lambda x: np.sin(x) + 1.0)
    with pytest.raises(CheckFailed):
        compiled(np.ones(5))


def test_the_environment_switches_it_on():
    """GRADTAPE_CHECK sets the mode, and an unknown mode is refused with those that there are."""
    code = "import gradtape as gt; print(gt.config.check)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"GRADTAPE_CHECK": "memory"}
    )
    assert run.stdout.strip() == "memory"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"GRADTAPE_CHECK": "yes"}
    )
    assert '"off", "verify" or "memory"' in run.stderr
    with pytest.raises(OperandError, match=r"gt\.config\.check = 1"):
        config.check = 1
