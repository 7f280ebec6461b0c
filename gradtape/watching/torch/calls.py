"""Records each call of a function of PyTorch: operations, writes, and places where values leave the graph."""

from __future__ import annotations

import ast
import sys
import weakref
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

import torch

from gradtape.core.location import Location, is_library
from gradtape.explain.detectors.lost_update import judge_lost_update
from gradtape.explain.detectors.value_flow import reads_departure
from gradtape.explain.graph import paths
from gradtape.explain.source.axes import is_outer
from gradtape.explain.source.expression import UserExpression
from gradtape.watching.judge import judge_broadcast
from gradtape.watching.record import CONSTANT, WatchedRecord
from gradtape.watching.torch import distributions, losses
from gradtape.watching.torch.operation_tables import CASTS_TO_INTEGER
from gradtape.watching.torch.operations import (
    COPY,
    DEPARTURE,
    DETACH,
    FACTORY,
    MEETING,
    SETTER,
    WRITE,
    Rule,
    params_of,
    slots_of,
)
from gradtape.watching.torch.recorder import (
    Switch,
    TorchCut,
    TorchOperation,
    TorchRecorder,
    is_leaf,
    is_plain,
    is_same_statement,
    node_of,
    storage_key,
    version_of,
)
from gradtape.watching.torch.replay import Call, flat_tensors

COMPARISONS = frozenset({"equal", "not_equal", "greater", "greater_equal", "less", "less_equal"})
DEPARTURES_READ = 16
PARAMETERS_AT_MOST = 4096  # of which it is kept where they were made; modules keep it for those that they register
_BINARY_FORMS = {"max": "maximum", "min": "minimum"}
_UPDATES = frozenset({"subtract", "add", "multiply", "divide"})


