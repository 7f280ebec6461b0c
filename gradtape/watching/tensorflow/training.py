"""Variables that do not learn: never asked for, not registered with their model, or frozen."""

from __future__ import annotations

import ast
import gc
import math
import sys
import weakref
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from tensorflow.python.eager import context

from gradtape.core.location import Location, is_library
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.messages.build import at
from gradtape.explain.model.problem import Fix, Problem, Span, source_edit
from gradtape.explain.source.files import SourceFile, one_line, source_of, span_of
from gradtape.explain.source.parameter_names import join_names
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.record import WatchedRecord
from gradtape.watching.tensorflow.recorder import TensorFlowRecorder, VariableRecord
from gradtape.watching.tensorflow.replay import muted
from gradtape.watching.tensorflow.tapes import TapeWatch
from gradtape.watching.tensorflow.values import is_eager

LAYERS_AT_MOST = 64
GRADIENTS_WITHOUT_STEP = 3
UNUSED_AT_MOST = 512
PLACES_AT_MOST = 4
_LAYERS = frozenset({"matmul", "convolution", "einsum", "linear"})


class Taken:
    """The gradients that were taken at one place, and a variable as it was before the first."""

    def __init__(self, where: Location, variable: Any, value: Any) -> None:
        self.where = where
        self.count = 0
        self.variable = weakref.ref(variable)
        self.value = value


class Unasked(NamedTuple):
    """A place that asked for the gradients of other variables than one that the target depends on."""

    where: Location
    asked: frozenset[VariableRecord]
    used: Location  # the operation that used it


