"""`tape.why`: why a gradient is what it is: the path it takes, or the place where it was lost.

Paths through the graph and its cuts (`gradtape.explain.graph.paths`) distinguish a value that was cut off from one that
was never used; the functions of `gradtape.explain.detectors.missing_gradient` explain the causes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import recording
from gradtape.core.backprop import walk
from gradtape.core.graph import LIFTED, Node
from gradtape.core.tensor import Tensor
from gradtape.explain.detectors import missing_gradient
from gradtape.explain.detectors.departure_fixes import describe_departure
from gradtape.explain.detectors.missing_gradient import verdict
from gradtape.explain.detectors.value_flow import reads_departure
from gradtape.explain.graph import paths
from gradtape.explain.graph.cuts import FIXES, code_of, cut_words, first_of, fix_for
from gradtape.explain.graph.watch import GraphWatch
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.model.record import Record, Shape
from gradtape.explain.model.why import Step, Why
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import span_of
from gradtape.explain.source.libraries import is_tensor, is_variable

if TYPE_CHECKING:
    from gradtape.core.tape import GradientTape

LONGEST_PATH_SHOWN = 12


def why(target: Any, source: Any, mask: int, tape: GradientTape | None = None) -> Why:
    """Why the gradient of `target` with respect to `source`, along the tapes in `mask`, is what it is.

    The first line is the verdict; then come the lines of the user's program it rests on, and what to write instead.

    >>> import gradtape as gt
    >>> x = gt.Variable([1.0, 2.0])
    >>> with gt.GradientTape(persistent=True) as tape:
    ...     y = gt.round(x) * 3.0
    >>> print(tape.why(y, x).splitlines()[0])
    [GT209] no gradient: the value left the tape at round, which has no derivative
    """
    watch = GraphWatch(mask, tape)
    if not is_tensor(source):
        head = f"the source is a {type(source).__name__}, which no tape can watch"
        return verdict("GT203", head, fix=missing_gradient.watch_fix(watch))
    if source.dtype.kind not in "fc":
        return verdict(
            "GT207",
            f"the source has dtype {source.dtype}; only floating point numbers have gradients",
            fix="write the numbers with a point (1.0), or x.astype(float) before it is watched",
        )
    if not is_tensor(target):
        return missing_gradient.explain_untracked_target(target, source, watch)
    start, goal = missing_gradient.tensor_record(target), missing_gradient.source_record(source)
    route = paths.route_back(start, goal, mask)
    if route and all(node.is_on(mask) for node in route) and not paths.blocked(route):
        return _explain_flow(route, target, source, mask)
    if paths.is_freed(goal):
        return missing_gradient.explain_freed(goal, watch)
    if not goal.is_on(mask):
        return missing_gradient.explain_unwatched_source(target, source, watch)
    if route:
        return missing_gradient.explain_cut_path(route, watch)
    reached = paths.all_behind(start)
    freed = next((node for node in reached if paths.is_freed(node)), None)
    if freed is not None:
        return missing_gradient.explain_freed(freed, watch)
    return missing_gradient.explain_unconnected(target, source, reached, watch)


def why_no_grad(tensor: Tensor, target: Tensor | None = None) -> Why:
    """Why the `.grad` of `tensor` is missing or zero; with `target`, what the graph behind it says.

    >>> import gradtape as gt
    >>> w = gt.tensor([1.0, 2.0], requires_grad=True) * 0.1
    >>> w.sum().backward()
    >>> print(w.why().splitlines()[0])
    [GT205] no gradient: this is a computed tensor, and .grad is kept for the leaves it was computed from
    """
    if target is not None:
        return why(target, tensor, GraphWatch().tapes)
    node = tensor._node
    grad = tensor.grad
    if grad is not None:
        if np.any(grad._concrete()):
            return Why(problem("", f"there is a gradient: .grad has shape {grad.shape}", spans=()))
        words = "the gradient is zero everywhere; x.why(loss) before loss.backward() tells where it became so"
        return Why(problem("GT404", words, spans=(), fixes="x.why(loss), with the loss that backward is called on"))
    if not tensor.requires_grad:
        return why_untracked(tensor)
    if node.operation:
        return verdict(
            "GT205",
            "this is a computed tensor, and .grad is kept for the leaves it was computed from",
            f"the result of {node.operation}, computed here",
            node,
            fix="x.retain_grad() before backward keeps it; or make the leaf the last step: "
            "gt.tensor(data * 0.1, requires_grad=True)",
        )
    departure = paths.departure_of(node, GraphWatch())
    if departure is not None:
        return verdict(
            code_of(departure),
            f"the value left the tape at {departure.reason}",
            departure,
            "what was computed from there on is a constant; otherwise no backward has reached this tensor yet",
            fix=FIXES.get(departure.reason, "compute with the tensor itself: np.exp(x), not math.exp(x)"),
        )
    return verdict(
        "GT202",
        "no backward has reached this tensor since it was made, or since its gradient was set to zero",
        "made here",
        node,
        fix="x.why(loss), before loss.backward(), tells whether and how loss was computed from it",
    )


def why_untracked(target: Tensor) -> Why:
    """Why `.backward()` finds no graph: what the target is instead of a tensor that requires a gradient.

    >>> import gradtape as gt
    >>> print(why_untracked(gt.tensor(1.0)).problem.title)
    no gradient: it is a constant: no tensor that requires a gradient went into it
    """
    node = target._node
    fix = "gt.tensor(data, requires_grad=True) for what you want the gradient of, and compute from it"
    if node.is_cut:
        first = first_of(node)
        if first.reason == "not recording" and any(source.is_variable for source in first.origins()):
            return verdict(
                "GT211",
                "it was computed from variables, which a GradientTape records and .backward() does not",
                first,
                fix=[
                    "with gt.GradientTape() as tape: around it, then tape.gradient(loss, variables)",
                    "v.requires_grad_() for each variable, before it is used",
                ],
            )
        return verdict(code_of(first), cut_words(first, ""), first, fix=fix_for(first, is_tape=False))
    if is_variable(target):
        words = "it is a Variable, which tapes watch; .backward() wants v.requires_grad_() first"
        return verdict("GT203", words, fix="v.requires_grad_(), or a GradientTape and tape.gradient")
    if node.is_tracked and not node.requires_grad:
        if not node.operation:
            words = "it is watched by a GradientTape only, which answers tape.gradient(target, sources)"
            return verdict("GT203", words, fix="tape.gradient(target, sources)")
        words = "it was recorded by a GradientTape only; tape.gradient(target, sources) asks that tape"
        return verdict("GT211", words, node, fix="tape.gradient(target, sources)")
    if target.dtype.kind not in "fc":
        words = f"it has dtype {target.dtype}; only floating point numbers have gradients"
        return verdict("GT207", words, fix="x.astype(float) before")
    early = missing_gradient.find_early_use(lambda value: value.requires_grad and not value._node.operation)
    if early is not None:
        used, late, name = early
        words = f"{name} was used before it required a gradient"
        return verdict(
            "GT204", words, "used here", used, "required here", late._node, fix=missing_gradient.watch_fix(GraphWatch())
        )
    left = _find_departure()
    if left is not None:
        words = (
            f"it is a constant: a value left the tape at {left.reason}, and what is computed from that has no record"
        )
        return verdict(
            code_of(left), words, "left here", left, fix=describe_departure(left)[1] or [fix_for(left, is_tape=False)]
        )
    return verdict("GT203", "it is a constant: no tensor that requires a gradient went into it", fix=fix)


def _find_departure() -> Record | None:
    """The departure of a value that the target of the present request was computed from, as far as names show."""
    site = UserExpression.present()
    target = site.asked()[0]
    return (
        None
        if target is None
        else next((cut for cut in reversed(GraphWatch().departures) if reads_departure(site, target, cut)), None)
    )


# -- the path


def _explain_flow(route: list[Record], target: Tensor, source: Tensor, mask: int) -> Why:
    """The operations between the target and the source, with the size of the gradient on its way back."""
    return explain_flow(route, _gradient_sizes(route, mask) if len(route) > 1 else None, source.shape)


def explain_flow(route: list[Record], sizes: list[float] | None, shape: Shape) -> Why:
    """The answer for a gradient that flows along `route`; `sizes` are its root mean squares there, if known."""
    if len(route) == 1:
        found = problem("", f"the target is the source: its gradient is the seed, of shape {shape}", spans=())
        return Why(found)
    steps = [
        Step(node.operation, node.shape, str(node.dtype), node.location, _gain(sizes, index))
        for index, node in enumerate(route[:-1])
        if node.operation
    ]
    number = len(route) - 1
    died = next((i for i, size in enumerate(sizes) if size == 0.0), None) if sizes else None
    rows = _path_rows(steps)
    rows.append(f"the source, of shape {shape}")
    if died:
        return Why(_zero_problem(route, steps, died, rows), tuple(steps))
    head = f"the gradient flows: {number} operation{'s' * (number != 1)} from the target back to the source"
    return Why(problem("", head, spans=(), path=rows), tuple(steps))


def _path_rows(steps: list[Step]) -> list[str]:
    """One row for each step: operation, shape, factor by which the gradient changes, and the user's line."""
    number, half = len(steps), LONGEST_PATH_SHOWN // 2
    shown = steps if number <= LONGEST_PATH_SHOWN else steps[:half] + steps[-half:]
    names = max(len(step.operation) for step in shown)
    shapes = max(len(str(step.shape)) for step in shown)
    gains = [f"x {step.gain:<8.3g}  " if step.gain is not None else "" for step in shown]
    wide = max(len(gain) for gain in gains)
    rows = [
        f"{step.operation:<{names}}  {step.shape!s:<{shapes}}  {gain:<{wide}}{step.location}   {step.location.source}"
        for step, gain in zip(shown, gains)
    ]
    if number > LONGEST_PATH_SHOWN:
        rows.insert(half, f"... {number - 2 * half} more operations ...")
    return [row.rstrip() for row in rows]


