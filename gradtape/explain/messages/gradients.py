"""Errors of requests for gradients: tapes, seeds, `.backward()`, and gradients that are None."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.location import Location
from gradtape.errors import DetachError, DtypeError, GradTapeError, OperandError, ShapeError, TapeError, UntrackedError
from gradtape.explain.graph.cuts import DEPARTURES
from gradtape.explain.messages.build import at, failure, here, problem
from gradtape.explain.model.problem import Problem, Span
from gradtape.explain.source.files import source_of

if TYPE_CHECKING:
    from gradtape.core.graph import Node
    from gradtape.core.tape import GradientTape

Shape = tuple[int, ...]


# -- tapes


def entered_twice() -> GradTapeError:
    """The error for `with tape:` inside of `with tape:`."""
    return failure(
        "GT315",
        "this tape is already recording: it was entered a second time",
        fixes="use another gt.GradientTape() for the inner block",
    )


def not_recording(what: str) -> GradTapeError:
    """The error for a method of a tape that only makes sense while it records."""
    return failure("GT315", f"{what} on a tape that is not recording", fixes="call it inside the with block")


def spent(first: Location) -> GradTapeError:
    """The error for a second request to a tape that is not persistent, with the line of the first."""
    return failure(
        "GT308",
        "this tape has given its gradient already, and what it had recorded was freed",
        spans=[here("asked again here"), at(first, "freed by this")],
        fixes=[
            "ask for all gradients in one call, tape.gradient(target, [a, b])",
            "keep the recording: gt.GradientTape(persistent=True)",
        ],
    )


def not_mine(node: Node, first: Location) -> GradTapeError:
    """A target that another tape recorded, requested of a tape that is used up."""
    other = _tape_around(node.location)
    asked = f"{other}.gradient(...)" if other else "the tape whose with block the target was computed in"
    return failure(
        "GT211",
        "the target was recorded by another tape, not by this one, which has given its gradient already",
        TapeError,
        spans=[
            here("asked here"),
            at(node.location, "the target was computed here"),
            at(first, "this tape gave its gradient here"),
        ],
        fixes=f"ask {asked}",
    )


def _tape_around(place: Location) -> str:
    """The name of the tape of the innermost `with` block around a location; empty if there is none."""
    source = source_of(place.file)
    around: ast.AST | None = source.find(place)
    while around is not None:
        for item in reversed(around.items) if isinstance(around, ast.With) else ():
            call = item.context_expr
            made = getattr(call, "func", None)
            kind = getattr(made, "attr", getattr(made, "id", ""))
            if kind == "GradientTape" and isinstance(item.optional_vars, ast.Name):
                return item.optional_vars.id
        around = source.parents.get(around)
    return ""


def tape_not_made(name: str) -> GradTapeError:
    """`with gt.GradientTape as tape`, without parentheses."""
    return failure(
        "GT315",
        f"with {name} as tape: this is the class; a tape is made by calling it, with parentheses",
        OperandError,
        fixes="with gt.GradientTape() as tape:",
    )


def source_not_tensor(source: Any) -> GradTapeError:
    """The error for a source that is no tensor; it names the result of `watch` that was dropped, if any."""
    from gradtape.explain.source.expression import UserExpression

    site = UserExpression.present()
    dropped = site.source.dropped_result("watch", site.asked()[1])
    shape = f" of shape {source.shape}" if isinstance(source, np.ndarray) else ""
    return failure(
        "GT314",
        f"sources: a {type(source).__name__}{shape} is not a tensor, so nothing was recorded for it",
        spans=None if dropped is None else [site.span, dropped.labelled("the tensor that this returns was dropped")],
        fixes="x = tape.watch(x) inside the with block, compute with that x, and ask for that x",
    )


def target_not_tensor(target: Any, tape: GradientTape | None = None) -> GradTapeError:
    """The error for a target that is no tensor, with the place where it stopped to be one."""
    from gradtape.explain.detectors.departure_fixes import describe_departure
    from gradtape.explain.graph.cuts import fix_for
    from gradtape.explain.graph.paths import latest_departures
    from gradtape.explain.graph.watch import GraphWatch
    from gradtape.explain.source.expression import UserExpression

    if isinstance(target, types.MethodType | types.BuiltinMethodType):
        asked = UserExpression.present().asked()[0]
        name = asked.id if isinstance(asked, ast.Name) else f"x.{target.__name__}"
        return failure(
            "GT305",
            f"target: the method {target.__name__!r} itself, which was not called",
            fixes=f"call it, with parentheses: {name}()",
        )
    left = latest_departures(GraphWatch() if tape is None else GraphWatch(tape.mask, tape))
    ways = [
        describe_departure(cut) if cut.reason in DEPARTURES else ("", [fix_for(cut, tape is not None)]) for cut in left
    ]
    advice = [fix for _, fixes in ways[:1] for fix in fixes]
    return failure(
        "GT305",
        f"target: a {type(target).__name__} is not a tensor, so there is no record of how it was computed",
        spans=[here("asked here" if left else ""), *(at(cut.location, "a value left the tape here") for cut in left)],
        notes=["what is computed from a value that has left the tape is a plain number"] if left else (),
        fixes=[*advice, "pass the tensor itself; float(), .item() and .numpy() give values without a history"],
    )


def not_one_target(what: str, target: Any) -> GradTapeError:
    """The error for a list of targets where one is accepted."""
    return failure(
        "GT314",
        f"{what}: target must be one tensor; got a {type(target).__name__}",
        fixes="call it once for each target (on a persistent tape), or gt.concatenate them",
    )


def wrong_seed_shape(what: str, given: Shape, shape: Shape, target: Any = None) -> GradTapeError:
    """The error for a cotangent whose shape is not that of its target."""
    from gradtape.explain.detectors.shape_mismatch import seed_shape_problem

    return ShapeError(seed_shape_problem(what, given, shape, target))


def wrong_seed_dtype(what: str, given: Any, dtype: Any) -> GradTapeError:
    """The error for a complex cotangent of a real target."""
    return failure(
        "GT301",
        f"{what}: a seed of dtype {given} for a target of dtype {dtype}",
        DtypeError,
        fixes=f"seed.real, or seed.astype({str(dtype)!r})",
    )


def wrong_unconnected(value: Any) -> GradTapeError:
    """The error for a value of `unconnected_gradients` other than the two there are."""
    return failure("GT314", f'unconnected_gradients must be "none" or "zero"; got {value!r}')


def no_shared_batch(target: Shape, source: Shape) -> GradTapeError:
    """The error for `batch_jacobian` of arrays whose first axes differ."""
    return failure(
        "GT110",
        f"batch_jacobian: target and source must share their first axis, the batch; the target has shape {target}, the "
        f"source {source}",
        fixes="tape.jacobian(target, source) makes no such demand",
    )


def dependent_examples(target: Shape, source: Shape) -> GradTapeError:
    """The error for `batch_jacobian` where an example of the target depends on another one's source."""
    return failure(
        "GT314",
        f"batch_jacobian: the examples are not independent: rows of the target (shape {target}) depend on other rows "
        f"of the source (shape {source})",
        ShapeError,
        fixes=[
            "tape.jacobian(target, source) is the whole dependence",
            "find the operation that mixes examples (a mean over the batch, a normalisation, a matmul along axis 0)",
        ],
    )