class TrainingJudge:
    """Follows which variables the targets depend on, and which are asked for or written to."""

    def __init__(self, recorder: TensorFlowRecorder) -> None:
        self._recorder = recorder
        self._asked: set[VariableRecord] = set()
        self._unasked: dict[VariableRecord, list[Unasked]] = {}
        self._behind: dict[VariableRecord, Location] = {}  # used, not asked for, and where that was not done
        self._unbuilt: list[tuple[weakref.ref[Any], Location]] = []
        self._unused: dict[int, weakref.ref[Any]] = {}  # gradients that were given
        self._uses_gradients = False
        self._taken: dict[tuple[Any, ...], Taken] = {}  # gradients by the variables, at each place
        self._made_inside: dict[tuple[Any, ...], tuple[VariableRecord, int]] = {}

    def note_unbuilt(self, layer: Any, where: Location) -> None:
        """Note that the program has read the variables of a layer of Keras that has none before it is built."""
        if len(self._unbuilt) < LAYERS_AT_MOST:
            self._unbuilt.append((weakref.ref(layer), where))

    def judge(
        self, computation: RecordedComputation, sources: Sequence[WatchedRecord], where: Location, watch: TapeWatch
    ) -> None:
        """Look at the variables behind the targets of a gradient, and at those that it was asked for."""
        asked = [record for record in sources if isinstance(record, VariableRecord)]
        self._asked |= {*asked}
        if asked:
            self._count(asked[0], where)
        if not asked or len(asked) != len(sources):
            return
        behind = [
            record
            for record in computation.records
            if isinstance(record, VariableRecord) and record.is_variable and record not in self._asked
        ]
        for record in behind:
            if self._judge_unregistered(record, where) or self._judge_made_anew(record, where, watch):
                return
        if all(math.prod(record.shape) == 1 for record in asked):
            return  # a temperature or another number is fitted to a model as it is
        upstream = [record for record in behind if self._feeds(record, {*asked}, computation)]
        for record in behind:
            self._behind.setdefault(record, where)
        for record in upstream:
            places = self._unasked.setdefault(record, [])
            if len(places) < PLACES_AT_MOST and all(each.where.show() != where.show() for each in places):
                user = min(computation.consumers.get(record, ()), key=lambda each: each.order)
                places.append(Unasked(where, frozenset(asked), user.location))

    def _count(self, record: VariableRecord, where: Location) -> None:
        """Count the gradients by variables that are taken at a place."""
        variable = record.reference()
        if variable is None or not is_eager(variable.handle) or not context.executing_eagerly():
            return
        place = id(where.code), where.offset
        if place not in self._taken:
            with muted():
                self._taken[place] = Taken(where, variable, np.array(self._recorder.array_of(variable)))
        self._taken[place].count += 1

    def note_answers(self, gradients: Sequence[Any]) -> None:
        """Remember gradients that were given, to notice whether they are used at all."""
        for gradient in gradients[:LAYERS_AT_MOST]:
            if is_eager(gradient):
                self._unused[id(gradient)] = weakref.ref(gradient)
        while len(self._unused) > UNUSED_AT_MOST:
            del self._unused[next(iter(self._unused))]

    def note_used(self, values: Sequence[Any]) -> None:
        """Notice gradients that an operation computes with, or that leave as numbers."""
        if self._unused and not self._uses_gradients:
            known = [(value, self._unused.get(id(value))) for value in values]
            self._uses_gradients = any(held is not None and held() is value for value, held in known)

    def _judge_unapplied(self) -> bool:
        """Report gradients that were taken again and again while an optimiser was there that has made no step."""
        optimisers = [] if self._uses_gradients or not self._taken else _optimisers()
        if not optimisers or any(int(each.iterations) for each in optimisers):
            return False
        for taken in self._taken.values():
            variable = taken.variable()
            with muted():
                now = None if variable is None else self._recorder.array_of(variable)
            if taken.count < GRADIENTS_WITHOUT_STEP or now is None or not np.array_equal(now, taken.value):
                continue
            name = type(optimisers[0]).__name__
            found = problem(
                "GT512",
                f"these gradients are taken in every step and never applied: this program's {name} has made no step",
                spans=[at(taken.where, "taken here")],
                consequence="no variable changes, however many steps are made",
                fixes="optimizer.apply_gradients(zip(gradients, model.trainable_variables)) after it",
            )
            if is_due("GT512", *found.place[1:]):
                report(found)
            return True
        return False

    def finish(self) -> None:
        """Report the variables that were never asked for and never written to, although others behind them learn."""
        if self._judge_unbuilt() or self._judge_unapplied():
            return
        never = [r for r in self._unasked if self._never_learns(r) and r.location.is_known]
        never = [r for r in never if any(map(self._is_trained, self._unasked[r]))]
        if not never:
            return
        places = self._unasked[never[0]]
        # a step that was copied asks for what another step has already asked for
        copied = next((b for a, b in pairwise(places) if a.asked == b.asked), None)
        where, _, used = copied or places[0]
        names = [record.name for record in never]
        variables = f"{len(never)} trainable variables are" if len(never) > 1 else "a trainable variable is"
        spans = [at(where, "asked here, without them" if len(never) > 1 else "asked here, without it")]
        spans += [at(never[0].location, "made here")]
        if copied is not None:
            spans.append(at(places[0].where, "the same variables are asked for here"))
        if used.is_known and used.line not in [span.line for span in spans]:
            spans.append(at(used, "used here"))
        found = problem(
            "GT513",
            f"{variables} used on the way to the loss and never asked for or changed: {join_names(names)}",
            spans=spans,
            consequence="what they compute stays as it was initialised: only the variables that are asked for learn",
            fixes="ask for the variables of all parts that are to learn: a.trainable_variables + b.trainable_variables",
            intent="layer.trainable = False says that it is not to learn",
        )
        if is_due("GT513", *found.place[1:]):
            report(found)

    def _is_trained(self, place: Unasked) -> bool:
        """Whether the variables that a place asked for may have changed: else the program only looks at gradients."""
        taken = self._taken.get((id(place.where.code), place.where.offset))
        variable = None if taken is None else taken.variable()
        if taken is None or variable is None:
            return True
        with muted():
            return not np.array_equal(self._recorder.array_of(variable), taken.value)

    def _never_learns(self, record: VariableRecord) -> bool:
        """Whether a trainable variable was never asked for and never written to."""
        if record in self._asked or record.writes > 1:
            return False
        variable = record.reference()
        return variable is not None and not _is_frozen(variable)

    def _feeds(self, variable: VariableRecord, asked: set[VariableRecord], computation: RecordedComputation) -> bool:
        """Whether what a variable computes is used with each of the variables that were asked for, after it.

        A network in which the asked variable is the input (an image that is changed) does not count: what is asked for
        goes into the first operation of the other variable.
        """
        first = min(computation.consumers.get(variable, ()), key=lambda record: record.order, default=None)
        if first is None or asked & {*_ancestors(first, computation)}:
            return False
        seen: set[Any] = {variable}
        pending: list[Any] = [variable]
        met: set[VariableRecord] = set()
        while pending:
            for consumer in computation.consumers.get(pending.pop(), ()):
                met |= {p for p in consumer.parents if isinstance(p, VariableRecord) and p in asked}
                if consumer not in seen:
                    seen.add(consumer)
                    pending.append(consumer)
        return met == asked

    def _judge_unbuilt(self) -> bool:
        """Report variables that were read from a layer before it had any, and that never learn."""
        for reference, where in self._unbuilt:
            layer = reference()
            known = set() if layer is None else {id(getattr(v, "_value", v)) for v in layer.trainable_variables}
            lost = [record for record in self._behind if self._never_learns(record) and id(record.reference()) in known]
            if layer is None or not lost:
                continue
            spans = [at(where, "read here, before the layer was built")]
            asked = self._behind[lost[0]]
            if asked.show() != where.show():
                spans.append(at(asked, "asked here, without them"))
            names = join_names([record.name for record in lost])
            found = problem(
                "GT513",
                f"the variables of {layer.name!r} were read before it had any: {names} "
                f"{'are' if len(lost) > 1 else 'is'} never asked for",
                spans=spans,
                notes=["a layer of Keras makes its variables when it is called for the first time, or by build"],
                consequence="what they compute stays as it was initialised",
                fixes="read trainable_variables after the layer was called once, or give it an Input or build it first",
                intent="layer.trainable = False says that it is not to learn",
            )
            if is_due("GT513", *found.place[1:]):
                report(found)
            return True
        return False

    def _judge_made_anew(self, record: VariableRecord, where: Location, watch: TapeWatch) -> bool:
        """Report a variable that is made while the tape records, at a place that has made another one before."""
        if record.order < watch.opened or not record.location.is_known:
            return False
        before = self._made_inside.setdefault(record.place_key, (record, watch.number))
        if before[0] is record or before[1] == watch.number or before[0] in self._asked:
            return False
        found = problem(
            "GT513",
            f"{record.name} is made anew each time the loss is computed, and is not asked for",
            spans=[at(record.location, "made here"), at(where, "asked here, without it")],
            consequence="it starts from new initial values in each step, and never learns",
            fixes=[
                *_made_before_fix(record.location),
                "make the layer once, in __init__ or before the loop, and call it here",
            ],
        )
        if is_due("GT513", *found.place[1:]):
            report(found)
        return True

    def _judge_unregistered(self, record: VariableRecord, where: Location) -> bool:
        """Report a plain `tf.Variable` that is an attribute of a Keras layer, which does not know it."""
        variable = record.reference()
        owner = None if variable is None else _owner_of(variable)
        if owner is None:
            return False
        layer, attribute = owner
        spans: list[Span] = []
        offered: list[str] = []
        if record.location.is_known:
            made = span_of(record.location)
            spans.append(made.labelled("made here"))
            offered = _add_weight_fix(made, attribute)
        spans.append(at(where, "asked here, without it"))
        found = problem(
            "GT513",
            f"{type(layer).__name__}.{attribute} is a tf.Variable, which Keras does not count among the trainable "
            "variables of a layer",
            spans=spans,
            consequence="the loss depends on it, and it is never changed",
            fixes=[*offered, f'self.{attribute} = self.add_weight(shape=..., initializer=..., name="{attribute}")'],
            intent=f"trainable=False in tf.Variable says that {attribute} is not to learn",
        )
        if is_due("GT513", *found.place[1:]):
            report(found)
        return True


