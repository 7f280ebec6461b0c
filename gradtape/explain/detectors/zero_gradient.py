"""Detector: a gradient that is zero everywhere. Finds the operation at which it became zero, and why."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.explain.detectors.negative_cache import is_cleared, record_negative
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, source_edit
from gradtape.explain.model.record import Record, Replayable, operand_values
from gradtape.explain.source.expression import is_call_of, is_written, site_at
from gradtape.explain.source.files import one_line

_DROPOUTS = ("dropout", "alpha_dropout", "feature_dropout", "dropout1d", "dropout2d", "dropout3d")
_FLAT_PLACES = {
    "relu": "is 0 for every element, so its slope is 0",
    "relu6": "is at an end of its range for every element, where its slope is 0",
    "hard_sigmoid": "is at an end of its range for every element, where its slope is 0",
    "hard_tanh": "is at an end of its range for every element, where its slope is 0",
    "hardtanh": "is at an end of its range for every element, where its slope is 0",
    "hardsigmoid": "is at an end of its range for every element, where its slope is 0",
    "hardswish": "is 0 for every element, so its slope is 0",
    "threshold": "is below the threshold for every element, so its slope is 0",
    **dict.fromkeys(("softshrink", "hardshrink"), "is 0 for every element, which lie within the threshold"),
    "grid_sample": "takes the nearest pixel, which stays the same when the grid moves a little",
    "maximum": "takes the other operand for every element",
    "minimum": "takes the other operand for every element",
    "clip": "is at a bound for every element, and lies outside",
    "where": "takes the other branch for every element",
    **dict.fromkeys(("round", "floor", "ceil", "trunc", "sign"), "is a step function, whose slope is 0"),
    "bernoulli": "draws zeros and ones, which have no derivative by their probabilities",
    "normal": "draws numbers, which have no derivative by their means and deviations",
    "poisson": "draws integers, which have no derivative by their rates",
    **dict.fromkeys(_DROPOUTS, "drops every element"),
}
_DRAWS = frozenset({"bernoulli", "normal", "poisson"})
_DROPPED_AT_LEAST = 20  # elements, so that it is no accident
_SATURATION_VALUES = {
    "tanh": (-1.0, 1.0),
    "sigmoid": (0.0, 1.0),
    "softmax": (0.0, 1.0),
    "erf": (-1.0, 1.0),
    "exp": (0.0,),
    "exp2": (0.0,),
    "softplus": (0.0,),
    "log_sigmoid": (0.0,),
    "erfc": (0.0, 2.0),
}
_ACTIVATIONS = frozenset(
    [
        *("relu", "relu6", "hard_sigmoid", "hard_tanh", "hardtanh", "hardsigmoid", "hardswish", "threshold"),
        *_DROPOUTS,
        *("softshrink", "hardshrink", "tanh", "sigmoid", "softmax", "log_softmax"),
    ]
)
_LAYERS = frozenset(["matmul", "dot", "einsum", "tensordot", "inner", "linear", "conv", "convolution", "bilinear"])
_FIXES = {
    **dict.fromkeys(
        ("round", "floor", "ceil", "trunc", "sign"),
        "leave it out of what is differentiated; x + gt.stop_gradient(gt.round(x) - x) rounds and lets the gradient "
        "pass",
    ),
    "relu": "a smaller learning rate, or weights and biases that leave some units above 0 for some examples; "
    "leaky_relu and gelu of gt.nn.functional have a slope there",
    **dict.fromkeys(
        ("softshrink", "hardshrink", "threshold"), "a smaller threshold, or inputs and weights that exceed it"
    ),
    "grid_sample": 'mode="bilinear", which has a derivative by the grid',
    "clip": "clip what is used, not what is learned; gt.tanh or gt.sigmoid, scaled to the range, always have a slope",
    "where": "look at the condition: it is the same everywhere",
    "maximum": "look at the operand that is taken: it is larger everywhere",
    "minimum": "look at the operand that is taken: it is smaller everywhere",
    "normal": "mean + std * torch.randn_like(mean) draws the same and has a derivative; or Normal(mean, std).rsample()",
    **dict.fromkeys(_DROPOUTS, "the argument is the share that is dropped, not the one that is kept: nn.Dropout(0.1)"),
    "bernoulli": "compute with the probabilities themselves; or with a relaxed draw, which has a derivative: "
    "RelaxedBernoulli(temperature, probs).rsample() of torch.distributions",
    "exp": "scale its operand: here it is so far below zero that the result is 0 to the last bit; "
    "or compute with the logarithm",
}


_KINDS_WITH_OWN_ADVICE = ("factor", "single", "start")  # their advice does not depend on the operation


class _ZeroCause(NamedTuple):
    """The operation whose rule made a gradient zero, and why."""

    node: Record
    slot: int
    kind: str
    words: str
    name: str = ""  # of the equivalent operation: "relu" for maximum(x, 0)


def explain_zeros(replay: Replayable, zeros: Sequence[Record], everywhere: bool, targets: Sequence[Any]) -> None:
    """Report why the gradients of the sources `zeros` are zero; `everywhere` if those are all that were asked for."""
    if not is_due("GT404") or not any(np.any(seed) for _, seed in replay.seeds):
        return
    key = (*(node.place_key for node in replay.targets[:4]), len(zeros), everywhere)
    if is_cleared(key):
        return
    found = _find_cause(replay, zeros, everywhere, targets)
    if found is not None:
        report(found)
        return
    record_negative(key, replay.targets)


def _find_cause(
    replay: Replayable, zeros: Sequence[Record], everywhere: bool, targets: Sequence[Any]
) -> Problem | None:
    for source in zeros:
        causes = [_classify(replay, node, slot, targets) for node, slot in _zeroing_operations(replay, source)]
        if not causes or any(cause is None for cause in causes):
            continue
        cause = next(cause for cause in causes if cause is not None)
        if cause.kind == "start" and (not everywhere or len(zeros) < 2):
            continue  # a factor that starts at zero and is learned
        is_activation = cause.node.operation in _ACTIVATIONS or cause.name in _ACTIVATIONS
        is_stuck = cause.name == "clip" and cause.node.parents[cause.slot] is source  # a parameter outside of its range
        if everywhere or is_stuck or cause.name in _DRAWS or (is_activation and _feeds_a_layer(replay, cause.node)):
            return _zero_problem(replay, cause, zeros)
    return None


def _zeroing_operations(replay: Replayable, source: Record) -> list[tuple[Record, int]]:
    """The operations (and their operand) on the paths to `source` that get a gradient and give zeros.

    Empty where that is not certain: values were freed, or several paths cancel out.
    """
    found: list[tuple[Record, int]] = []
    targets = {*replay.targets}
    seen, pending = {source}, [source]
    while pending:
        node = pending.pop()
        for consumer in dict.fromkeys(replay.consumers.get(node, ())):
            arrived, given = replay.gradients.get(consumer), replay.cotangents.get(consumer)
            if consumer.has_several_results and _are_zeros(arrived):  # `chunk`, and each of its parts
                if consumer not in seen:
                    seen.add(consumer)
                    pending.append(consumer)
                continue
            is_lost = arrived is None or (given is None and not consumer.has_values)
            if consumer.has_several_results or (is_lost and (replay.lost is None or consumer in targets)):
                return []
            # After values were freed, an operation that turned a gradient into zeros has kept its own cotangents.
            if is_lost or not np.any(arrived):
                if consumer not in seen:
                    seen.add(consumer)
                    pending.append(consumer)
                continue
            slots = [i for i, parent in enumerate(consumer.parents) if parent is node]
            if given is None or any(given[i] is None or np.any(given[i]) for i in slots):
                return []  # freed, or several paths that cancel out
            found += [(consumer, i) for i in slots]
    return found


def _are_zeros(gradient: Any) -> bool:
    """Whether the gradient of an operation with several results, or of one of them, is there and zero."""
    parts = gradient if isinstance(gradient, list) else [gradient]
    known = [part for part in parts if part is not None]
    return bool(known) and not any(np.any(part) for part in known)


def _classify(replay: Replayable, node: Record, slot: int, targets: Sequence[Any]) -> _ZeroCause | None:
    """Why the rule of `node` gave zero; None where that is no mistake (an optimum, a factor that is still 0)."""
    name, out = node.operation, replay.values.get(node)
    gradient = replay.gradients[node]
    site = site_at(node.location)
    if name in ("maximum", "minimum") and is_call_of(site, "clip", "clip_by_value"):
        name = "clip"  # which the library has made of both
    elif not is_written(site, name) and not (name in _ACTIVATIONS and _calls_a_model(node)):
        return None  # inside a function of the library, whose flat places are intended
    if name == "maximum" and _is_relu(node, slot):
        name = "relu"
    if name == "clip" and out is not None and not np.any(out):
        name = "relu"  # clip(x, 0, None)
    if name in _FLAT_PLACES:
        if name in ("where", "grid_sample") and slot == 0:  # the condition; the image
            return None
        if _is_linear_from(replay, node):
            return None  # the flat function itself was differentiated
        if name in _DROPOUTS and (out is None or np.any(out) or out.size < _DROPPED_AT_LEAST):
            return None
        is_capped = name in ("relu", "clip") and _is_cut_from_above(node, slot)
        if out is not None and not np.any(out) and all(not np.any(target) for target in targets) and not is_capped:
            return None  # a hinge that is satisfied everywhere: the optimum
        if is_capped:
            return _ZeroCause(node, slot, "flat", "cuts off every element from above", "clip")
        if name in ("maximum", "minimum") and all(parent.is_tracked for parent in node.parents):
            return None
        return _ZeroCause(node, slot, "flat", _FLAT_PLACES[name], name)
    if name in ("softmax", "log_softmax") and _is_over_length_one(node):
        return _ZeroCause(
            node, slot, "single", f"is over an axis of length 1, and so {'1' if name == 'softmax' else '0'}"
        )
    if name in _SATURATION_VALUES and out is not None and np.isin(out, _SATURATION_VALUES[name]).all():
        if _is_linear_from(replay, node):
            return None
        if name in ("exp", "exp2", "softplus", "erfc", "log_sigmoid") and not np.any(out):
            return _ZeroCause(node, slot, "underflow", "underflows to 0 for every element, and so does its slope")
        return _ZeroCause(node, slot, "saturated", "is saturated for every element: its slope is 0 to the last bit")
    if _underflows(replay, node, gradient, slot):
        return _ZeroCause(node, slot, "underflow", f"gives a slope that underflows to 0 in {node.dtype}")
    others = [(i, value) for i, value in enumerate(operand_values(node)) if i != slot]
    constants = [value for i, value in others if value is not None and not node.parents[i].is_tracked]
    if constants and (_is_literal(node, slot) or _is_linear_to(replay, node.parents[slot])):
        return None  # `0.0 * x` is meant, and a coefficient of zero is the derivative of a linear function
    if any(np.shape(value) for value in constants) and any(
        consumer.operation in ("add", "subtract") for consumer in replay.consumers[node]
    ):
        return None  # a mask that blends two values, and takes the other everywhere
    if name in ("multiply", *_LAYERS) and constants and all(not np.any(value) for value in constants):
        return _ZeroCause(node, slot, "factor", "multiplies by zeros only")
    if constants and name == "multiply" and len(constants) == 1:
        weights = np.broadcast_to(constants[0], node.shape)
        if not np.any(weights[np.asarray(gradient) != 0]):
            return _ZeroCause(node, slot, "factor", "multiplies by zero wherever a gradient comes back")
    if name in _LAYERS and len(others) == 1:
        other = replay.inputs(node)[others[0][0]]
        if other is not None and not np.any(other):
            return _ZeroCause(
                node, slot, "start", "multiplies by zeros only, which depend on parameters that get no gradient"
            )
    return None


def _is_cut_from_above(node: Record, slot: int) -> bool:
    """Whether every element is above the bound that it is set to: `clamp(x, max=0)` where min= was meant."""
    value = node.operand_value(slot)
    return node.operation in ("clip", "minimum") and value is not None and bool(np.size(value)) and np.min(value) > 0


def _is_relu(node: Record, slot: int) -> bool:
    """Whether `maximum` has 0 for its other operand."""
    other = node.operand_value(1 - slot)
    return other is not None and not np.any(other) and not node.parents[1 - slot].is_tracked


def _is_over_length_one(node: Record) -> bool:
    """Whether an operation normalises along an axis that has one element."""
    axis = node.params.get("axis", -1)
    axes = axis if isinstance(axis, tuple) else (axis,)
    return bool(node.shape) and all(isinstance(a, int) and node.shape[a] == 1 for a in axes)


def _is_linear_from(replay: Replayable, node: Record) -> bool:
    """Whether only sums and factors lie between `node` and the target."""
    targets = {*replay.targets}
    seen, pending = {node}, [node]
    while pending:
        for consumer in replay.consumers.get(pending.pop(), ()):
            if not consumer.operation or consumer in seen:
                continue
            seen.add(consumer)
            if not _is_linear(consumer):
                return False
            if consumer not in targets:
                pending.append(consumer)
    return True


def _calls_a_model(node: Record) -> bool:
    """Whether the user's expression is the call of an object, such as a network, not of a function of a library."""
    site = site_at(node.location)
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    function = call.func if isinstance(call, ast.Call) else None
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and not site.source.is_array_module(function.id)


