"""The words of the kernel's errors: one function a situation, which returns the error to raise.

Each is a `Problem`: what was given, where (the user's expression), what is accepted, and a fix. The kernel decides,
this file words. Nothing of what renders or reads source is loaded before the first of them is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.location import Location
from gradtape.errors import (
    AxisError,
    DetachError,
    DtypeError,
    GradTapeError,
    MutationError,
    OperandError,
    RuleError,
    ShapeError,
    UntrackedError,
    family,
)

if TYPE_CHECKING:
    from gradtape.core.graph import Node
    from gradtape.core.operation import Op
    from gradtape.explain.problem import Operand, Problem, Span

Shape = tuple[int, ...]


def problem(
    code: str,
    title: str,
    *,
    spans: Iterable[Span | Location] | None = None,
    fixes: str | Iterable[str] = (),
    consequence: str = "",
    notes: Sequence[str] = (),
    operands: Iterable[Operand] = (),
    intent: str = "",
    **details: Any,
) -> Problem:
    """A finding at the user's present expression, unless `spans` says otherwise. Locations are turned into spans."""
    from gradtape.explain.problem import Problem
    from gradtape.explain.source import here, span_of

    found = [here()] if spans is None else [span_of(s) if isinstance(s, Location) else s for s in spans]
    if notes:
        details["notes"] = list(notes)
    listed = [fixes] if isinstance(fixes, str) else list(fixes)
    return Problem(code, title, [s for s in found if s.line], operands, consequence, listed, intent, details)


def _error(code: str, title: str, kind: type[GradTapeError] | None = None, **parts: Any) -> GradTapeError:
    from gradtape.explain.codes import CODES

    return (kind or CODES[code].error)(problem(code, title, **parts))


def _at(place: Location, label: str = "") -> Span:
    from gradtape.explain.source import span_of

    return span_of(place, label)


def _here(label: str = "") -> Span:
    return _at(Location.here(), label)


# -- texts of elsewhere, as findings

_BY_CLASS = {
    "ShapeError": "GT110",
    "DtypeError": "GT314",
    "OperandError": "GT314",
    "IndexingError": "GT115",
    "AxisError": "GT117",
    "LinearAlgebraError": "GT405",
    "StructureError": "GT306",
    "TapeError": "GT315",
    "RuleError": "GT302",
    "MutationError": "GT309",
    "UntrackedError": "GT305",
    "DetachError": "GT312",
    "UnsupportedError": "GT313",
    "NumericsError": "GT401",
    "GradientWarning": "GT201",
    "GradTapeError": "GT314",
}
_BY_FUNCTION = {
    "GT111": "matmul dot vdot inner tensordot cross kron solve inv cholesky qr svd eigh eigvalsh eig det slogdet norm "
    "tensorinv tensorsolve lstsq pinv matrix_power multi_dot solve_triangular expm logm sqrtm trace matvec vecdot",
    "GT112": "einsum",
    "GT113": "concatenate stack hstack vstack dstack column_stack block append",
    "GT114": "reshape squeeze ravel unflatten resize",
}
_BY_PART = (
    (re.compile(r"cross_entropy|nll|hinge|kl_div|focal|labels"), "GT118"),
    (re.compile(r"conv(_|\d)|conv$|pool|_norm$|^linear$|bilinear|embedding|attention|unfold|fold|dropout"), "GT116"),
    (re.compile(r"(Norm|Conv|Pool|Dropout)(Transpose)?\dd$|Norm$|^(Dense|RNN|GRU|LSTM)|Attention"), "GT116"),
)
_CODE_OF = {name: code for code, names in _BY_FUNCTION.items() for name in names.split()}
_PLACE = re.compile(r"^  ([^\s:][^:\n]*):(\d+)(?:   (.*))?$")