def _optimisers() -> list[Any]:
    """The optimisers of Keras that are alive."""
    base = getattr(sys.modules.get("keras.src.optimizers.base_optimizer"), "BaseOptimizer", None)
    return [] if base is None else [each for each in gc.get_objects() if issubclass(type(each), base)]


def frozen_model_problem(model: Any, where: Location) -> Problem | None:
    """`fit` was called with a model whose weights are all frozen; None if it has others, or a step of its own."""
    step: Any = getattr(type(model), "train_step", None)
    is_own = step is None or not is_library(step.__code__.co_filename)
    frozen = [weight for weight in model.weights if getattr(weight, "trainable", True) is False]
    layers = [layer for layer in model._flatten_layers() if layer.trainable is False and layer._trainable_variables]
    if is_own or model.trainable_variables or not frozen or not layers:
        return None
    places = _freezing_places(source_of(where.file))
    spans = [at(where, "trained here")]
    if len(places) == 1:
        spans.insert(0, places[0].labelled("frozen here"))
    names = join_names([layer.name for layer in layers])
    return problem(
        "GT512",
        f"fit has nothing to train: all weights of the model are frozen ({names})",
        spans=spans,
        consequence="no weight changes, however long it is trained",
        fixes="leave the layers that are to learn out of what is frozen: layer.trainable = True for the new head, and "
        "compile again",
        intent="model.evaluate computes the loss without training",
    )