def _is_linear_to(replay: Replayable, node: Record) -> bool:
    """Whether only sums and factors lie between `node` and the leaves."""
    seen, pending = {node}, [node]
    while pending:
        inner = pending.pop()
        if inner.operation and replay.parents(inner) and not _is_linear(inner):
            return False
        for parent in replay.parents(inner):
            if parent not in seen:
                seen.add(parent)
                pending.append(parent)
    return True


def _is_linear(node: Record) -> bool:
    """Whether an operation is linear in what is tracked."""
    if node.kind == "linear" or node.operation in ("add", "subtract", "negative", "positive", "pick"):
        return True
    tracked = sum(parent.is_tracked for parent in node.parents)
    is_product = node.operation in ("multiply", *_LAYERS) or (node.operation == "divide" and node.parents[0].is_tracked)
    return is_product and tracked == 1


def _is_literal(node: Record, slot: int) -> bool:
    """Whether the other operand is a number that was written there: `0.0 * x` is meant."""
    site = site_at(node.location)
    parts = site._candidates(len(node.parents)) if isinstance(site.node, ast.expr) else []
    return any(isinstance(part, ast.Constant) for i, part in enumerate(parts) if i != slot)


def _underflows(replay: Replayable, node: Record, gradient: Any, slot: int) -> bool:
    """Whether the product of a gradient and a slope is zero only because it is too small a number."""
    largest = float(np.max(np.abs(gradient)))
    kind = np.asarray(gradient).dtype
    small = 1e-2 if kind == np.float16 else 1e-30  # 6e-8 is the smallest number of float16
    if not 0.0 < largest < small or not node.has_values or not node.operation:
        return False
    with np.errstate(all="ignore"):
        again = replay.apply_reverse(node, gradient / largest)
    return again[slot] is not None and bool(np.any(again[slot]))