def code_for(kind: type, text: str) -> str:
    """The code of an error that was only given a text: by the function it names, or by its class."""
    names = [base.__name__ for base in kind.__mro__]
    if "AssertionError" in names:
        return ""
    code = next((_BY_CLASS[name] for name in names if name in _BY_CLASS), "GT314")
    function = re.match(r"(?:np\.|gt\.|linalg\.)*(\w+)\b", text)
    if function and ("ShapeError" in names or "IndexingError" in names):
        name = function.group(1)
        by_part = next((found for pattern, found in _BY_PART if pattern.search(name)), code)
        return _CODE_OF.get(name, by_part)
    if "LinearAlgebraError" in names and re.search(r"square|axes|shape|dimensional", text.split("\n")[0]):
        return "GT111"
    return code


def as_problem(given: Problem | str, kind: type) -> Problem:
    """`given`, or the finding that a text of the form "title, place, notes, fix" stands for."""
    from gradtape.explain.problem import Problem, Span
    from gradtape.explain.source import being_walked

    if isinstance(given, Problem):
        return given
    code = code_for(kind, given)
    if not code:
        return Problem("", given)
    title, *rest = given.split("\n")
    spans: list[Span] = []
    notes: list[str] = []
    fixes: list[str] = []
    now = Location.here()
    for line in rest:
        place = _PLACE.match(line)
        if place:
            label = notes.pop() if notes and not spans else ""
            if str(now) == f"{place[1]}:{place[2]}" and (place[3] or "") == now.source:
                spans.append(_at(now, label))
            else:
                spans.append(Span(place[1], int(place[2]), None, None, label, place[3] or ""))
        elif line.strip() and not line.strip().strip("~"):
            last = spans[-1] if spans else None
            if last is not None and last.column is None:
                start = len(line) - len(line.lstrip()) - len(f"  {last.place}   ")
                end = start + len(line.strip())
                spans[-1] = Span(last.file, last.line, start, end, last.label, last.source)
        elif line.startswith("  fix: "):
            fixes.append(line[7:])
        elif fixes and line.startswith("       "):
            if fixes[-1].endswith(";"):
                fixes[-1] = fixes[-1][:-1]
                fixes.append(line.strip().removeprefix("or "))
            else:
                fixes[-1] += " " + line.strip()
        elif line.strip():
            notes.append(line.strip())
    walked = being_walked()
    if walked is not None:
        spans = [_at(walked), *(span.labelled(span.label or "asked here") for span in spans)]
    return problem(code, title.rstrip("."), spans=spans, fixes=fixes, notes=notes)


# -- operations


def refused_operands(
    error: Exception, op: Op | str, inputs: Sequence[Any], params: dict[str, Any] | None = None
) -> Exception:
    """NumPy refused: an error of its class and ours, that says which axes clash, whose they are, and what would fit.

    Its `__cause__` is NumPy's error where that adds something, and None where it does not.
    """
    ours = family(error)
    if isinstance(error, GradTapeError) or ours is None:
        return error
    from gradtape.explain.clash import refusal

    name, kind = (op, "") if isinstance(op, str) else (op.name, op.kind)
    explained, adds_something = refusal(error, name, kind, inputs, params or {}, ours)
    explained.__cause__ = error if adds_something else None
    return explained


def refused_argument(kind: type[GradTapeError], what: str, fix: str) -> GradTapeError:
    """An operation cannot take an argument: `what` is "function: what was given", `fix` what is accepted."""
    from gradtape.explain.arguments import in_the_call
    from gradtape.explain.site import Site

    site = Site.present()
    about = site.arrays() if issubclass(kind, ShapeError) else []
    fixes = in_the_call(site, fix)
    return kind(problem(code_for(kind, what), what.rstrip("."), spans=[site.span], operands=about, fixes=fixes))


def no_such_axis(axis: Any, ndim: int, shape: Shape | None = None) -> GradTapeError:
    from gradtape.explain.clash import missing_axis

    return AxisError(missing_axis(axis, ndim, shape))