def nothing_asked_problem(watch: TapeWatch, where: Location) -> Problem:
    """A gradient was asked for an empty list of variables: said if an error comes of it."""
    read = [record for record in watch.read if isinstance(record, VariableRecord)]
    variables = [variable for record in read if (variable := record.reference()) is not None]
    frozen = [record for record in read if (v := record.reference()) is not None and _is_frozen(v)]
    title = "the gradient is asked for no variables: the list is empty"
    if frozen and len(frozen) == len(variables):
        names = join_names([record.name for record in frozen])
        title = f"the gradient is asked for no variables: all that the loss uses are frozen ({names})"
    places = _freezing_places(source_of(where.file)) if frozen else []
    offered: list[str] = []
    spans = [at(where, "asked here")]
    if len(places) == 1:
        spans.insert(0, places[0].labelled("frozen here"))
        offered = [source_edit("True", places[0])]
    return problem(
        "GT512",
        title,
        spans=spans,
        consequence="there is nothing that an optimiser could change",
        fixes=[
            *offered,
            "model.trainable = True before its trainable_variables are read"
            if frozen
            else "read trainable_variables after the model was called once, when it has variables",
        ],
    )


def _freezing_places(source: SourceFile) -> list[Span]:
    """The values of the statements `model.trainable = False` of a file."""
    return [
        source.span(node.value)
        for node in ([] if source.tree is None else ast.walk(source.tree))
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Attribute) and target.attr == "trainable" for target in node.targets)
        and getattr(node.value, "value", None) is False
    ]


def _ancestors(start: WatchedRecord, computation: RecordedComputation) -> set[WatchedRecord]:
    """What a record was computed from, its own operands included."""
    found: set[WatchedRecord] = set()
    pending = [start]
    while pending:
        for parent in computation.parents(pending.pop()):
            if parent not in found:
                found.add(parent)
                pending.append(parent)
    return found


def _made_before_fix(made: Location) -> list[Fix]:
    """`self.out(h)` for `Dense(1)(h)`, where the class has made such a layer: `self.out = Dense(1)`."""
    source = source_of(made.file)
    node: Any = source.find(made)
    maker = node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Call) else None
    if maker is None or source.tree is None:
        return []
    same = [
        target
        for each in ast.walk(source.tree)
        if isinstance(each, ast.Assign) and source.text(each.value) == source.text(maker)
        for target in each.targets
        if isinstance(target, ast.Attribute | ast.Name)
    ]
    if len(same) != 1:
        return []
    called = one_line(source.text(node))[len(one_line(source.text(maker))) :]
    return [source_edit(f"{one_line(source.text(same[0]))}{called}", source.span(node))]


def _is_frozen(variable: Any) -> bool:
    """Whether the variable of Keras around a variable of TensorFlow is not to be trained."""
    return any(
        getattr(owner, "trainable", True) is False
        for owner in _owners(variable)
        if getattr(owner, "_value", None) is variable
    )


def _owners(value: Any) -> Iterator[Any]:
    """The objects that have a value as an attribute."""
    for holder in gc.get_referrers(value):
        if isinstance(holder, dict):
            yield from (owner for owner in gc.get_referrers(holder) if getattr(owner, "__dict__", None) is holder)
        elif not isinstance(holder, (list, tuple, set)) and hasattr(holder, "__dict__"):
            yield holder


def _owner_of(variable: Any) -> tuple[Any, str] | None:
    """The Keras layer that has a plain variable as an attribute without knowing it, and the attribute's name."""
    try:
        from keras import Layer
    except ImportError:
        return None
    for owner in _owners(variable):
        names = [name for name, value in vars(owner).items() if value is variable]
        if isinstance(owner, Layer) and names:
            known = {id(getattr(v, "_value", v)) for v in owner.trainable_variables}
            return None if id(variable) in known else (owner, names[0])
    return None


def _add_weight_fix(made: Span, attribute: str) -> list[str]:
    """`self.add_weight(...)` for `tf.Variable(1.0)`, `tf.Variable(tf.zeros(shape))` and the like."""
    source = source_of(made.file)
    call = source.at(made)
    if not isinstance(call, ast.Call) or len(call.args) != 1:
        return []
    value = call.args[0]
    kinds = {"zeros": "zeros", "ones": "ones"}
    if isinstance(value, ast.Constant) and isinstance(value.value, float | int):
        kind = {0: '"zeros"', 1: '"ones"'}.get(int(value.value) if value.value in (0, 1) else -1)
        shape = "()"
    elif isinstance(value, ast.Call) and (name := getattr(value.func, "attr", "")) in kinds and value.args:
        kind = f'"{kinds[name]}"'
        shape = one_line(source.text(value.args[0]))
        shape = shape if shape.startswith(("(", "[")) else f"({shape},)"
    else:
        return []
    if kind is None:
        return []
    return [source_edit(f'self.add_weight(shape={shape}, initializer={kind}, name="{attribute}")', source.span(call))]


__all__ = ["TrainingJudge", "frozen_model_problem", "nothing_asked_problem"]
