"""Errors of requests for gradients: a target that is no tensor, a tape that was asked before, a seed that does not fit,
something that no tape can watch.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.location import Location
from gradtape.explain.fixes.shape_edits import add_argument
from gradtape.explain.graph.cuts import fix_for
from gradtape.explain.messages import problem
from gradtape.explain.messages.build import at, here
from gradtape.explain.model.problem import Problem, source_edit
from gradtape.explain.source.expression import UserExpression, replace_span
from gradtape.explain.source.files import one_line, source_of, span_of
from gradtape.watching.tensorflow.recorder import TensorFlowRecorder
from gradtape.watching.tensorflow.tapes import TapeWatch

# -- a target that is no tensor


def target_problem(targets: Sequence[Any], recorder: TensorFlowRecorder) -> Problem | None:
    """The first target that is no tensor: a number that has left TensorFlow, or an object that was never called."""
    for target in targets:
        if not recorder.is_tensor(target):
            site = UserExpression.present()
            part = site.asked()[0]
            if isinstance(target, (float, int, np.generic, np.ndarray)):
                return _number_problem(site, target, recorder)
            return _object_problem(site, part, target)
    return None


def _number_problem(site: UserExpression, target: Any, recorder: TensorFlowRecorder) -> Problem:
    """The gradient is asked of a number or an array, which has no history."""
    same = [cut for cut in recorder.departures if cut.params.get("value") == (target if np.ndim(target) == 0 else None)]
    departure = next(iter([*reversed(same), *reversed(recorder.departures)]), None)
    spans = [site.span]
    fixes = ["ask for the gradient of the tensor itself; take its number where it is printed"]
    if departure is not None:
        left = span_of(departure.location)
        if left.place != site.span.place:
            spans.append(left.labelled(f"a number from here on, by {departure.reason}"))
        fixes = [fix_for(departure, is_tape=True), *fixes]
    kind = type(target).__name__
    if isinstance(target, int) and not same:
        part = site.asked()[0]
        made = None if part is None else site.binding(part)
        return problem(
            "GT305",
            f"the gradient is asked of the number {target}, which no tape has recorded",
            spans=[*spans[:1], *([] if made is None else [made.labelled("made here")])],
            notes=["the sum of an empty list is the number 0: model.losses is empty if no layer has a regulariser"],
            fixes="a tensor that was computed from the variables inside the with block",
        )
    return problem(
        "GT210",
        f"the gradient is asked of a {kind}, which has left TensorFlow and has no history",
        spans=spans,
        fixes=fixes,
    )


def _object_problem(site: UserExpression, part: ast.expr | None, target: Any) -> Problem:
    """The gradient is asked of an object, such as a loss of Keras that was made with what it should be called with."""
    name = type(target).__name__
    made = None if part is None else site.binding(part)
    spans = [site.span]
    fixes: list[str] = []
    if made is not None:
        spans.append(made.labelled("made here"))
        call = source_of(made.file).at(made)
        if isinstance(call, ast.Call) and callable(target) and not isinstance(target, type) and call.args:
            function = source_of(made.file).span(call.func)
            text = replace_span(made, function, f"{one_line(function.text)}()")
            fixes = [] if text is None else [source_edit(text, made)]
    advice = f"loss_function = {name}() once, then loss = loss_function(labels, predictions)"
    if target is None:
        advice = "the target is None: a function without return, or a branch that returns nothing"
    return problem(
        "GT314",
        f"the gradient is asked of {'None' if target is None else f'an object of class {name}'}, not of a tensor",
        spans=spans,
        fixes=[*fixes, advice if callable(target) or target is None else "ask for the gradient of a tensor"],
    )


# -- sources that do not fit


def source_problem(sources: Sequence[Any]) -> Problem | None:
    """A source that is an array, a number, a layer or a model, and not a tensor or a variable."""
    for source in sources:
        if hasattr(source, "dtype") and not isinstance(source, (np.ndarray, np.generic)):
            continue
        site = UserExpression.present()
        part = site.asked()[1]
        made = None if part is None else site.binding(part)
        has_variables = hasattr(source, "trainable_variables")
        name = "it" if part is None else one_line(site.source.text(part))
        offered: list[str] = []
        spans = [site.span]
        if has_variables and part is not None:
            offered = [source_edit(f"{name}.trainable_variables", site.source.span(part))]
        elif made is not None:
            spans.append(made.labelled("made here"))
            call = source_of(made.file).at(made)
            function = call.func if isinstance(call, ast.Call) else None
            if isinstance(function, ast.Attribute) and function.attr == "get_weights" and not made.label:
                owner = one_line(source_of(made.file).text(function.value))
                offered = [source_edit(f"{owner}.trainable_variables", made)]
        return problem(
            "GT314",
            f"a gradient is asked by {name}, which {'is' if part is None else 'has'} a {type(source).__name__}: a tape "
            "knows tensors and variables only",
            spans=spans,
            fixes=[*offered, "model.trainable_variables, or the tensor that was watched"],
        )
    return None


def examples_problem(targets: Sequence[Any], sources: Sequence[Any]) -> Problem | None:
    """`batch_jacobian` of a target that has not one row for each example of the source."""
    shapes = [tuple(getattr(x, "shape", ())) for x in (*targets[:1], *sources[:1])]
    if len(shapes) != 2 or (min(len(shape) for shape in shapes) > 1 and shapes[0][0] == shapes[1][0]):
        return None
    site = UserExpression.present()
    part = site.asked()[0]
    made = None if part is None else site.binding(part)
    spans = [site.span] if made is None else [site.span, made.labelled("the target is made here")]
    return problem(
        "GT301",
        f"batch_jacobian takes a target and a source with one row for each example: {shapes[0]} and {shapes[1]}",
        spans=spans,
        notes=["the first axis of both is that of the examples, which do not depend on each other"],
        fixes="keep the axis of the examples in the target; or tape.jacobian, which takes any shapes",
    )


# -- what cannot be watched


def watch_problem(value: Any) -> Problem:
    """`tape.watch` of an array or a number."""
    site = UserExpression.present()
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    part = call.args[0] if isinstance(call, ast.Call) and call.args else None
    name = "it" if part is None else one_line(site.source.text(part))
    made = None if part is None else site.binding(part)
    tensorflow = next((name for name, module in site.source.imports.items() if module == "tensorflow"), "tf")
    spans = [site.span]
    offered: list[str] = []
    if made is not None:
        spans.append(made.labelled("made here"))
        if not made.label and isinstance(source_of(made.file).at(made), ast.expr):
            offered = [source_edit(f"{tensorflow}.constant({one_line(made.text)})", made)]
    return problem(
        "GT203",
        f"a tape watches tensors and variables, and {name} is a {type(value).__name__}",
        spans=spans,
        fixes=[*offered, f"x = {tensorflow}.constant(x) before, and compute with that"],
    )


# -- a tape that has given its gradient


def spent_problem(watch: TapeWatch | None) -> Problem:
    """A tape that is not persistent was asked twice."""
    spans = [here("asked again here")]
    offered: list[str] = []
    if watch is not None and watch.spent is not None:
        spans.append(at(watch.spent, "freed by this"))
        offered = persistent_fix(watch.entered)
    return problem(
        "GT308",
        "this tape has given its gradient already, and what it had recorded was freed",
        spans=spans,
        fixes=[
            *offered,
            "ask for all gradients in one call, tape.gradient(target, [a, b])",
            "keep the recording: tf.GradientTape(persistent=True)",
        ],
    )


def persistent_fix(entered: Location) -> list[str]:
    """`tf.GradientTape(persistent=True)` where the tape was made."""
    call = tape_call(entered)
    if call is None:
        return []
    source = source_of(entered.file)
    whole = source.span(call)
    text = one_line(whole.text)
    argument = "persistent=True"
    written = add_argument(text, argument) if call.args or call.keywords else f"{text[:-1]}{argument})"
    return [source_edit(written, whole)]


def tape_call(entered: Location) -> ast.Call | None:
    """The call that made the tape of a `with` statement."""
    source = source_of(entered.file)
    node: Any = source.find(entered)
    while node is not None and not isinstance(node, ast.With):
        node = source.parents.get(node)
    calls = [] if node is None else [item.context_expr for item in node.items]
    named = [c for c in calls if isinstance(c, ast.Call) and getattr(c.func, "attr", "") == "GradientTape"]
    return named[0] if named else None


__all__ = ["examples_problem", "source_problem", "spent_problem", "tape_call", "target_problem", "watch_problem"]