def _gradient_sizes(route: list[Record], mask: int) -> list[float] | None:
    """The root mean square of the gradient at each node; None if it cannot be computed without side effects."""
    nodes = [node for node in route if isinstance(node, Node)]
    reached = paths.all_behind(route[0])
    if any(isinstance(node, Node) and node.extra is not None and node.extra.hooks for node in reached):
        return None
    if any(node.is_differentiable and paths.is_freed(node) for node in route[:-1]):
        return None
    from gradtape.explain.emit.severity import configure

    start = nodes[0]
    if start.bits & LIFTED or start.dtype.kind not in "fc":
        return None
    try:
        with configure(GT4="off"), recording.during(recording.current().mute(True)):
            found = walk([(start, np.ones(start.shape, start.dtype))], mask, sources=nodes)
    except Exception:  # a rule or a guard raises: taking the gradient will raise the same
        return None
    return [_rms(found.get(node)) for node in nodes]


def _rms(gradient: Any) -> float:
    if gradient is None or isinstance(gradient, list) or not gradient.size:  # a list: of several results
        return 0.0
    return float(np.sqrt(np.mean(np.abs(gradient) ** 2)))


def _gain(sizes: list[float] | None, index: int) -> float | None:
    if not sizes or not sizes[index]:
        return None
    return sizes[index + 1] / sizes[index]


def _zero_problem(route: list[Record], steps: list[Step], died: int, rows: list[str]) -> Problem:
    """The problem for a gradient that flows and is zero, with the operation in whose rule it became zero."""
    name = steps[died - 1].operation if died <= len(steps) else "the seed"
    return problem(
        "GT404",
        f"the gradient is zero: it became zero going back through {name}",
        spans=[span_of(route[died - 1].location)],
        path=rows,
        fixes="look at the values there: a factor of zero, a flat place (relu, clip, where), or an underflow",
    )


__all__ = ["Step", "Why", "explain_flow", "why", "why_no_grad", "why_untracked"]