def repeated_axis(axis: Any, ndim: int) -> GradTapeError:
    return _error(
        "GT117", f"axis={axis!r} names the same axis of {ndim} twice", ShapeError, fixes="name each axis once"
    )


# -- tensors and their values


def no_derivative_of_dtype(what: str, dtype: Any, shape: Shape) -> GradTapeError:
    return _error(
        "GT310",
        f"{what}: a tensor of dtype {dtype} (shape {shape}) has no gradient; only real and complex floating point "
        f"numbers do",
        fixes="write the numbers with a point (1.0), or x.astype(float) before",
    )


def ragged(data: Any, error: Exception) -> GradTapeError:
    return _error(
        "GT314",
        f"{type(data).__name__} does not make an array: {error}",
        ShapeError,
        fixes="give numbers of one shape; gt.stack and gt.concatenate join tensors",
    )


def not_numbers(data: Any, dtype: Any) -> GradTapeError:
    return _error(
        "GT314",
        f"a tensor holds numbers; {type(data).__name__} gives an array of dtype {dtype}",
        DtypeError,
        fixes="pass numbers or booleans of one shape; gt.stack joins tensors",
    )


def no_length() -> GradTapeError:
    return _error("GT314", "len() of a tensor of shape (), which has no first axis", fixes=["x.size", "x[None]"])


def not_one_element(how: str, shape: Shape) -> GradTapeError:
    return _error(
        "GT314",
        f"{how} needs one element; this tensor has shape {shape}",
        ShapeError,
        fixes="reduce it first (.sum(), .mean(), .max()) or pick one element (x[0])",
    )


def no_single_truth(shape: Shape) -> GradTapeError:
    return _error(
        "GT314",
        f"the truth of a tensor of shape {shape} is not one answer",
        ShapeError,
        fixes=[
            "(condition).any() or (condition).all() for one answer",
            "gt.where(condition, a, b) for one for each element",
        ],
    )


def silent_detach(shape: Shape) -> GradTapeError:
    from gradtape.explain.returns import kept_on_tape
    from gradtape.explain.site import Site

    advice = [
        "to join tensors, gt.stack([x, y]) or gt.concatenate",
        "to write into an array, gt.at(array)[i].set(x)",
    ]
    return _error(
        "GT312",
        f"NumPy asked for the bare array of a tracked tensor of shape {shape}; its gradient would be lost in silence",
        fixes=[*kept_on_tape(Site.present()), *advice],
        intent="if the gradient is not wanted, say so: x.numpy() or gt.stop_gradient(x)",
    )


def stored_while_tracked(how: str, shape: Shape) -> GradTapeError:
    return _error(
        "GT312",
        f"{how} of a tracked intermediate tensor of shape {shape} would lose its gradient in silence",
        fixes=f"{how} of x.detach(), or of the leaves it was computed from",
    )


def one_of_a_batch(size: int, shape: Shape) -> GradTapeError:
    return _error(
        "GT312",
        f"inside vmap this tensor stands for {size} examples at once (each of shape {shape}): it has no single value "
        f"to print, branch on or convert",
        fixes="gt.where(condition, a, b) instead of if; return the value instead of converting it; "
        "as an index of an array, gt.take(array, i, axis=0) or gt.tensor(array)[i]",
    )


def frozen_intermediate(node: Node) -> GradTapeError:
    return _error(
        "GT314",
        "requires_grad_(False) on a computed tensor",
        spans=[_here(), _at(node.location, "computed here")],
        fixes="x.detach() is the same value without the graph",
    )


def wrong_grad_shape(shape: Shape, given: Shape) -> GradTapeError:
    return _error(
        "GT301",
        f".grad of a tensor of shape {shape} was set to an array of shape {given}",
        fixes=f"a gradient has its tensor's shape, {shape}",
    )


# -- writing


