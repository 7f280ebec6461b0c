"""The registry of native lowerings: each operation has one row, and each call an emitter."""

import subprocess
import sys
from importlib import import_module

import pytest

from gradtape.jit.native.lower.support import CALLS, LOWERINGS


@pytest.mark.parametrize("emitter", sorted({str(lowering.emitter) for lowering in CALLS.values()}))
def test_emitters_exist(emitter):
    """The name of an emitter is that of a module with a function `emit_call`."""
    assert callable(import_module(f"gradtape.jit.native.emit.{emitter}").emit_call)


def test_only_rows_with_a_condition_share_a_name():
    """A row without a condition takes all instructions of its names, so that a later one would never be used."""
    taken = set()
    for lowering in LOWERINGS:
        assert not taken & lowering.names
        if lowering.applies is None:
            taken |= lowering.names


def test_emitters_are_loaded_when_they_are_used():
    """A program without calls loads no emitter of calls."""
    code = (
        "import sys, numpy as np, gradtape as gt\n"
        "gt.jit(lambda x: np.sin(x) + x)(np.ones(3))\n"
        "print(*(name for name in sys.argv[1:] if f'gradtape.jit.native.emit.{name}' in sys.modules))"
    )
    emitters = {str(lowering.emitter) for lowering in CALLS.values()}
    run = subprocess.run([sys.executable, "-c", code, *emitters], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