def hessian_of_many(shape: Shape) -> GradTapeError:
    """The error for the Hessian of more than one number."""
    return failure(
        "GT307",
        f"hessian: the target must have one element; it has shape {shape}",
        fixes="reduce it first (.sum(), .mean()), or take tape.jacobian of a gradient",
    )


# -- gradients that are None


def _with_request(cause: Problem, where: Location) -> list[Span]:
    """The spans of the cause, then the request; the other way round if the cause is that the source was never used."""
    if cause.code == "GT202" or not cause.spans:
        return [at(where), *cause.spans]
    return [*cause.spans, at(where, "asked here")]


def all_none(target: Any, reason: Any, where: Location) -> Problem:
    """Every requested gradient is None: the request, and the first reason (a `Why`)."""
    cause: Problem = reason.problem
    return problem(
        "GT201",
        f"every gradient asked for is None: {cause.title.removeprefix('no gradient: ')}",
        spans=_with_request(cause, where),
        fixes=cause.fixes,
        consequence=cause.consequence,
        notes=cause.details.get("notes", ()),
        intent='unconnected_gradients="none" or "zero" says so',
        cause=cause.code,
    )


def unused_argument(which: str, shape: Shape, used: Sequence[str], reason: Any, where: Location) -> Problem:
    """The value does not depend on an argument of `gt.grad`'s function, for a reason (a `Why`); on `used` it does."""
    cause: Problem = reason.problem
    why = cause.title.removeprefix("no gradient: ")
    if cause.code == "GT202":
        why = f"it was computed from {_join_names(used)}" if used else "nothing that is differentiated went into it"
    return problem(
        "GT201",
        f"the value does not depend on {which} (shape {shape}): {why}",
        spans=_with_request(cause, where),
        fixes="compute with it, or leave it out of what is differentiated" if cause.code == "GT202" else cause.fixes,
        consequence="its gradient is zeros" + (f"; {cause.consequence}" if cause.consequence else ""),
        notes=cause.details.get("notes", ()),
        intent="leave it out of argnums, or gt.explain.configure(GT201='off')",
        cause=cause.code,
    )


def _join_names(names: Sequence[str]) -> str:
    from gradtape.explain.source.parameter_names import join_names

    return join_names(names)


# -- backward


def freed_twice(node: Node, first: Location) -> GradTapeError:
    """The error for a second `.backward()` through a graph that the first has freed, with both lines."""
    assert node.op is not None
    return failure(
        "GT308",
        "this graph was freed by an earlier backward",
        spans=[
            here("walked again by this"),
            at(first, "first walked and freed by this"),
            at(node.location, f"shared by both: the result of {node.op.name!r}"),
        ],
        fixes=[
            "if the shared part was made outside the loop, make it inside (or .detach() it)",
            "to walk the same graph again, pass retain_graph=True to the first call",
        ],
    )