class CallRecorder:
    """Makes the records of calls."""

    def __init__(self, recorder: TorchRecorder) -> None:
        self.recorder = recorder
        self.changed_leaf: Any = None  # called with a leaf that was written to, and the place
        self.frozen: dict[int, tuple[weakref.ref[Any], Location]] = {}
        self.required: dict[int, tuple[weakref.ref[Any], Location]] = {}
        self.cleared: dict[int, tuple[weakref.ref[Any], Location]] = {}  # where .grad was set to None last

    def record(
        self, rule: Rule, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any, random_state: Any
    ) -> None:
        """Record a call that has returned `result`."""
        what = rule.what
        if what == DEPARTURE:
            self._departure(rule, args, result)
        elif what == DETACH:
            self._detach(rule, args, result)
        elif what == COPY:
            self._copy(rule, args, kwargs, result)
        elif what == FACTORY:
            self._factory(result)
        elif what == SETTER:
            self._setter(rule, args, kwargs)
        elif what == MEETING:
            distributions.judge_meeting(flat_tensors(args))
        elif what == WRITE:
            self._write(rule, func, args, kwargs, result, random_state)
        else:
            self._operation(rule, func, args, kwargs, result, random_state)

    # -- operations

    def _operation(
        self, rule: Rule, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any, random_state: Any
    ) -> None:
        tensors = flat_tensors(result)
        if not tensors or not all(map(is_plain, tensors)):
            return
        slots = slots_of(rule, args, kwargs)
        operands = [slot.of(args, kwargs) for slot in slots]
        if not any(map(is_plain, operands)) or any(isinstance(x, torch.Tensor) and not is_plain(x) for x in operands):
            if not operands:
                self._factory(result)  # torch.normal(0.0, 1.0, (3,))
            return
        if len(tensors) == 1 and any(tensors[0] is operand for operand in operands):
            return  # `x.contiguous()`, `x.to(same)`, `x.float()`: no new tensor
        recorder, location = self.recorder, Location.here()
        if rule.name in _UPDATES and self._is_lost_update(operands, location):
            return
        if rule.name in _BINARY_FORMS and len(operands) == 2:  # torch.min(a, b), which is no reduction
            rule = rule._replace(name=_BINARY_FORMS[rule.name], kind="elementwise")
        tracked = [tensor for tensor in tensors if tensor.requires_grad]
        if not tracked and any(isinstance(x, torch.Tensor) and x.requires_grad for x in operands):
            self._cut(rule, args, kwargs, operands, tensors, location)
            if rule.kind == "elementwise" or rule.name in COMPARISONS:
                self._judge_metric(rule, operands, tensors[0], location)
            return
        params = params_of(rule, args, kwargs, result)
        replay = Call(func, rule, args, kwargs, slots, random_state).replay()
        first = tracked[0] if tracked else tensors[0]
        made = recorder.operation(rule.name, rule.kind, params, operands, first, location, replay)
        made.func, made.own_name = func, rule.own_name
        made.chosen_by = [record for x in _indices(rule, args) if (record := recorder.record_of(x)) is not None]
        if not tracked:
            noted = recorder.untracked(made)
            for tensor in tensors:
                recorder.note(tensor, noted)
        elif len(tensors) == 1 and isinstance(result, torch.Tensor):
            recorder.note(first, made)
        else:
            recorder.results(made, tensors)
            positions = [tensor for tensor in tensors if tensor.dtype == torch.long]  # of `topk`, `sort`, `max`
            if positions:
                self._cut(rule, args, kwargs, operands, positions, location)
        if rule.kind == "elementwise" and len(operands) == 2:
            judge_broadcast(made, operands, (_shape(operands[0]), _shape(operands[1])))
            distributions.judge_likelihood(operands)
        elif rule.name in COMPARISONS and not tracked:
            self._judge_metric(rule, operands, first, location)
        elif rule.name in losses.LOSSES:
            losses.judge_loss(made, rule, args, kwargs)
        elif rule.name == "logsumexp":
            distributions.judge_logits(operands[0])
        elif rule.name == "gumbel_softmax":
            distributions.judge_softmax(rule.name, operands[0])

    def _judge_metric(self, rule: Rule, operands: Sequence[Any], result: Any, location: Location) -> None:
        """Judge the broadcast of what is computed without gradients: a metric, an accuracy, the target of a critic.

        One operand comes from a model, and in a comparison the other one does not: all pairs of labels may be meant.
        """
        if len(operands) != 2 or not is_outer(_shape(operands[0]), _shape(operands[1])):
            return
        if rule.name in COMPARISONS and any(map(_is_range, operands)):
            return  # best == torch.arange(classes): one-hot, with as many examples as classes
        records = [self.recorder.record_of(x) for x in operands]
        of_model = [record is not None and _is_of_model(record) for record in records]
        if not any(of_model) or (rule.name in COMPARISONS and all(of_model)):
            return
        made = self.recorder.operation(rule.name, rule.kind, {}, operands, result, location, None)
        judge_broadcast(made, operands, (_shape(operands[0]), _shape(operands[1])))

    def _is_lost_update(self, operands: Sequence[Any], location: Location) -> bool:
        """Whether a new value of a parameter is only bound to the name of a loop, which is reported."""
        has_leaf = any(is_plain(operand) and is_leaf(operand) for operand in operands)
        if not has_leaf and "state_dict" not in getattr(location.code, "co_names", ()):
            return False
        place = id(location.code), location.offset
        if place not in self._updates:
            self._updates[place] = judge_lost_update(location, "torch")
        return self._updates[place]

    def _cut(
        self,
        rule: Rule,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        operands: Sequence[Any],
        tensors: Sequence[Any],
        location: Location,
    ) -> None:
        """An operation on tracked operands whose result is not tracked."""
        recorder = self.recorder
        sources = [record for x in operands if (record := recorder.record_of(x)) is not None]
        reason = rule.name
        if not torch.is_grad_enabled():
            reason = "no_grad"
        elif rule.name == "astype" or rule.own_name in CASTS_TO_INTEGER:
            reason = "a cast to integer or bool"
        for tensor in tensors:
            cut = recorder.cut_from(reason, sources, tensor, location)
            cut.operation_name = rule.name
            if reason == "no_grad":
                cut.switched = self._switched_off

    @property
    def _updates(self) -> dict[tuple[int, int], bool]:
        found: dict[tuple[int, int], bool] = self.__dict__.setdefault("_judged_updates", {})
        return found

    _switched_off: Switch | None = None

    def switch(self, was_enabled: bool) -> None:
        """Gradients were switched on or off: remember where the program did that."""
        is_enabled = torch.is_grad_enabled()
        if is_enabled or not was_enabled:
            self._switched_off = None if is_enabled else self._switched_off
            return
        self._switched_off = Switch(Location.here(), _decorated_function())

    # -- values that leave

    def _departure(self, rule: Rule, args: Sequence[Any], result: Any) -> None:
        source = args[0] if args else None
        if not is_plain(source):
            return
        record = self.recorder.record_of(source)
        if record is None or record is CONSTANT:
            return
        value = result if isinstance(result, float | int) else None
        cut = self.recorder.cut(rule.name, [record], None, Location.here(), value)
        cut.kept, cut.library = record.kept, self.recorder.name
        self.recorder.hold([record, *record.parents])
        if rule.name in (".numpy()", "np.asarray()") and hasattr(result, "__array_interface__"):
            if source is not None and result.__array_interface__["data"][0] == source.data_ptr():
                self.recorder.share(source, cut.location)
            self._arrays[result.__array_interface__["data"][0]] = cut
            while len(self._arrays) > 256:
                del self._arrays[next(iter(self._arrays))]

    @property
    def _arrays(self) -> dict[int, WatchedRecord]:
        found: dict[int, WatchedRecord] = self.__dict__.setdefault("_left_as_arrays", {})
        return found

    def _detach(self, rule: Rule, args: Sequence[Any], result: Any) -> None:
        source = args[0] if args else None
        if not is_plain(source) or not is_plain(result):
            return
        record = self.recorder.record_of(source)
        if rule.own_name == "detach_":
            return
        if record is None or record is CONSTANT:
            return
        if not record.is_tracked and not record.is_cut:
            self.recorder.note(result, record)
            return
        reason = rule.name if record.is_tracked else record.reason
        cut = self.recorder.cut_from(reason, [record], result, Location.here())
        cut.alias_of = weakref.ref(source)
        cut.operation_name = rule.name

    def _copy(self, rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        """`torch.tensor(t)`, `torch.tensor([a, b])`, `torch.from_numpy(a)`: a tensor without a history."""
        if not is_plain(result):
            return
        given = args[-1] if args and rule.is_method else args[0] if args else next(iter(kwargs.values()), None)
        location = Location.here()
        self.recorder.made[id(result)] = (weakref.ref(result), location)
        interface = getattr(given, "__array_interface__", None)
        if interface is not None and interface["data"][0] == result.data_ptr() and result.numel():
            self.recorder.share(result, location)
        tensors = [x for x in flat_tensors(given) if is_plain(x)]
        if any(x is result for x in tensors) or (tensors and node_of(result) is not None):
            return
        sources = [record for x in tensors if (record := self.recorder.record_of(x)) not in (None, CONSTANT)]
        sources += self._departed(given)
        known = [source for source in sources if source is not None]
        if not known:
            return
        reason = "gt.tensor()" if any(source.is_tracked for source in known) else known[0].reason or "gt.tensor()"
        is_array = interface is not None and known[0].is_cut and known[0].location.is_known
        cut = self.recorder.cut_from(reason, known, result, known[0].location if is_array else location)
        if result.requires_grad:
            self.recorder.note(result, self.recorder.copied_leaf(result, cut, location))

    def parameter_made(self, parameter: Any, data: Any) -> None:
        """`nn.Parameter(data)`: a leaf, also where its data was computed from other parameters."""
        recorder, location = self.recorder, Location.here()
        if len(recorder.made) < PARAMETERS_AT_MOST:
            recorder.made[id(parameter)] = (weakref.ref(parameter), location)
        if not is_plain(data) or node_of(data) is None or not parameter.requires_grad:
            return
        record = recorder.record_of(data)
        if record is not None and record.is_tracked:
            cut = recorder.cut_from("gt.tensor()", [record], parameter, location)
            leaf = recorder.copied_leaf(parameter, cut, location)
            leaf.is_parameter = True
            recorder.note(parameter, leaf)

    def _departed(self, given: Any) -> list[WatchedRecord]:
        """The departures of the numbers and arrays that a new tensor is made of."""
        if hasattr(given, "__array_interface__"):
            found = self._arrays.get(given.__array_interface__["data"][0])
            if found is not None:
                return [found]
            here = Location.here()
            beside = [cut for cut in self.recorder.departures if is_same_statement(cut.location, here)]
            return beside[-1:] or self._read_departures()
        numbers: set[Any] = set()
        pending = [given]
        while pending and len(numbers) < 1000:
            each = pending.pop()
            if isinstance(each, list | tuple):
                pending.extend(each)
            elif isinstance(each, float):
                numbers.add(each)
        return [cut for cut in self.recorder.departures if cut.params.get("value") in numbers] if numbers else []

    def _read_departures(self) -> list[WatchedRecord]:
        """The departure of the array that the present call makes a tensor of, as far as the source shows."""
        site = UserExpression.present()
        call = site.node.value if isinstance(site.node, ast.Expr) else site.node
        if not isinstance(call, ast.Call) or not call.args:
            return []
        recent = list(self.recorder.departures)[-DEPARTURES_READ:]
        return [cut for cut in reversed(recent) if reads_departure(site, call.args[0], cut)][:1]

    def _factory(self, result: Any) -> None:
        if is_plain(result):
            self.recorder.made[id(result)] = (weakref.ref(result), Location.here())
            if len(self.recorder.made) > 4096:
                for key in [key for key, (reference, _) in self.recorder.made.items() if reference() is None]:
                    del self.recorder.made[key]

    # -- changes

    def _setter(self, rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if not args or not is_plain(args[0]):
            return
        tensor, location = args[0], Location.here()
        if rule.name == "requires_grad":
            table = self.required if tensor.requires_grad else self.frozen
            table[id(tensor)] = (weakref.ref(tensor), location)
            if is_leaf(tensor) and id(tensor) not in self.recorder.made:
                self.recorder.made[id(tensor)] = (weakref.ref(tensor), location)
        elif rule.name == "grad" and len(args) > 1 and args[1] is None:
            self.cleared[id(tensor)] = (weakref.ref(tensor), location)
        elif rule.name == "data":
            self.recorder.note_write(tensor, ".data", location, is_silent=True)
            if not is_leaf(tensor):
                self._replace_data(tensor, args[1:2], location)
            elif not self._is_overwritten(tensor, args[1:2], location):
                self.leaf_changed(tensor, location)

    def _write(
        self, rule: Rule, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any, random_state: Any
    ) -> None:
        """A function that writes to its first argument."""
        target = _written(args, kwargs)
        if isinstance(target, list | tuple):
            for each in target:
                if is_plain(each):
                    self._note_write(rule, each, Location.here())
            return
        if not is_plain(target):
            return
        recorder, location = self.recorder, Location.here()
        before = self.before_write
        slots = slots_of(rule, args, kwargs)
        operands = [slot.of(args, kwargs) for slot in slots]
        self._note_write(rule, target, location)
        if any(isinstance(x, torch.Tensor) and not is_plain(x) for x in operands):
            return
        if not target.requires_grad:
            self._constant_write(rule, target, operands, location)
            return
        if node_of(target) is None:
            others = [x for x in operands if isinstance(x, torch.Tensor) and x is not target]
            self._is_overwritten(target, others, location)
            return
        others = [x for x in operands if x is not target]
        made = recorder.operation(
            rule.name, rule.kind, params_of(rule, args, kwargs, target), others, target, location, None
        )
        old = before if before is not None else CONSTANT
        made.parents = [old, *made.parents]
        made.operands = [*_spec_like(old, target), *made.operands]
        made.inputs = [None, *made.inputs]
        made.own_name = rule.own_name
        recorder.note(target, made)
        recorder.written_from[storage_key(target)] = made
        if rule.kind == "elementwise" and len(others) == 1 and len(operands) == 2:
            judge_broadcast(made, operands, (_shape(operands[0]), _shape(operands[1])))

    before_write: WatchedRecord | None = None

    def prepare_write(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Look up the record of what is about to be written to."""
        self.before_write = self.recorder.record_of(_written(args, kwargs))

    def _constant_write(self, rule: Rule, target: Any, operands: Sequence[Any], location: Location) -> None:
        """A write to a tensor that requires no gradient: of tracked values, under no_grad, it is a cut."""
        recorder = self.recorder
        tracked = [x for x in operands if isinstance(x, torch.Tensor) and x is not target and x.requires_grad]
        sources = [record for x in tracked if (record := recorder.record_of(x)) is not None]
        if sources and not torch.is_grad_enabled():
            recorder.cut_from("no_grad", sources, target, location)
        elif self.before_write is not None and self.before_write.is_cut:
            recorder.note(target, self.before_write)

    def _note_write(self, rule: Rule, target: Any, location: Location) -> None:
        recorder = self.recorder
        recorder.note_write(target, rule.own_name or rule.name, location)
        before = self.before_write
        origin = before.alias_of() if isinstance(before, TorchCut) and before.alias_of is not None else None
        if origin is not None and before is not None and before.reason in (".data", "stop_gradient"):
            is_silent = version_of(origin) == recorder.version_seen(origin)
            if is_silent:
                recorder.note_write(origin, rule.own_name or rule.name, location, is_silent=True)
            if is_leaf(origin):
                self.leaf_changed(origin, location)
        if is_leaf(target):
            self.leaf_changed(target, location)

    def leaf_changed(self, leaf: Any, location: Location) -> None:
        """Tell who wants to know that a leaf was written to."""
        if self.changed_leaf is not None:
            self.changed_leaf(leaf, location)

    def _replace_data(self, tensor: Any, values: Sequence[Any], location: Location) -> None:
        """`h.data = f(w)` of a computed tensor: its graph stays what it was, and what was computed is cut off."""
        recorder = self.recorder
        before = recorder.record_of(tensor)
        records = [record for x in values if is_plain(x) and (record := recorder.record_of(x)) is not None]
        if before is None or before is CONSTANT or not any(_is_computed(record) for record in records):
            return
        shape, dtype = recorder.spec_of(tensor)
        cut = TorchCut(".data", shape, dtype, location, records)
        cut.library = recorder.name
        recorder.hold(records)
        recorder.note(tensor, recorder.overwritten(tensor, [before, cut], location))

    def _is_overwritten(self, leaf: Any, values: Sequence[Any], location: Location) -> bool:
        """Whether a leaf is given values that were computed from parameters, not from itself: `w.data = net(z)`."""
        recorder = self.recorder
        found = [record for x in values if is_plain(x) and (record := recorder.record_of(x)) is not None]
        records = [record for record in found if _is_computed(record)]
        own = recorder.record_of(leaf)
        if not records or any(own in paths.all_behind(record) for record in records):
            return False
        shape, dtype = recorder.spec_of(leaf)
        cut = TorchCut(".data", shape, dtype, location, records)
        cut.library = recorder.name
        recorder.hold(records)
        recorder.note(leaf, recorder.copied_leaf(leaf, cut, location))
        return True


def _is_computed(record: WatchedRecord) -> bool:
    """Whether a value was computed from what requires gradients, also if it was taken off the graph at its end."""
    for _ in range(4):
        if record.is_tracked:
            return bool(record.operation)
        if not record.is_cut or record.joined:
            return False
        record = next((origin for origin in record.origins() if origin is not CONSTANT), CONSTANT)
    return False


def _is_range(x: Any) -> bool:
    """Whether a vector is 0, 1, 2, ..."""
    if not isinstance(x, torch.Tensor) or x.dim() != 1:
        return False
    return bool((x == torch.arange(len(x), device=x.device)).all())


def _is_of_model(record: WatchedRecord) -> bool:
    """Whether a value was computed from what requires gradients, even if it has none itself."""
    return any(each.is_cut or each.is_tracked for each in paths.all_behind(record) if each is not CONSTANT)


def _indices(rule: Rule, args: Sequence[Any]) -> list[Any]:
    """The tensors that an element is picked with, which are no operands."""
    return flat_tensors(args[1]) if rule.name == "getitem" and len(args) > 1 else []


def _written(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a function writes to: its first argument."""
    return args[0] if args else kwargs.get("tensor", kwargs.get("input"))


def _decorated_function() -> Any:
    """The function that is being entered, if it is one with `@torch.no_grad()` above it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        if frame.f_code.co_name == "decorate_context":
            return frame.f_locals.get("func")
        frame = frame.f_back
    return None


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(x.shape) if isinstance(x, torch.Tensor) else ()


def _spec_like(record: WatchedRecord, tensor: Any) -> list[Any]:
    from gradtape.watching.record import OperandSpec

    return [OperandSpec(tuple(tensor.shape), record.dtype, record.is_tracked)]


__all__ = ["CallRecorder", "TorchOperation"]
