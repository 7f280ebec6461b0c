"""Watches programs that compute gradients with JAX: functions that it differentiates or compiles, as it traces them.

watcher       what is begun, judged and ended
hooks         what is replaced in JAX
calls         calls of functions that `jax.grad` and `jax.jit` have made
programs      programs under `jax.jit`, and their operations in the place of a call
recorder      the records of what a function executes
operations    JAX's names in those of gradtape's table
evaluate      the values of a program under `jax.jit`
loops         NaN and infinity inside of loops and branches
replay        an operation and its rule, executed again
gradients     what is judged when a gradient was taken
losses        what losses are given
queries       why a gradient is what it is; whether the examples of a batch are independent
updates       parameters that no update reaches
rules         `jax.custom_vjp` and `jax.custom_jvp`
errors        JAX's own errors, explained: shapes, writes, structures
failures      the user's expression and the frames of JAX behind an error
tracing_errors, request_errors   values that are not there while tracing; what `jax.grad` is asked, and rules
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """`Watcher`, loaded when it is asked for: it imports JAX, which the table beside it does without."""
    if name != "Watcher":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gradtape.watching.jax.watcher import Watcher

    return Watcher


__all__ = ["Watcher"]