def nothing_requires_grad(what: str, shape: Shape, where: Location, reason: Any) -> GradTapeError:
    """The target was computed from nothing that requires a gradient; `reason` is a `Why`."""
    cause: Problem = reason.problem
    return failure(
        "GT305",
        f"{what}: nothing that this tensor (shape {shape}) was computed from requires a gradient",
        UntrackedError,
        spans=_with_request(cause, where),
        notes=[cause.title.removeprefix("no gradient: "), *cause.details.get("notes", ())],
        fixes=cause.fixes
        or "gt.tensor(data, requires_grad=True) for what you want the gradient of, and compute from it",
        cause=cause.code,
    )


def many_elements(what: str, shape: Shape, size: int, made: Location) -> GradTapeError:
    """The error for a gradient of an array without weights for its elements."""
    return failure(
        "GT307",
        f"{what} on a tensor of shape {shape} ({size} elements)",
        spans=[here(), at(made, "made here")],
        notes=["a gradient is created implicitly for one element only; of several, say which weight each has"],
        fixes=[
            ".mean() or .sum() before",
            f".backward(gradient) with a gradient of shape {shape} (ones give the gradient of the sum)",
            "gt.jacobian for the derivative of every element",
        ],
    )


def unused_input(index: int, shape: Shape, where: Location, reason: Any) -> GradTapeError:
    """The error for one of `inputs` that the outputs do not depend on, with the reason that was found."""
    cause: Problem = reason.problem
    return failure(
        "GT201",
        f"inputs[{index}] (shape {shape}) was not used to compute the outputs: "
        f"{cause.title.removeprefix('no gradient: ')}",
        UntrackedError,
        spans=_with_request(cause, where),
        notes=cause.details.get("notes", ()),
        fixes=cause.fixes,
        intent="leave it out of inputs, or pass allow_unused=True to get None for it",
        cause=cause.code,
    )


def input_without_grad(value: Any) -> GradTapeError:
    """The error for one of `inputs` that does not require a gradient."""
    kind = f"a tensor of shape {value.shape}" if hasattr(value, "_node") else f"a {type(value).__name__}"
    return failure(
        "GT314",
        f"inputs: {kind} does not require a gradient",
        fixes="make it with gt.tensor(data, requires_grad=True)",
    )


def no_gradient_will_arrive(what: str) -> GradTapeError:
    """The error for a hook, or the like, on a tensor that no gradient reaches."""
    return failure(
        "GT305",
        f"{what} on a tensor that is not tracked: no gradient will arrive at it",
        fixes="gt.tensor(data, requires_grad=True), or tape.watch(x), before",
    )


def gradient_missing(
    optimiser: str, which: str, reason: str, variable: Any, fix: str, consequence: str
) -> GradTapeError:
    """An optimiser was given None for the gradient of `variable`, which it calls `which`."""
    from gradtape.explain.detectors.none_used import cause_of_missing_gradient
    from gradtape.explain.source.parameter_names import name_of, tensor_of

    tensor = tensor_of(variable)
    name = "" if tensor is None else name_of(tensor)
    title = f"{optimiser}: the gradient of {which} is None{f' ({name})' if name else ''}"
    cause = cause_of_missing_gradient(variable)
    if cause is None:
        return failure("GT201", f"{title}: {reason}", UntrackedError, fixes=fix, consequence=consequence)
    is_unused = cause.code == "GT202"
    given = here("given to this")
    return failure(
        "GT201",
        f"{title}: {reason if is_unused else cause.title.removeprefix('no gradient: ')}",
        UntrackedError,
        spans=[given, *cause.spans] if is_unused else [*cause.spans, given],
        notes=cause.details.get("notes", ()),
        fixes=[*cause.fixes, "leave out parameters that are not used, or pass allow_none=True to skip them"],
        consequence=consequence,
        cause=cause.code,
    )


def lost(title: str, fixes: str | Iterable[str], where: Location) -> GradTapeError:
    """A gradient would be lost without notice at `where`."""
    return failure("GT312", title, DetachError, spans=[at(where)], fixes=fixes)


__all__ = [
    "all_none",
    "dependent_examples",
    "entered_twice",
    "freed_twice",
    "gradient_missing",
    "hessian_of_many",
    "input_without_grad",
    "lost",
    "many_elements",
    "no_gradient_will_arrive",
    "no_shared_batch",
    "not_mine",
    "not_one_target",
    "not_recording",
    "nothing_requires_grad",
    "source_not_tensor",
    "spent",
    "tape_not_made",
    "target_not_tensor",
    "unused_argument",
    "unused_input",
    "wrong_seed_dtype",
    "wrong_seed_shape",
    "wrong_unconnected",
]