def _feeds_a_layer(replay: Replayable, node: Record) -> bool:
    """Whether a matrix product or convolution comes after `node`: then it is a unit of a network, not a penalty."""
    seen, pending = {node}, [node]
    while pending:
        for consumer in replay.consumers.get(pending.pop(), ()):
            if consumer.operation.split("_")[0].rstrip("123d") in _LAYERS:
                return node.shape != () and int(np.prod(node.shape)) > 1
            if consumer not in seen:
                seen.add(consumer)
                pending.append(consumer)
    return False


def _zero_problem(replay: Replayable, cause: _ZeroCause, zeros: Sequence[Record]) -> Problem:
    from gradtape.explain.source.operation_site import OperationSite

    node = cause.node
    place = OperationSite(replay, node, (), cause.slot)
    elements = int(np.prod(node.shape))
    size = f" (all {elements})" if elements > 1 else ""
    inside = not is_written(place.site, node.operation)
    shown = f"{node.operation} in {place.expression}" if inside and cause.name != "clip" else place.expression
    notes = [fact for fact in [_operand_ranges(place, replay, cause)] if fact and not inside]
    fallback = {
        "saturated": "scale its operand down: inputs of about 1, smaller weights",
        "underflow": "keep away from numbers this small: compute with logarithms, or scale",
        "factor": "look at the factor: a mask that selects nothing, or a weight that was left at 0",
        "single": "gt.sigmoid for one output, or an output for each class",
        "start": "random weights to start with: gt.nn.init, or rng.normal(size=...) * 0.1",
    }
    code, start = ("GT209", "no gradient") if cause.name in _DRAWS else ("GT404", "the gradient is zero everywhere")
    return problem(
        code,
        f"{start}: {shown} {cause.words}{'' if cause.kind in _KINDS_WITH_OWN_ADVICE else size}",
        spans=[place.span],
        operands=[] if inside else place.operands(),
        notes=notes,
        consequence=f"the gradient that comes back here is not zero, what it leaves with is: "
        f"{'the source gets' if len(zeros) == 1 else f'{len(zeros)} sources get'} zeros and will not move",
        fixes=fallback[cause.kind]
        if cause.kind in _KINDS_WITH_OWN_ADVICE
        else [
            *_without_step(place, cause),
            _FIXES.get(cause.name or node.operation, fallback.get(cause.kind, "")),
        ],
        intent=f"gt.explain.configure({code}='off'), or gt.stop_gradient on what is not to be learned",
    )


