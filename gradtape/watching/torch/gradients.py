"""Judges a gradient that PyTorch has computed, with the records of what it was computed from."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from gradtape.core.location import Location
from gradtape.explain.detectors.nonfinite.check import forward_origins
from gradtape.explain.detectors.nonfinite.origin import forward_origin_problem
from gradtape.explain.emit.policy import report, warn
from gradtape.explain.graph import paths
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, source_edit
from gradtape.explain.source.expression import replace_span, site_at
from gradtape.explain.source.files import one_line, span_of
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.judge import Arrival, judge_gradient
from gradtape.watching.record import OperationRecord, WatchedRecord
from gradtape.watching.torch.losses import LOSSES
from gradtape.watching.torch.recorder import (
    KeptTensor,
    TorchRecorder,
    Write,
    is_plain,
    leaves_behind,
    node_of,
    storage_key,
)
from gradtape.watching.torch.replay import array_of_tensor

INFINITIES_FOLLOWED = 200


class BackwardPass:
    """What is known of one run of the autograd engine: targets, seeds, and the leaves that it reaches."""

    def __init__(self, recorder: TorchRecorder, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.location = Location.here()
        self.targets = [target for target in args[0] if isinstance(target, torch.Tensor)]
        self.is_plain = len(self.targets) == len(args[0]) and all(map(is_plain, self.targets))
        seeds = args[1] if len(args) > 1 else (None,) * len(self.targets)
        self.seeds = list(seeds)
        self.retains = bool(args[2]) if len(args) > 2 else False
        self.creates_graph = bool(args[3]) if len(args) > 3 else False
        self.inputs = [x for x in (args[4] if len(args) > 4 and args[4] else ()) if isinstance(x, torch.Tensor)]
        self.accumulates = bool(kwargs.get("accumulate_grad", False))
        self.records: list[WatchedRecord] = []
        self.leaves: list[Any] = []
        self.before: dict[int, Any] = {}  # the gradients that this pass adds to
        self.spoiled: set[int] = set()  # those of them that are not finite already
        self.is_whole = True
        if self.is_plain:
            records = [recorder.record_of(target) for target in self.targets]
            self.records = [record for record in records if record is not None]
            self.leaves, self.is_whole = leaves_behind([node_of(target) for target in self.targets])
            if self.accumulates:
                self.before = {id(leaf): leaf.grad for leaf in self.leaves if leaf.grad is not None}
                self.spoiled = {key for key, grad in self.before.items() if not bool(grad.isfinite().all())}

    def seed_is_given(self) -> bool:
        """Whether the program gave a gradient of its own to begin with."""
        return any(
            isinstance(seed, torch.Tensor) and not (seed.numel() == 1 and float(seed.detach()) == 1.0)
            for seed in self.seeds
        )


def judge_backward(
    recorder: TorchRecorder, run: BackwardPass, result: Any, tell: Callable[[Problem], Any], surveys: bool
) -> RecordedComputation | None:
    """Run the detectors on a backward pass that has ended; the computation that was judged."""
    if not run.is_plain or len(run.records) != len(run.targets):
        return None
    seeds = []
    for record, seed in zip(run.records, run.seeds):
        array = array_of_tensor(seed) if isinstance(seed, torch.Tensor) else np.ones(record.shape, record.dtype)
        if array is None:
            return None
        if record.has_several_results and isinstance(record, OperationRecord):
            return None
        seeds.append((record, array))
    arrivals: list[Arrival] = []
    judges_zeros = not run.seed_is_given()
    if run.accumulates:
        wanted = {id(x) for x in run.inputs}
        for leaf in run.leaves:
            if id(leaf) in run.spoiled:
                continue
            if is_plain(leaf) and leaf.grad is not None and is_plain(leaf.grad) and (not wanted or id(leaf) in wanted):
                reached = recorder.record_of(leaf)
                array = array_of_tensor(leaf.grad)
                if reached is not None and array is not None:
                    arrivals.append((reached, array))
        judges_zeros = judges_zeros and not run.before
    else:
        given = result if isinstance(result, tuple | list) else ()
        for source, gradient in zip(run.inputs, given):
            asked = recorder.record_of(source)
            if asked is not None and is_plain(gradient):
                arrivals.append((asked, array_of_tensor(gradient)))
    computation = RecordedComputation(seeds)
    targets = [array_of_tensor(target) for target in run.targets]
    is_nan = any(target is not None and np.isnan(target).any() for target in targets)
    if not is_nan and not _all_finite([*targets, *[gradient for _, gradient in arrivals]]) and _scales_gradients():
        return computation  # the scaler notices, leaves the step out, and scales less
    if is_nan or _is_infinite(targets):
        origin = _first_nan(computation) if is_nan else _first_infinity(computation)
        if origin is not None and (not origin.is_tracked or not forward_origins(computation)):
            computation.values[origin] = origin.value()
            report(forward_origin_problem(computation, origin))
            return computation
    changed = list(silent_writes(recorder, computation, run))
    for found in changed:
        warn(found)
    if changed:
        return computation  # all that was computed from these values would be judged by others
    departures = [cut for cut in recorder.departures if cut.reason in _LEFT_UNSAID and _is_tracked(cut)]
    for note in judge_gradient(computation, arrivals, targets, departures, judges_zeros, surveys):
        tell(note)
    return computation


_LEFT_UNSAID = frozenset(["float()", "complex()"])
"""How a value leaves the graph without a word, as in `math.exp(x)`; `.item()` and `.numpy()` say that it was meant."""


def _is_tracked(cut: WatchedRecord) -> bool:
    """Whether a gradient is lost where a value left."""
    return any(origin.is_tracked for origin in cut.origins())


def _all_finite(arrays: Sequence[Any]) -> bool:
    return all(bool(np.isfinite(array).all()) for array in arrays if array is not None)


def _scales_gradients() -> bool:
    """Whether the program has a `GradScaler`, with which infinite gradients are met and handled."""
    module = sys.modules.get("torch.amp.grad_scaler")
    kind = getattr(module, "GradScaler", None)
    if kind is None:
        return False
    # by their types: isinstance asks an object for its class, and the weak proxy of one that is gone raises an error
    return any(issubclass(type(each), kind) and each.is_enabled() for each in gc.get_objects())


def nonfinite_problem(value: Any, recorder: TorchRecorder) -> Problem | None:
    """The problem of the operation that made a tensor NaN or infinite; None where it was not recorded."""
    record = recorder.record_of(value)
    if record is None or not record.operation:
        return None
    computation = RecordedComputation([(record, np.ones(record.shape, record.dtype))])
    origin = _first_nan(computation) or _first_infinity(computation)
    if origin is None:
        return None
    computation.values[origin] = origin.value()
    return forward_origin_problem(computation, origin)


def _first_nan(computation: RecordedComputation) -> OperationRecord | None:
    """The first operation, on data or on what is trained, whose result has a NaN and whose operands have none.

    If they have an infinity instead, it is the operation that made that of finite numbers, such as a logarithm of zero.
    """
    behind: dict[Any, None] = {}
    for target in computation.targets:
        paths.all_behind(target, behind)
    for record in sorted(behind, key=lambda record: record.order):
        if not isinstance(record, OperationRecord) or record.dtype.kind != "f":
            continue
        value = record.value()
        if value is None or not np.isnan(value).any():
            continue
        inputs = [record.operand_value(index) for index in range(len(record.parents))]
        if all(x is None or not _has_nan(x) for x in inputs):
            return (None if record.operation in _TAKE_INFINITIES else _maker_of_infinity(record)) or record
    return None


def _first_infinity(computation: RecordedComputation) -> OperationRecord | None:
    """The operation on data that made the infinity which the targets have; None if it is one on what is trained."""
    for target in computation.targets:
        found = _maker_of_infinity(target) if isinstance(target, OperationRecord) else None
        if found is not None and not found.is_tracked:
            return found
    return None


_TAKE_INFINITIES = frozenset(["softmax", "log_softmax", "logsumexp", "softmin"])  # minus infinity masks there
_PASS_INFINITIES = frozenset(["where", "pad", "concatenate", "stack", "getitem", "setitem", "fill", "full"])


def _maker_of_infinity(start: OperationRecord) -> OperationRecord | None:
    """The operation behind `start` that made an infinity of finite numbers; None if it was there to begin with."""
    record = start
    for _ in range(INFINITIES_FOLLOWED):
        parents = list(enumerate(record.parents))
        spoiled = [parent for i, parent in parents if not _is_finite(record.operand_value(i))]
        if not spoiled:
            is_maker = record is not start and record.operation not in _PASS_INFINITIES and record.location.is_known
            return record if is_maker else None
        if not isinstance(spoiled[0], OperationRecord):
            return None
        record = spoiled[0]
    return None


def _is_finite(value: Any) -> bool:
    return value is None or np.asarray(value).dtype.kind not in "fc" or bool(np.isfinite(value).all())


def _is_infinite(arrays: Sequence[Any]) -> bool:
    return any(array is not None and not np.isfinite(array).all() for array in arrays)


def _has_nan(value: Any) -> bool:
    array = np.asarray(value)
    return array.dtype.kind in "fc" and bool(np.isnan(array).any())


_SAVE_THEIR_RESULT = frozenset(
    ["exp", "sqrt", "rsqrt", "sigmoid", "tanh", "softmax", "log_softmax", "reciprocal", "relu", "exp2", "expm1"]
)
_NEED_NO_VALUES = frozenset(["add", "subtract", "negative", "sum", "mean"])
_PRODUCTS = frozenset(["multiply", "matmul", "linear", "bilinear", "einsum", "conv1d", "conv2d", "conv3d"])


def _saved(record: OperationRecord) -> list[Any]:
    """The values that the rule of an operation reads, as far as that is known."""
    if record.operation in _SAVE_THEIR_RESULT:
        return [record.kept]
    if record.operation in _NEED_NO_VALUES or record.kind in ("linear", "custom"):
        return []
    if not record.kind and record.operation not in LOSSES:
        return []
    kept = list(record.inputs)
    if record.operation in _PRODUCTS:  # each factor is the derivative by the others
        tracked = [parent.is_tracked for parent in record.parents]
        kept = [each for i, each in enumerate(kept) if any(tracked[:i] + tracked[i + 1 :])]
    return kept


def silent_writes(recorder: TorchRecorder, computation: RecordedComputation, run: BackwardPass) -> Iterator[Problem]:
    """Problems for memory that the backward pass needed and that was changed through `.data` or NumPy, unnoticed."""
    for record in computation.records:
        if not isinstance(record, OperationRecord) or not record.is_tracked:
            continue
        for kept in _saved(record):
            if not isinstance(kept, KeptTensor):
                continue
            if kept.was_changed_unnoticed():
                yield _numpy_write_problem(recorder, kept, record, run)
                return
            for write in recorder.writes.get(storage_key(kept.bare), ()):
                if write.is_silent and write.order > record.order:
                    yield problem(
                        "GT309",
                        "memory that the backward pass needs was changed through .data, which PyTorch does not notice",
                        spans=[
                            span_of(write.location).labelled("changed here"),
                            span_of(record.location).labelled("saved here for the backward pass"),
                            span_of(run.location).labelled("used here"),
                        ],
                        consequence="the gradient is that of other numbers, and nothing says so",
                        fixes=[
                            *_without_data(write),
                            "a new tensor instead: x = x.clamp(max=2.0); parameters are changed after backward, in "
                            "torch.no_grad()",
                        ],
                    )
                    return


def _numpy_write_problem(
    recorder: TorchRecorder, kept: KeptTensor, record: OperationRecord, run: BackwardPass
) -> Problem:
    shared = recorder.shared.get(storage_key(kept.bare))
    spans, fixes = [], []
    if shared is not None and shared.is_known:
        spans = [
            *(span.labelled("changed here") for span in _writes_to_array(shared)),
            span_of(shared).labelled("this array and the tensor share their memory"),
        ]
        fixes = _copied_array(shared)
    return problem(
        "GT309",
        "memory that the backward pass needs was changed through a NumPy array, which PyTorch does not notice",
        spans=[
            *spans,
            span_of(record.location).labelled("saved here for the backward pass"),
            span_of(run.location).labelled("used here"),
        ],
        consequence="the gradient is that of other numbers, and nothing says so",
        fixes=[*fixes, "write to an array of its own: np.array(x.detach())"],
    )


def _bound_name(site: Any) -> tuple[ast.stmt | None, str]:
    """The statement of an expression, and the name that it binds; an empty one if it binds none."""
    statement = None if site.node is None else site.source.statement(site.node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return statement, ""
    target = statement.targets[0]
    return statement, target.id if isinstance(target, ast.Name) else ""


def _writes_to_array(shared: Location) -> Iterator[Any]:
    """The first statement after the one that made an array which writes to it, in the same function."""
    site = site_at(shared)
    statement, name = _bound_name(site)
    scope = None if site.node is None else next(iter(site.source.scopes(site.node)), None)
    if scope is None or statement is None or not name:
        return
    inner = [node for node in ast.walk(scope) if isinstance(node, ast.expr | ast.stmt)]
    after = [node for node in inner if node.lineno > statement.lineno]
    for node in sorted(after, key=lambda node: (node.lineno, node.col_offset)):
        if _writes_to(node, name):
            yield site.source.span(node)
            return


def _writes_to(node: ast.AST, name: str) -> bool:
    """Whether a statement or call writes to the array of a name."""
    if isinstance(node, ast.AugAssign):
        return _root(node.target) == name
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Subscript) and _root(target) == name for target in node.targets)
    if isinstance(node, ast.Call):
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method in ("fill", "sort", "put", "partition") and _root(node.func) == name:
            return True
        return any(k.arg == "out" and _root(k.value) == name for k in node.keywords)
    return False


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _copied_array(shared: Location) -> list[Fix]:
    """`x.detach().numpy().copy()` for `x.detach().numpy()`."""
    site = site_at(shared)
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "numpy":
        return []
    span = site.source.span(call)
    return [source_edit(f"{one_line(span.text)}.copy()", span)]


def _without_data(write: Write) -> list[Fix]:
    """`x = x.clamp(max=2)` for `x.data.clamp_(max=2)`."""
    site = site_at(write.location)
    statement = None if site.node is None else site.source.statement(site.node)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or statement is None:
        return []
    owner = call.func.value
    if not isinstance(owner, ast.Attribute) or owner.attr != "data" or not isinstance(owner.value, ast.Name):
        return []
    whole, function = site.source.span(call), site.source.span(call.func)
    text = replace_span(whole, function, f"{owner.value.id}.{call.func.attr.rstrip('_')}")
    return [] if text is None else [source_edit(f"{owner.value.id} = {text}", site.source.span(statement))]


def release(computation: RecordedComputation, location: Location) -> None:
    """Let go of the values that the library has freed too."""
    for record in computation.records:
        if isinstance(record, OperationRecord):
            record.freed = location
            record.kept = None
            record.inputs = ()
            record.replay = None


__all__ = ["BackwardPass", "judge_backward", "release"]
