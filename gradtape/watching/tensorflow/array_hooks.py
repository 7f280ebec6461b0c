"""Hook at `tf.TensorArray.write` in a graph, whose result is the array from then on."""

from __future__ import annotations

import ast
from typing import Any

from tensorflow.python.eager import context
from tensorflow.python.ops import tensor_array_ops

from gradtape.core.location import Location
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import source_edit
from gradtape.explain.source.expression import site_at
from gradtape.explain.source.files import one_line
from gradtape.watching.tensorflow.hooks import Patches
from gradtape.watching.tensorflow.recording import Recording

METHODS = ("write", "unstack", "split", "scatter")


class ArrayHooks:
    """Reports what is written to a TensorArray of a graph and not kept."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def patch(self, patches: Patches) -> None:
        """Put the hooks in place."""
        for name in METHODS:
            patches.wrap(tensor_array_ops.TensorArray, name, self._wrap_write)

    def _wrap_write(self, original: Any) -> Any:
        def write(array: Any, *arguments: Any, **options: Any) -> Any:
            if self._recording.is_on and not context.executing_eagerly() and self._recording.is_mine():
                self._recording.guard.attempt(self._judge, Location.here())
            return original(array, *arguments, **options)

        return write

    def _judge(self, location: Location) -> None:
        """Report a call that is a statement of its own."""
        site = site_at(location)
        statement = None if site.node is None else site.source.statement(site.node)
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in METHODS:
            return
        name = one_line(site.source.text(call.func.value))
        span = site.source.span(call)
        found = problem(
            "GT202",
            f"what is written to {name} is lost: in a graph, {call.func.attr} returns a new TensorArray, which is not "
            "kept",
            spans=[span],
            consequence="the target is not computed from what was written, and its gradient is None or zero",
            fixes=[source_edit(f"{name} = {one_line(span.text)}", span), f"{name} = {name}.{call.func.attr}(...)"],
        )
        if is_due("GT202", *found.place[1:]):
            report(found)


__all__ = ["ArrayHooks"]