def wrong_assigned_shape(name: str | None, shape: Shape, given: Shape) -> GradTapeError:
    from gradtape.explain.clash import wrong_value

    title = f"assign: the variable{f' {name!r}' if name else ''} has shape {shape}, the new value {given}"
    return ShapeError(wrong_value(title, given, shape))


def wrong_assigned_dtype(dtype: Any, given: Any) -> GradTapeError:
    return _error(
        "GT314",
        f"assign: a value of dtype {given} into a variable of dtype {dtype}",
        DtypeError,
        fixes=f"value.astype({str(dtype)!r}) if that loss is meant",
    )


def does_not_fit_in_place(how: str, shape: Shape, dtype: Any, given: Shape, given_dtype: Any) -> GradTapeError:
    return _error(
        "GT110",
        f"{how}: the result has shape {given} and dtype {given_dtype}; the tensor it is written into has shape {shape} "
        f"and dtype {dtype}",
        fixes="x = x + y instead of x += y",
    )


def leaf_written(how: str, shape: Shape) -> GradTapeError:
    return _error(
        "GT309",
        f"{how}: this tensor of shape {shape} is a leaf that gradients are asked for",
        consequence="written in place it would no longer be what the tape started from",
        fixes=["y = gt.at(x)[i].set(v)", "write a copy: y = x.copy(); y[i] = v", "update it under gt.no_grad()"],
    )


def viewed_while_written(how: str, shape: Shape) -> GradTapeError:
    return _error(
        "GT309",
        f"{how}: another live tensor is a view of this one (shape {shape}) and would have to change too",
        fixes=["y = gt.at(x)[i].set(v), gt.where or gt.stack make a new tensor", "write a copy: x = x.copy()"],
    )


def saved_array_changed(node: Node, shape: Shape) -> GradTapeError:
    name = "" if node.op is None else f" by {node.op.name!r}"
    return _error(
        "GT309",
        f"an array of shape {shape} was changed after the tape had saved it{name}",
        MutationError,
        spans=[_at(node.location, "saved here"), _here("changed before this")],
        notes=["it was written through a view, so the writing line is not known: look between these two lines"],
        consequence="the gradient would be that of the new numbers, which the value was not computed from",
        fixes=["give the operation a copy (array.copy())", "write after the gradient has been taken"],
    )


def explain_locked(error: BaseException) -> None:
    """NumPy refused to write to an array because a tape has locked it: a note and a `.problem` on NumPy's own error."""
    from gradtape.explain.source import raised_at
    from gradtape.explain.voices import spoken

    where = raised_at(error)
    found = problem(
        "GT309",
        "an array that a tape has saved is locked until its gradient has been taken",
        spans=[] if where is None else [where.labelled("written here")],
        consequence="written to, it would no longer be what the value was computed from",
        fixes=["compute with a copy (array.copy())", "write after tape.gradient(...)"],
    )
    vars(error)["problem"] = found
    error.add_note(f"gradtape: {found}")
    spoken(found)


# -- tapes


def entered_twice() -> GradTapeError:
    return _error(
        "GT315",
        "this tape is already recording: it was entered a second time",
        fixes="use another gt.GradientTape() for the inner block",
    )


def not_recording(what: str) -> GradTapeError:
    return _error("GT315", f"{what} on a tape that is not recording", fixes="call it inside the with block")


def spent(first: Location) -> GradTapeError:
    return _error(
        "GT308",
        "this tape has given its gradient already, and what it had recorded was freed",
        spans=[_here("asked again here"), _at(first, "freed by this")],
        fixes=[
            "ask for all gradients in one call, tape.gradient(target, [a, b])",
            "keep the recording: gt.GradientTape(persistent=True)",
        ],
    )


def source_not_tensor(source: Any) -> GradTapeError:
    shape = f" of shape {source.shape}" if isinstance(source, np.ndarray) else ""
    return _error(
        "GT314",
        f"sources: a {type(source).__name__}{shape} is not a tensor, so nothing was recorded for it",
        fixes="x = tape.watch(x) inside the with block, compute with that x, and ask for that x",
    )