def _without_step(place: Any, cause: _ZeroCause) -> list[Fix]:
    """The operand in the place of a step function, where that is written as a call."""
    call = place.site.node
    if cause.name not in ("round", "floor", "ceil", "trunc", "sign") or not isinstance(call, ast.Call):
        return []
    part = place.parts[cause.slot] if cause.slot < len(place.parts) else None
    if part is None or not is_written(place.site, cause.name):
        return []
    text = place.site.source.text(part)
    atom = isinstance(part, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    return [source_edit(one_line(text if atom else f"({text})"), place.span)]


def _operand_ranges(place: Any, replay: Replayable, cause: _ZeroCause) -> str:
    """The range of the values that the operation was given."""
    from gradtape.explain.source.operation_site import is_literal, number

    facts = []
    for i, value in enumerate(place.values):
        literal = i < len(place.parts) and is_literal(place.parts[i])
        if value is None or literal or np.asarray(value).dtype.kind not in "fiu" or not np.size(value):
            continue
        low, high = np.min(value), np.max(value)
        if low == high:
            facts.append(f"{place.operand(i)} is {number(low)}{' everywhere' if np.size(value) > 1 else ''}")
        else:
            facts.append(f"{place.operand(i)} is between {number(low)} and {number(high)}")
    return ", ".join(facts)
