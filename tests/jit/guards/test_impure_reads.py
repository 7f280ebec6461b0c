"""Which functions are watched for impure reads while they are traced: watching takes longer than tracing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import stack as frames
from typing import Any

import numpy as np
import pytest

from gradtape.jit import JitWarning, jit
from gradtape.jit.guards.impure_reads import _find_codes_to_watch


def stacks(x: Any) -> Any:
    return np.stack([x, x * 2.0])


def reads_frames(x: Any) -> Any:
    return x * len(inspect.stack()[:1])


def reads_frames_by_an_alias(x: Any) -> Any:
    return x * len(frames()[:1])


def reads_frames_of_a_local_module(x: Any) -> Any:
    import inspect as tools

    return x * len(tools.stack()[:1])


def test_stacks_of_arrays_are_not_watched() -> None:
    """`np.stack` has the name of a function of `inspect`, and reads nothing."""
    assert not _find_codes_to_watch([stacks])  # type: ignore[list-item]


@pytest.mark.parametrize("function", [reads_frames, reads_frames_by_an_alias, reads_frames_of_a_local_module])
def test_functions_that_read_frames_are_not_compiled(function: Callable[..., Any]) -> None:
    """The frames of other functions are no part of a program, by whatever name `inspect.stack` is called."""
    compiled = jit(function)
    with pytest.warns(JitWarning, match="names of other functions"):
        assert np.array_equal(compiled(np.ones(2)), np.ones(2))
    assert compiled.stats.uncompiled == 1