def target_not_tensor(target: Any) -> GradTapeError:
    return _error(
        "GT305",
        f"target: a {type(target).__name__} is not a tensor, so there is no record of how it was computed",
        fixes="pass the tensor itself; float(), .item() and .numpy() give values without a history",
    )


def not_one_target(what: str, target: Any) -> GradTapeError:
    return _error(
        "GT314",
        f"{what}: target must be one tensor; got a {type(target).__name__}",
        fixes="call it once for each target (on a persistent tape), or gt.concatenate them",
    )


def wrong_seed_shape(what: str, given: Shape, shape: Shape, target: Any = None) -> GradTapeError:
    from gradtape.explain.clash import wrong_seed

    return ShapeError(wrong_seed(what, given, shape, target))


def wrong_seed_dtype(what: str, given: Any, dtype: Any) -> GradTapeError:
    return _error(
        "GT301",
        f"{what}: a seed of dtype {given} for a target of dtype {dtype}",
        DtypeError,
        fixes=f"seed.real, or seed.astype({str(dtype)!r})",
    )


def wrong_unconnected(value: Any) -> GradTapeError:
    return _error("GT314", f'unconnected_gradients must be "none" or "zero"; got {value!r}')


def no_shared_batch(target: Shape, source: Shape) -> GradTapeError:
    return _error(
        "GT110",
        f"batch_jacobian: target and source must share their first axis, the batch; the target has shape {target}, the "
        f"source {source}",
        fixes="tape.jacobian(target, source) makes no such demand",
    )


