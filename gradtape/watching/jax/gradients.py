"""What is judged when a gradient was taken: the records behind it, its value, and which arguments it does not reach."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jax.tree_util import tree_leaves

from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.graph.cuts import code_of, fix_for
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, Span, source_edit
from gradtape.explain.source.files import source_of, span_of
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.jax.calls import GradientCall, user_function
from gradtape.watching.jax.indices import judge_indices
from gradtape.watching.jax.loops import constant_origin, nonfinite_origin
from gradtape.watching.jax.recorder import Session
from gradtape.watching.jax.updates import UsageObserver, has_word_for_it
from gradtape.watching.jax.values import Tracer
from gradtape.watching.judge import judge_gradient, tell_observers
from gradtape.watching.observers import observers
from gradtape.watching.record import CONSTANT, KeptValue, LeafRecord, WatchedRecord

SURVEYED_AT_MOST = 60
"""How many operations a gradient may have behind it whose health is surveyed, which executes all their rules."""


class TakenGradient:
    """A gradient that was taken: the session of the function, its target, and how the gradients are read."""

    def __init__(self, call: GradientCall, session: Session, gradients: Sequence[Any]) -> None:
        self.session = session
        self.location = call.location
        self.function = user_function(call.function)
        self.arguments = call.arguments
        self.is_jacobian = call.is_jacobian
        self.target_record = call.target_record
        home = session.outer or session
        self.target: KeptValue | None = session.kept_of(call.target)
        self.gradients: list[KeptValue | None] = [home.kept_of(gradient) for gradient in gradients]
        self.leaves = list(session.leaves)


def judge_nothing_asked(call: GradientCall) -> None:
    """Report a gradient by an argument that has no array in it: the wrong part of a model that was split, say."""
    name = getattr(user_function(call.function), "__name__", "the function")
    found = problem(
        "GT512",
        f"there is nothing to differentiate {name} by: the argument has no array of floating point numbers in it",
        spans=[span_of(call.location)],
        consequence="the gradient is an empty tree, and no parameter changes",
        fixes="give it the part with the parameters: params, static = eqx.partition(model, eqx.is_inexact_array), in "
        "this order",
    )
    if call.location.is_known and is_due("GT512", *found.place[1:]):
        report(found)


def is_known(values: Sequence[Any]) -> bool:
    """Whether none of the values is a tracer."""
    return not any(isinstance(value, Tracer) for value in values)


def judge(taken: TakenGradient, surveys: bool, usage: UsageObserver) -> list[Problem]:
    """Report what is wrong with a gradient; with `surveys`, the notes about its health are returned.

    Of a parameter that is not used, `usage` is told: another function may use it.
    """
    target = None if taken.target is None else taken.target.array()
    gradients = [None if kept is None else kept.array() for kept in taken.gradients]
    record = taken.target_record
    seeds = [] if record is CONSTANT else [(record, np.ones(record.shape, record.dtype))]
    computation = RecordedComputation(seeds)
    if len(gradients) != len(taken.leaves) or any(g is None for g in gradients):
        gradients = [None] * len(taken.leaves)
    arrivals = [(leaf, g if _is_gradient_of(g, leaf) else None) for leaf, g in zip(taken.leaves, gradients)]
    targets = [] if target is None else [target]
    finite = all(np.isfinite(t).all() for t in targets) and all(
        np.isfinite(g).all() for _, g in arrivals if g is not None
    )
    where = taken.location
    reasons: dict[WatchedRecord, Problem] = {}
    if finite and not taken.is_jacobian:
        missing = [leaf for leaf, _ in arrivals if leaf not in computation.consumers]
        arrivals = [(leaf, g if leaf in computation.consumers else None) for leaf, g in arrivals]
        if observers:
            reasons = {leaf: _missing_problem(taken, [leaf], False) for leaf in missing}
        for leaf in taken.leaves:
            if leaf in computation.consumers:
                usage.note_used(leaf.name)
        if missing and report_missing(taken, missing, usage):
            tell_observers(computation, arrivals, where, reasons)
            return []
        equal = equal_units(taken, computation, arrivals) or equal_parameters(taken, arrivals)
        if equal is not None and is_due("GT514", *equal.place[1:]):
            report(equal)
        judge_indices(computation)
    if not finite and (inside := _nonfinite_elsewhere(taken, computation)) is not None:
        if is_due(inside.code, *inside.place[1:]):
            report(inside)
        tell_observers(computation, arrivals, where)
        return []
    surveys = surveys and len(computation.records) <= SURVEYED_AT_MOST and not taken.is_jacobian
    return judge_gradient(computation, arrivals, targets, (), not taken.is_jacobian, surveys, where, reasons)


def _nonfinite_elsewhere(taken: TakenGradient, computation: RecordedComputation) -> Problem | None:
    """The origin of NaN or infinity in the body of a loop, or in what was computed from constants."""
    inside = nonfinite_origin(computation, taken.session.bodies)
    if inside is not None:
        return inside
    outer = taken.session.outer
    around = outer.records if outer is not None and outer.is_program else ()
    return constant_origin(computation, taken.session.spoiled, around)


def _is_gradient_of(gradient: Any, leaf: WatchedRecord) -> bool:
    return gradient is not None and np.shape(gradient) == leaf.shape and np.asarray(gradient).dtype.kind in "fc"


# -- a gradient that is zero because nothing connects the target with an argument


def report_missing(taken: TakenGradient, missing: Sequence[LeafRecord], usage: UsageObserver) -> bool:
    """Report the arguments that the target was not computed from, or only through what has no derivative.

    Where other arguments have a gradient, `stop_gradient` may say that it was meant.
    """
    is_all = len(missing) == len(taken.leaves)
    for leaf in missing:
        cut = cut_behind(taken, leaf)
        if cut is not None:
            if not is_all and code_of(cut) == "GT208" and is_stop_meant(cut, leaf):
                continue
        elif _is_used(taken, leaf):
            lost = _overwritten(taken, leaf)
            if lost is not None and is_due("GT201", *lost.place[1:]):
                report(lost)
                return True
            continue
        elif not (is_all or _has_siblings(taken, leaf)):
            continue
        found = _missing_problem(taken, missing if is_all else [leaf], is_all)
        if cut is None and not is_all:
            usage.note_unused(leaf.name, found)
            continue
        if is_due("GT201", *found.place[1:]):
            report(found)
        return True
    return False


def _missing_problem(taken: TakenGradient, leaves: Sequence[LeafRecord], is_all: bool) -> Problem:
    """The problem for arguments, the first of which is the evidence, that get no gradient."""
    cut = cut_behind(taken, leaves[0])
    return unused_problem(taken, leaves, is_all) if cut is None else _cut_problem(taken, cut, leaves)


def is_stop_meant(cut: WatchedRecord, leaf: LeafRecord) -> bool:
    """Whether a parameter whose gradient `stop_gradient` ends was meant to get none.

    Certainly if it was applied to the parameter itself; and if the program has a word for what it does.
    """
    stopped = list(cut.origins())
    if not stopped or leaf in stopped or len(cut.joined) > 1:
        return True
    return has_word_for_it(cut.location)


def _has_siblings(taken: TakenGradient, leaf: LeafRecord) -> bool:
    """Whether a leaf is one of several parameters in a tree, which are all meant to be learned."""
    name = str(leaf.params["name"])
    return "[" in name or "." in name


def _is_used(taken: TakenGradient, leaf: LeafRecord) -> bool:
    """Whether an operation used an argument, whatever became of its result."""
    return any(leaf in record.parents for record in taken.session.records)


def _overwritten(taken: TakenGradient, leaf: LeafRecord) -> Problem | None:
    """A parameter whose only result was bound to a name that is bound again before it is read."""
    reached: set[WatchedRecord] = {leaf}
    for record in taken.session.records:
        if any(parent in reached for parent in record.parents):
            reached.add(record)
    used = {parent for record in reached for parent in record.parents}
    ends = [record for record in reached if record not in used and record is not leaf]
    lost = [_next_binding(record.location) for record in ends]
    if not lost or any(each is None for each in lost):
        return None
    name, first, second = next(each for each in lost if each is not None)
    return problem(
        "GT201",
        f"the gradient of {names_of([leaf])} is zero: {name}, which is computed from it, is bound to another value "
        "before it is used",
        spans=[
            second.labelled(f"{name} is bound again here"),
            first.labelled(f"computed from {names_of([leaf])}"),
            span_of(taken.location, "the gradient is taken here"),
        ],
        consequence="JAX gives zeros for what was not used: it will not move",
        fixes=[f"read {name} in the second statement, or give it another name and use both"],
        cause="GT202",
    )


def _next_binding(location: Any) -> tuple[str, Span, Span] | None:
    """The name that the statement at a place binds, if the next one about it binds it again without reading it."""
    from gradtape.explain.source.expression import site_at

    site = site_at(location)
    statement = None if site.node is None else site.source.statement(site.node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if statement is None or not isinstance(target, ast.Name):
        return None
    holder = site.source.parents.get(statement)
    body: list[Any] = next(
        (b for b in (getattr(holder, n, None) for n in ("body", "orelse")) if b and statement in b), []
    )
    for after in body[body.index(statement) + 1 :]:
        mentions = [part for part in ast.walk(after) if isinstance(part, ast.Name) and part.id == target.id]
        if not mentions:
            continue
        is_rebound = isinstance(after, ast.Assign) and all(isinstance(part.ctx, ast.Store) for part in mentions)
        return (target.id, site.source.span(statement), site.source.span(after)) if is_rebound else None
    return None


def cut_behind(taken: TakenGradient, leaf: LeafRecord) -> WatchedRecord | None:
    """The operation without a derivative that was the last on the way from an argument."""
    reaching = [cut for cut in taken.session.cuts if leaf in _behind(cut)]
    used = {parent for record in taken.session.records for parent in record.parents if parent.is_cut}
    steps = _steps_in(used, reaching)
    if steps:
        return steps[-1]
    return next((cut for cut in reversed(reaching) if cut in used), reaching[-1] if reaching else None)


def _steps_in(used: set[WatchedRecord], reaching: Sequence[WatchedRecord]) -> list[WatchedRecord]:
    """Of several cuts that were joined in a value that is used, the step functions that no `stop_gradient` is behind.

    `round(w / scale) * scale` with a scale of `stop_gradient(w)` has a gradient of zero because of the rounding.
    """
    joined = {part for cut in used for part in cut.joined}
    stops = [cut for cut in reaching if not cut.joined and code_of(cut) == "GT208"]
    steps = [cut for cut in reaching if cut in joined and code_of(cut) == "GT209"]
    return [cut for cut in steps if not _is_stopped_in_source(cut)] if stops else []


def _is_stopped_in_source(cut: WatchedRecord) -> bool:
    """Whether `stop_gradient` is around what a cut computes, or is given the name that it is bound to."""
    source = source_of(cut.location.file)
    node = source.find(cut.location)
    statement = None if node is None else source.statement(node)
    scope = None if node is None else next(iter(source.scopes(node)), source.tree)
    if node is None or statement is None or scope is None:
        return True
    names = {each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    for call in ast.walk(scope):
        function = getattr(call, "func", None)
        if not isinstance(call, ast.Call) or getattr(function, "attr", getattr(function, "id", "")) != "stop_gradient":
            continue
        inside = [part for argument in call.args for part in ast.walk(argument)]
        if node in inside or any(isinstance(part, ast.Name) and part.id in names for part in inside):
            return True
    return False


def _behind(start: WatchedRecord) -> set[WatchedRecord]:
    seen, pending = {start}, [start]
    while pending:
        for origin in pending.pop().origins():
            if origin not in seen:
                seen.add(origin)
                pending.append(origin)
    return seen


def names_of(leaves: Sequence[LeafRecord]) -> str:
    """The names of some arguments, the first three of many."""
    names = [str(leaf.params["name"]) for leaf in leaves]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def cut_words(cut: WatchedRecord) -> str:
    """What a cut does to the gradient."""
    return f"the value of {cut.reason} has no derivative" if code_of(cut) == "GT209" else f"{cut.reason} ends it"


def _cut_problem(taken: TakenGradient, cut: WatchedRecord, leaves: Sequence[LeafRecord]) -> Problem:
    return problem(
        "GT201",
        f"the gradient of {names_of(leaves)} is zero: {cut_words(cut)}",
        spans=[cut.location, span_of(taken.location, "the gradient is taken here")],
        consequence="JAX gives zeros where there is no gradient: nothing will move",
        fixes=fix_for(cut, is_tape=True),
        cause=code_of(cut),
    )


def unused_problem(taken: TakenGradient, leaves: Sequence[LeafRecord], is_all: bool) -> Problem:
    """The problem for arguments that the function does not use; `is_all` if those are all that it was given."""
    name = getattr(taken.function, "__name__", "the function")
    asked = span_of(taken.location, "the gradient is taken here")
    used = _use_of_outer_name(taken) if is_all else None
    spans: list[Span] = [asked]
    fixes: list[str] = [
        f"compute the result of {name} from {names_of(leaves)}; or leave it out of what is differentiated"
    ]
    if used is not None:
        span, argument, edit = used
        spans = [span.labelled(f"the same value, from outside: not the argument {argument}"), asked]
        fixes.insert(0, edit)
    elif (body := _returned(taken.function)) is not None:
        spans = [asked, body.labelled(f"computed without {names_of(leaves)}")]
    return problem(
        "GT201",
        f"the gradient of {names_of(leaves)} is zero: {name} does not use {'it' if len(leaves) == 1 else 'them'}",
        spans=spans,
        consequence="JAX gives zeros for what was not used: it will not move",
        fixes=fixes,
        cause="GT202",
    )


def _definition(function: Any) -> tuple[Any, Any] | None:
    """The file and the syntax node of a function that the user has written."""
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    source = source_of(code.co_filename)
    for node in [] if source.tree is None else ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            lines = [node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]
            if min(lines) == code.co_firstlineno and getattr(node, "name", "<lambda>") == code.co_name:
                return source, node
    return None


def _returned(function: Any) -> Span | None:
    """The expression that a function returns."""
    from gradtape.explain.source.files import returned_values

    defined = _definition(function)
    values = [] if defined is None else returned_values(defined[1])
    return defined[0].span(values[-1]) if defined is not None and values else None


def _use_of_outer_name(taken: TakenGradient) -> tuple[Span, str, str] | None:
    """Where a function reads a variable from outside that is the very object which it was given as an argument.

    With it the name of the argument, and an edit: the expressions that read it, with the argument instead.
    """
    defined = _definition(taken.function)
    if defined is None or not taken.arguments:
        return None
    source, node = defined
    function = inspect.unwrap(taken.function)
    try:
        outside = inspect.getclosurevars(function)
    except (TypeError, ValueError):
        return None
    values = {**outside.globals, **outside.nonlocals}
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    for name, value in zip(names, taken.arguments):
        for part in ast.walk(node):
            if not isinstance(part, ast.Name) or not isinstance(part.ctx, ast.Load) or part.id == name:
                continue
            if part.id in values and _is_same(values[part.id], value):
                return source.span(part), name, _with_argument(source, node, part.id, name)
    return None


def _with_argument(source: Any, node: Any, outer: str, argument: str) -> str:
    """The one expression of a function that reads an outer name, with the argument in its place."""
    uses = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id == outer]
    if len(uses) == 1:
        return source_edit(argument, source.span(uses[0]))
    statements = {source.statement(use) for use in uses}
    (first, *others) = statements
    value = node.body if isinstance(node, ast.Lambda) else getattr(first, "value", None)
    if not isinstance(value, ast.expr) or (others and not isinstance(node, ast.Lambda)):
        return f"{argument} instead of {outer}, everywhere in the function"
    span = source.span(value)
    return source_edit(re.sub(rf"(?<![\w.\"']){re.escape(outer)}\b", argument, span.text), span)


def _is_same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, (int, float, str, bool)):
        return False
    left, right = tree_leaves(one), tree_leaves(other)
    return bool(left) and len(left) == len(right) and all(a is b and hasattr(a, "shape") for a, b in zip(left, right))


# -- units that are equal


def equal_units(
    taken: TakenGradient, computation: RecordedComputation, arrivals: Sequence[tuple[WatchedRecord, Any]]
) -> Problem | None:
    """A matrix of weights whose columns are all equal, with gradients that are, in a network of several layers."""
    for leaf, gradient in arrivals:
        value = leaf.value()
        if gradient is None or value is None or np.ndim(value) != 2 or value.shape[1] < 2:
            continue
        if not np.any(gradient) or not _are_columns_equal(value) or not _are_columns_equal(gradient, 1e-6):
            continue
        layers = [user for user in computation.consumers.get(leaf, ()) if user.operation in ("matmul", "dot")]
        if layers and all(len(user.parents) == 2 and user.parents[1] is leaf for user in layers):
            after = next(_layers_after(computation, layers[0]), None)
            if after is None:
                continue
            name = leaf.params["name"]
            made = _made_here(taken, leaf)
            return problem(
                "GT514",
                f"all {value.shape[1]} units of {name} have equal weights and get equal gradients",
                spans=[*made, span_of(taken.location, "the gradient is taken here"), layers[0].location],
                consequence="they stay equal however long they are trained: the layer is as good as one unit",
                fixes="random weights to start with: jax.random.normal(key, shape) * 0.1",
            )
    return None


def equal_parameters(taken: TakenGradient, arrivals: Sequence[tuple[WatchedRecord, Any]]) -> Problem | None:
    """Two parameters that were drawn with the same key: they are equal, get equal gradients, and so stay equal."""
    seen: dict[tuple[Any, bytes], tuple[WatchedRecord, Any]] = {}
    for leaf, gradient in arrivals:
        value = leaf.value()
        if gradient is None or value is None or value.dtype.kind != "f" or not 4 <= value.size <= PARAMETERS_COMPARED:
            continue
        if np.ptp(value) == 0 or not np.any(gradient):
            continue  # made of one number, as biases are
        other = seen.setdefault((value.shape, value.tobytes()), (leaf, gradient))
        if other[0] is leaf:
            continue
        largest = float(np.max(np.abs(gradient)))
        if float(np.max(np.abs(gradient - other[1]))) > 1e-5 * largest:
            continue
        first, second = other[0].params["name"], leaf.params["name"]
        return problem(
            "GT514",
            f"{first} and {second} have the same random values and get the same gradient",
            spans=[*_made_here(taken, leaf), span_of(taken.location, "the gradient is taken here")],
            notes=["a key of jax.random gives the same numbers each time it is used"],
            consequence="they stay equal however long they are trained: two networks that are as good as one",
            fixes="a key for each: key_1, key_2 = jax.random.split(key)",
        )
    return None


PARAMETERS_COMPARED = 1 << 20


def _are_columns_equal(value: Any, tolerance: float = 0.0) -> bool:
    first = value[:, :1]
    return bool(np.all(np.abs(value - first) <= tolerance * np.max(np.abs(value))))


def _layers_after(computation: RecordedComputation, start: WatchedRecord) -> Iterator[WatchedRecord]:
    seen, pending = {start}, [start]
    while pending:
        for user in computation.consumers.get(pending.pop(), ()):
            if user not in seen:
                seen.add(user)
                pending.append(user)
                if user.operation in ("matmul", "dot") and user.parents[0].is_tracked:
                    yield user


def _made_here(taken: TakenGradient, leaf: WatchedRecord) -> list[Span]:
    """The statement that made the value of a leaf, if its name, or that of the tree it is in, is bound there."""
    from gradtape.explain.source.expression import site_at

    site = site_at(taken.location)
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call) or not call.args or not isinstance(call.args[0], ast.Name):
        return []
    bound = _first_binding(site, call.args[0].id)
    return [] if bound is None else [bound.labelled("made here")]


def _first_binding(site: Any, name: str) -> Span | None:
    """The first statement of the file that binds a name, outside of functions."""
    tree = site.source.tree
    for statement in [] if tree is None else tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
                span: Span = site.source.span(node.value)
                return span
    return None


__all__ = [
    "TakenGradient",
    "cut_behind",
    "cut_words",
    "is_known",
    "judge",
    "judge_nothing_asked",
    "names_of",
    "unused_problem",
]
