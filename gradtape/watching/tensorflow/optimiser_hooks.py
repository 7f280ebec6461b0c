"""Hooks at the optimisers of Keras: gradients that are applied to another variable, and losses that are not scaled."""

from __future__ import annotations

import ast
import importlib
import weakref
from collections.abc import Sequence
from typing import Any

from gradtape.explain.emit.policy import is_due, warn
from gradtape.explain.messages import problem
from gradtape.explain.messages.build import at
from gradtape.explain.model.problem import Problem, source_edit
from gradtape.explain.source.expression import UserExpression, site_at
from gradtape.explain.source.files import one_line
from gradtape.watching.record import WatchedRecord
from gradtape.watching.tensorflow.applied_gradients import AppliedGradients
from gradtape.watching.tensorflow.gradients import Request
from gradtape.watching.tensorflow.hooks import Patches
from gradtape.watching.tensorflow.recording import Recording

ANSWERS_AT_MOST = 2048


class OptimiserHooks:
    """Compares what an optimiser applies with what the tapes were asked for."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._recorder = recording.recorder
        self._answers: dict[int, tuple[weakref.ref[Any], WatchedRecord, Request]] = {}
        self._applied = AppliedGradients(recording.recorder)
        self._scaling: weakref.WeakSet[Any] = weakref.WeakSet()  # optimisers that have scaled a loss

    def patch(self, patches: Patches) -> None:
        """Put the hooks in place, if this is Keras 3."""
        try:
            base = importlib.import_module("keras.src.optimizers.base_optimizer").BaseOptimizer
            scaling = importlib.import_module("keras.src.optimizers.loss_scale_optimizer").LossScaleOptimizer
        except ImportError:  # another Keras than version 3
            return
        patches.wrap(base, "apply", self._wrap_apply)
        patches.wrap(scaling, "apply", self._wrap_scaled_apply)
        patches.wrap(scaling, "scale_loss", self._wrap_scale_loss)

    def note_answers(self, request: Request, answers: Sequence[Any]) -> None:
        """Remember which variable each gradient belongs to."""
        for source, gradient in zip(request.sources, answers):
            record = self._recorder.record_of(source)
            if record is not None and gradient is not None and record.is_variable:
                self._answers[id(gradient)] = weakref.ref(gradient), record, request
        while len(self._answers) > ANSWERS_AT_MOST:
            del self._answers[next(iter(self._answers))]
        self._applied.note_answers(request, answers)

    def finish(self) -> None:
        """Report the variables that never had a gradient."""
        self._applied.finish()

    def _wrap_apply(self, original: Any) -> Any:
        def apply(optimiser: Any, grads: Any, trainable_variables: Any = None) -> Any:
            if self._recording.is_on and self._recording.is_mine() and trainable_variables is not None:
                grads, trainable_variables = list(grads), list(trainable_variables)
                self._recording.guard.attempt(self._judge_order, grads, trainable_variables)
                self._recording.guard.attempt(self._see, grads, trainable_variables)
            return original(optimiser, grads, trainable_variables)

        return apply

    def _wrap_scaled_apply(self, original: Any) -> Any:
        def apply(optimiser: Any, grads: Any, trainable_variables: Any = None) -> Any:
            if self._recording.is_on and self._recording.is_mine() and optimiser not in self._scaling:
                self._recording.guard.attempt(self._judge_scale, optimiser, grads)
            return original(optimiser, grads, trainable_variables)

        return apply

    def _wrap_scale_loss(self, original: Any) -> Any:
        def scale_loss(optimiser: Any, loss: Any) -> Any:
            self._scaling.add(optimiser)
            return original(optimiser, loss)

        return scale_loss

    def note_operation(self, kind: str, inputs: Any, outputs: Any) -> None:
        """Follow what the program computes of gradients."""
        if self._answers:
            self._applied.note_operation(kind, inputs, outputs, self._answers)

    def _see(self, grads: Any, variables: Any) -> None:
        self._applied.see(grads, variables, self._answers)

    def _judge_order(self, grads: Any, variables: Any) -> None:
        for gradient, variable in zip(grads, variables):
            reference, wanted, request = self._answers.get(id(gradient), (None, None, None))
            given = self._recorder.record_of(variable)
            if reference is None or reference() is not gradient or wanted is None or given is None or given is wanted:
                continue
            if request is not None and any(self._recorder.record_of(source) is given for source in request.sources):
                self._warn(_order_problem(wanted, given, request))
                return

    def _judge_scale(self, optimiser: Any, grads: Any) -> None:
        """A loss-scaling optimiser that has never scaled a loss gets gradients that a tape has given."""
        if not any(id(gradient) in self._answers for gradient in grads):
            return
        site = UserExpression.present()
        tree = site.source.tree
        names = {getattr(node, "attr", "") for node in ([] if tree is None else ast.walk(tree))}
        if names & {"scale_loss", "dynamic_scale", "initial_scale"}:
            return  # it may be scaled elsewhere, or by hand
        request = next(self._answers[id(g)][2] for g in grads if id(g) in self._answers)
        self._warn(
            problem(
                "GT512",
                f"{type(optimiser).__name__} divides the gradients by its scale, and the loss was not multiplied by it",
                spans=[site.span, at(request.location, "the gradient of the loss is taken here")],
                consequence="the steps are smaller by the scale, 32768 at first: next to nothing is learned",
                fixes="loss = optimizer.scale_loss(loss) inside the with block of the tape, before tape.gradient",
            )
        )

    def _warn(self, found: Problem) -> None:
        if is_due(found.code, *found.place[1:]):
            warn(found)


def _order_problem(wanted: WatchedRecord, given: WatchedRecord, request: Request) -> Problem:
    """A gradient is paired with another variable than the one it was asked for."""
    site = UserExpression.present()
    asked = site_at(request.location)
    call = asked.node.value if isinstance(asked.node, ast.Expr) else asked.node
    listed = call.args[1] if isinstance(call, ast.Call) and len(call.args) > 1 else None
    offered: list[str] = []
    statement = None if site.node is None else site.source.statement(site.node)
    pairs = [
        node
        for node in ([] if statement is None else ast.walk(statement))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "zip" and len(node.args) == 2
    ]
    if len(pairs) == 1 and listed is not None and asked.source is site.source:
        offered = [source_edit(one_line(asked.source.text(listed)), site.source.span(pairs[0].args[1]))]
    name, other = _name(wanted), _name(given)
    return problem(
        "GT306",
        f"the gradient of {name} is applied to {other}: gradients and variables are in different order",
        spans=[site.span, at(request.location, "asked for in this order")],
        consequence="each variable moves by the gradient of another one",
        fixes=[*offered, "zip(gradients, variables) with the list that the gradients were asked for"],
    )


def _name(record: WatchedRecord) -> str:
    return str(getattr(record, "name", "") or "a variable")


__all__ = ["OptimiserHooks"]