def dependent_examples(target: Shape, source: Shape) -> GradTapeError:
    return _error(
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
    return _error(
        "GT307",
        f"hessian: the target must have one element; it has shape {shape}",
        fixes="reduce it first (.sum(), .mean()), or take tape.jacobian of a gradient",
    )


# -- rules and hooks


def wrong_rule_shape(node: Node, index: int, given: Shape, shape: Shape) -> GradTapeError:
    assert node.op is not None
    return _error(
        "GT302",
        f"the gradient rule of {node.op.name!r} returned shape {given} for argument {index}, which has shape {shape}",
        spans=[_at(node.location, f"{node.op.name!r} was used here")],
        consequence="a gradient has the shape of what it belongs to; it is never summed or stretched into place",
        fixes=f"make the rule return shape {shape} for argument {index}",
    )


def broken_rule(title: str, rule: Location, call: Location, fix: str) -> GradTapeError:
    """A rule of the user's did not return what it has to: what it returned, where it is defined, and for which call."""
    from gradtape.explain.source import returned

    code = "GT304"
    if re.search(r" returned (shape|a result of)", title):
        code = "GT302"
    elif re.search(r" returned (something of )?dtype", title):
        code = "GT303"
    return _error(code, title, RuleError, spans=[returned(rule.code), _at(call, "for this call")], fixes=fix)


def wrong_hook_shape(node: Node, given: Shape, hook: Any) -> GradTapeError:
    from gradtape.explain.source import returned

    function = getattr(hook, "__wrapped__", hook)
    return _error(
        "GT302",
        f"a hook returned a gradient of shape {given} for a tensor of shape {node.shape}",
        spans=[
            returned(getattr(function, "__code__", None), "returned by the hook"),
            _at(node.location, "for this tensor"),
        ],
        fixes=f"return None to leave the gradient as it is, or a gradient of shape {node.shape}",
    )


def warn_of_nan(node: Node) -> None:
    """The gradient became NaN in the rule of the operation at `node`."""
    from gradtape.explain.voices import report

    assert node.op is not None
    found = problem(
        "GT402",
        f"the gradient became NaN in the rule of {node.op.name!r}: zero times an infinite slope, or inf - inf",
        spans=[_at(node.location)],
        notes=["this happens where gt.where does not take a branch whose slope is infinite"],
        fixes="keep its argument away from there, too: gt.where(ok, f(gt.where(ok, x, 1.0)), other)",
    )
    report(found)


# -- gradients that are None


def _with_request(cause: Problem, where: Location) -> list[Span]:
    """The cause first, then the line that asked; where the cause is that nothing was used, the other way round."""
    if cause.code == "GT202" or not cause.spans:
        return [_at(where), *cause.spans]
    return [*cause.spans, _at(where, "asked here")]


def all_none(target: Any, reason: Any, where: Location) -> Problem:
    """Every gradient asked for is None: the request, and the first reason (a `Why`)."""
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


def unused_argument(which: str, shape: Shape, reason: Any, where: Location) -> Problem:
    """The value does not depend on an argument of `gt.grad`'s function, for a reason (a `Why`)."""
    cause: Problem = reason.problem
    return problem(
        "GT201",
        f"the value does not depend on {which} (shape {shape}): {cause.title.removeprefix('no gradient: ')}",
        spans=_with_request(cause, where),
        fixes=cause.fixes,
        consequence="its gradient is zeros" + (f"; {cause.consequence}" if cause.consequence else ""),
        notes=cause.details.get("notes", ()),
        intent="leave it out of argnums, or gt.explain.configure(GT201='off')",
        cause=cause.code,
    )


# -- backward


def freed_twice(node: Node, first: Location) -> GradTapeError:
    assert node.op is not None
    return _error(
        "GT308",
        "this graph was freed by an earlier backward",
        spans=[
            _here("walked again by this"),
            _at(first, "first walked and freed by this"),
            _at(node.location, f"shared by both: the result of {node.op.name!r}"),
        ],
        fixes=[
            "if the shared part was made outside the loop, make it inside (or .detach() it)",
            "to walk the same graph again, pass retain_graph=True to the first call",
        ],
    )


def nothing_requires_grad(what: str, shape: Shape, where: Location, reason: Any) -> GradTapeError:
    """Nothing to walk: `reason` is a `Why`."""
    cause: Problem = reason.problem
    return _error(
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
    return _error(
        "GT307",
        f"{what} on a tensor of shape {shape} ({size} elements)",
        spans=[_here(), _at(made, "made here")],
        notes=["a gradient is created implicitly for one element only; of several, say which weight each has"],
        fixes=[
            ".mean() or .sum() before",
            f".backward(gradient) with a gradient of shape {shape} (ones give the gradient of the sum)",
            "gt.jacobian for the derivative of every element",
        ],
    )


def unused_input(index: int, shape: Shape, where: Location, reason: Any) -> GradTapeError:
    cause: Problem = reason.problem
    return _error(
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
    kind = f"a tensor of shape {value.shape}" if hasattr(value, "_node") else f"a {type(value).__name__}"
    return _error(
        "GT314",
        f"inputs: {kind} does not require a gradient",
        fixes="make it with gt.tensor(data, requires_grad=True)",
    )


def no_gradient_will_arrive(what: str) -> GradTapeError:
    return _error(
        "GT305",
        f"{what} on a tensor that is not tracked: no gradient will arrive at it",
        fixes="gt.tensor(data, requires_grad=True), or tape.watch(x), before",
    )


# -- forward mode


def primal_not_tensor(primal: Any) -> GradTapeError:
    return _error(
        "GT314",
        f"ForwardAccumulator: primals are tensors; got a {type(primal).__name__}",
        fixes="x = gt.tensor(x) before, and compute with that x",
    )


def wrong_tangent_shape(given: Shape, shape: Shape) -> GradTapeError:
    return _error(
        "GT301",
        f"a tangent of shape {given} for a primal of shape {shape}",
        fixes=f"a direction has the shape of what moves: {shape}",
    )


# -- structures


def different_structures(name: str, other_name: str, path: str, kind: str, other_kind: str) -> GradTapeError:
    return _error(
        "GT306",
        f"{name} and {other_name} have different structures{f' at {path}' if path else ''}: "
        f"{kind} against {other_kind}",
        fixes=f"give {other_name} the same nesting, lengths and keys as {name}",
    )


# -- transforms


def wrong_argnums(argnums: Any, name: str, count: int) -> GradTapeError:
    return _error(
        "GT314",
        f"argnums={argnums!r}: {name} was called with {count} positional argument{'s' * (count != 1)}",
        fixes=f"pass what is differentiated by position, and give argnums from 0 to {max(count - 1, 0)}",
    )


def not_a_pair(name: str, result: Any) -> GradTapeError:
    return _error(
        "GT314",
        f"has_aux=True: {name} must return a pair (value, aux); it returned a {type(result).__name__}",
        fixes="return value, aux; or leave has_aux out",
    )


def returned_none(name: str) -> GradTapeError:
    return _error(
        "GT311",
        f"{name} returned None; there is nothing to differentiate",
        fixes="is a return statement missing?",
    )


def returned_no_number(name: str, output: Any) -> GradTapeError:
    return _error(
        "GT311",
        f"{name} must return one number; it returned a {type(output).__name__}",
        fixes="return the number that is to be differentiated; other results with has_aux=True",
    )


def returned_many(name: str, output: Any) -> GradTapeError:
    node = getattr(output, "_node", None)
    made = [] if node is None else [_at(node.location, "made here")]
    return _error(
        "GT307",
        f"{name} returned shape {output.shape} ({output.size} elements); a gradient is of one number",
        spans=[*made, _here("asked here")],
        fixes=[
            ".mean() or .sum() before returning",
            "gt.vjp to weigh the elements",
            "gt.jacobian for the derivative of each",
        ],
    )


def not_tuples(primals: Any, tangents: Any) -> GradTapeError:
    return _error(
        "GT314",
        f"jvp: primals and tangents are tuples with one entry for each argument; got a {type(primals).__name__} and "
        f"a {type(tangents).__name__}",
        fixes="gt.jvp(f, (x,), (v,))",
    )


# -- vmap


def differs_between_examples(size: int) -> GradTapeError:
    return _error(
        "GT314",
        f"out_axes=None for a result that differs between the {size} examples",
        ShapeError,
        fixes="give it an axis, out_axes=0",
    )


def wrong_axes(what: str, axes: Any, count: int | None) -> GradTapeError:
    return _error(
        "GT314",
        f"{what}={axes!r} does not match the structure it describes: "
        f"{'one value' if count is None else f'{count} entries'} here",
        OperandError,
        fixes="one integer for all, or a tuple with an entry (an integer or None) for each",
    )


def no_axis_to_map(index: int, shape: Shape, axis: int) -> GradTapeError:
    return _error(
        "GT117",
        f"vmap: argument {index} has shape {shape}, which has no axis {axis} to run over",
        ShapeError,
        fixes="in_axes=None for arguments that are the same for all examples",
    )


def nothing_to_map() -> GradTapeError:
    return _error("GT314", "vmap: in_axes is None for every argument", fixes="give one of them an axis")


def different_batches(arguments: Sequence[tuple[int, Shape, int, int]]) -> GradTapeError:
    return _error(
        "GT110",
        "vmap: arguments with different numbers of examples",
        ShapeError,
        notes=[
            f"  argument {index}: shape {shape}, {count} examples along axis {axis}"
            for index, shape, axis, count in arguments
        ],
        fixes="in_axes=None for those that are the same for all examples",
    )


def lost(title: str, fixes: str | Iterable[str], where: Location) -> GradTapeError:
    """A gradient would be lost in silence at `where`."""
    return _error("GT312", title, DetachError, spans=[_at(where)], fixes=fixes)
