"""What becomes of gradients: parameters that no update reaches, and updates that are the gradient itself.

A program of JAX applies its updates itself, or with optax or equinox. Parameters that get a gradient in every step and
keep their value while others change are ones that the optimiser does not have. `optax.masked` hands on the gradients
that it does not change: `apply_updates` adds them, and the parameter climbs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from jax.tree_util import keystr, tree_flatten_with_path, tree_leaves

from gradtape.core.location import Location
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, source_edit
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import source_of, span_of

STEPS_AT_LEAST = 3
BYTES_AT_MOST = 1 << 22

MEANT = re.compile(
    r"freez|froze|pretrain|fixed|constant|target|teacher|student|slow|momentum|\bema\b|ema_|_ema|polyak|\bold|_old|"
    r"baseline|advantage|critic|reward|probe|reference|anchor|detach|straight|codebook|quanti|byol|simsiam|contrastive|"
    r"set_to_zero|alternat|warm|no gradient|without gradient|not (be )?(trained|learned|updated)|tun(e|ed|ing)\b"
)
"""Words of programs that keep a part of their parameters out of a gradient or an update on purpose."""


COMMENTS_NEAR = 3  # lines before and after a place


def has_word_for_it(location: Location) -> bool:
    """Whether the program at a place has a word for parameters that are kept as they are; also if it cannot be read.

    Its words are its names and texts, and the lines around the place with their comments. Other comments may speak of
    anything.
    """
    source = source_of(location.file)
    if not any(source.lines) or source.tree is None:
        return True
    near = source.lines[max(location.line - 1 - COMMENTS_NEAR, 0) : location.line + COMMENTS_NEAR]
    words = " ".join([*_words_of(source.tree), *near])
    return MEANT.search(words.lower()) is not None


def _words_of(tree: ast.AST) -> Iterator[str]:
    """The names and texts of a program, without its documentation."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg | ast.keyword):
            yield node.arg or ""
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
            yield node.value


UPHILL = 0.5
"""The cosine between a step and the gradient above which it goes uphill."""

_LOSS = re.compile(r"loss|error|cost|mse|nll|residual|penalty|misfit|negative|energy|risk|divergence")
_ASCENT = re.compile(
    r"maxim|ascen|ascent|reward|advers|attack|perturb|discriminat|critic|generator|dual|lagrang|multiplier|elbo|"
    r"utility|reversal|unlearn|worst|minimax|robust"
)
"""Words of programs that make a function larger on purpose."""


def _is_ascent_meant(location: Location) -> bool:
    source = source_of(location.file)
    if source.tree is None or not any(source.lines):
        return True
    near = source.lines[max(location.line - 1 - COMMENTS_NEAR, 0) : location.line + COMMENTS_NEAR]
    return _ASCENT.search(" ".join([*_words_of(source.tree), *near]).lower()) is not None


def _slope(moves: Sequence[tuple[Any, Any]]) -> float | None:
    """The cosine between a step of all parameters and their gradient; None if there is none."""
    along = sum(float(np.vdot(step, gradient)) for step, gradient in moves)
    lengths = [sum(float(np.vdot(part, part)) for part in parts) for parts in zip(*moves)]
    if len(lengths) != 2 or not all(0.0 < length < np.inf for length in lengths):
        return None
    return along / float(np.sqrt(lengths[0]) * np.sqrt(lengths[1]))


def _ascent_problem(location: Location, name: str, applied: Location | None) -> Problem:
    asked = span_of(location, "the gradient is taken here")
    source = source_of(location.file)
    step = None if applied is not None else _uphill_statement(source)
    spans = [asked] if step is None else [source.span(step, "the step is made here"), asked]
    if applied is not None:
        spans = [span_of(applied, "the step is made here"), asked]
    return problem(
        "GT512",
        f"every step goes uphill, along the gradient of {name}, which grows",
        spans=spans,
        consequence="a loss is made smaller by steps against its gradient: the sign is wrong, or is changed twice",
        fixes=[
            "params - rate * grads; the optimisers of optax have the sign in them already, and no scale(-1.0) after it",
            "optax.scale(-rate) at the end of a chain of scale_by_... transformations, which have no sign",
        ],
        intent="a name or a comment that says so: maximise, ascent, reward",
    )


def _uphill_statement(source: Any) -> ast.stmt | None:
    """The one statement of a program that adds a multiple of something to a name: `w = w + 0.1 * g`."""
    found: list[ast.stmt] = []
    for node in [] if source.tree is None else ast.walk(source.tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
            target, first = node.targets[0], node.value.left
            same = isinstance(target, ast.Name) and isinstance(first, ast.Name) and target.id == first.id
            if same and isinstance(node.value.right, ast.BinOp) and isinstance(node.value.right.op, ast.Mult):
                found.append(node)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.value, ast.BinOp):
            found.append(node)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args:
            function = node.value.args[0]
            body = function.body if isinstance(function, ast.Lambda) else None
            if isinstance(body, ast.BinOp) and isinstance(body.op, ast.Add):
                found.append(node)
    return found[0] if len(found) == 1 else None


class _Parameter:
    """What was seen of one parameter at a place that takes gradients."""

    def __init__(self, digest: Hashable, held: Any, is_handed_on: bool) -> None:
        self.digest = digest
        self.held = held
        self.is_handed_on = is_handed_on  # the compiled function around the gradient returns it as it was given
        self.steps = 1
        self.changes = 0
        self.had_no_gradient = False
        self.was_computed = False  # an update reached it, which was zero
        self.last: tuple[Any, Any] | None = None  # its value and its gradient at the step before

    def see(self, digest: Hashable, held: Any, is_handed_on: bool) -> None:
        """See its value at the next step: the same array as before, or another one with the same numbers."""
        self.steps += 1
        self.is_handed_on = self.is_handed_on and is_handed_on
        self.changes += digest != self.digest
        self.was_computed = self.was_computed or held is None or not (is_handed_on or held is self.held)
        self.digest, self.held = digest, held


class UpdateObserver:
    """Compares the parameters that gradients are taken by with what they were at the step before."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, int], tuple[Location, dict[str, _Parameter]]] = {}
        self._slopes: dict[tuple[int, int], list[float]] = {}  # how far each step went along the gradient
        self._names: dict[tuple[int, int], str] = {}
        self.applied: Location | None = None  # where updates were applied last

    def see(self, location: Location, leaves: Sequence[Any], gradients: Sequence[Any], function: Any = None) -> None:
        """Look at the parameters of a gradient of `function` that was taken."""
        place = id(location.code), location.offset
        _, known = self._places.setdefault(place, (location, {}))
        self._names[place] = getattr(function, "__name__", "")
        moves: list[tuple[Any, Any]] = []
        for leaf, gradient in zip(leaves, gradients):
            value = leaf.value()
            if value is None or value.nbytes > BYTES_AT_MOST:
                continue
            digest = hash(np.ascontiguousarray(value).tobytes())
            held, is_handed_on = _array_behind(leaf.kept)
            parameter = known.get(leaf.name)
            if parameter is None:
                known[leaf.name] = parameter = _Parameter(digest, held, is_handed_on)
            else:
                parameter.see(digest, held, is_handed_on)
            if gradient is None or not np.any(gradient) or not np.isfinite(gradient).all():
                parameter.had_no_gradient = True
            if parameter.last is not None and parameter.last[0].shape == value.shape:
                moves.append((value - parameter.last[0], parameter.last[1]))
            is_number = gradient is not None and value.dtype.kind == "f" and np.shape(gradient) == value.shape
            is_number = is_number and len(self._slopes.get(place, ())) < STEPS_AT_LEAST - 1
            parameter.last = (np.array(value), np.array(gradient)) if is_number else None
        slope = _slope(moves)
        if slope is not None:
            self._slopes.setdefault(place, []).append(slope)
        if len(self._slopes.get(place, ())) >= STEPS_AT_LEAST - 1:  # enough was seen: let go of the copies
            for parameter in known.values():
                parameter.last = None

    def finish(self, made: Location | None = None) -> None:
        """Report the parameters that had a gradient in every step and kept their value, while others changed.

        Where all have kept it, and `made` is the only place that makes updates, these are not kept.
        """
        if made is not None and len(self._places) == 1:
            self._judge_unapplied(made)
        for location, known in self._places.values():
            moved = [name for name, p in known.items() if p.changes and p.changes == p.steps - 1]
            trees = {_tree_of(name) for name in moved}
            kept = [name for name, p in known.items() if not (p.changes or p.had_no_gradient or p.was_computed)]
            kept = [name for name in kept if _tree_of(name) in trees]  # not data that are differentiated too
            if not kept or not moved or min(known[n].steps for n in kept) < STEPS_AT_LEAST or has_word_for_it(location):
                continue
            found = _kept_problem(location, kept, moved)
            if is_due("GT513", *found.place[1:]):
                report(found)
        for place, slopes in self._slopes.items():
            location = self._places[place][0]
            is_ascent = len(slopes) >= STEPS_AT_LEAST - 1 and min(slopes) > UPHILL
            if is_ascent and _LOSS.search(self._names[place].lower()) and not _is_ascent_meant(location):
                found = _ascent_problem(location, self._names[place], self.applied)
                if is_due("GT512", *found.place[1:]):
                    report(found)

    def _judge_unapplied(self, made: Location) -> None:
        """Report updates that are made in each step, while no parameter changes although each has a gradient."""
        ((location, known),) = self._places.values()
        parameters = [*known.values()]
        is_still = parameters and not any(p.changes or p.was_computed for p in parameters)
        is_seen = all(p.is_handed_on or p.steps >= STEPS_AT_LEAST for p in parameters)
        if not is_still or not is_seen or has_word_for_it(location):
            return
        if all(p.had_no_gradient for p in parameters):
            return
        found = problem(
            "GT512",
            "updates are made in every step, and no parameter changes: what comes of them is not kept",
            spans=[span_of(made), span_of(location, "the gradient is taken here, by the same parameters each time")],
            consequence="every step starts from the first parameters, however long the program trains",
            fixes="params = optax.apply_updates(params, updates) after it; a function returns the new state, and its "
            "caller keeps it: state, loss = step(state, batch)",
        )
        if is_due("GT512", *found.place[1:]):
            report(found)


def _array_behind(kept: Any) -> tuple[Any, bool]:
    """The array of JAX that a parameter is, and whether the program around the gradient returns it as it was given."""
    program = getattr(kept, "program", None)
    if program is None:
        return getattr(kept, "held", None), False
    outputs = {program.slot_of_record.get(output) for output in program.outputs if output is not None}
    return program.given.get(kept.slot), kept.slot in outputs


class UsageObserver:
    """Which parameters of a tree get a gradient anywhere: one that a function does not use may belong to another."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._unused: dict[str, Problem] = {}

    def note_used(self, name: str) -> None:
        """Remember that a parameter got a gradient."""
        self._used.add(_path_of(name))

    def note_unused(self, name: str, found: Problem) -> None:
        """Keep what is to be said of a parameter that a function does not use, until the program has ended."""
        self._unused.setdefault(_path_of(name), found)

    def finish(self) -> None:
        """Report the first parameter of each place that no function uses."""
        for path, found in self._unused.items():
            if path not in self._used and is_due("GT201", *found.place[1:]):
                report(found)


def _path_of(name: str) -> str:
    """The place of a parameter in its tree, whatever the argument is called that the tree is given as."""
    return name[len(_tree_of(name)) :]


def _tree_of(name: str) -> str:
    """The argument that a parameter is in."""
    return re.split(r"[\[.]", name, maxsplit=1)[0]


def _kept_problem(location: Location, kept: Sequence[str], moved: Sequence[str]) -> Problem:
    names = ", ".join(kept[:3]) + (f" and {len(kept) - 3} more" if len(kept) > 3 else "")
    return problem(
        "GT513",
        f"{names} had a gradient in every step and kept {'its' if len(kept) == 1 else 'their'} first value: no update "
        "reached it",
        spans=[span_of(location, "the gradient is taken here")],
        notes=[f"{', '.join(moved[:3])} changed from step to step"],
        consequence="it stays as it was made, however long the program trains",
        fixes="give the optimiser the whole tree: state = tx.init(params), tx.update(grads, state, params), and "
        "params = optax.apply_updates(params, updates)",
        intent="leave it out of what is differentiated, or jax.lax.stop_gradient(p) where it is used",
    )


def judge_updates(params: Any, updates: Any, gradients: Sequence[Any], made: tuple[Any, Any]) -> None:
    """Report updates that are applied and some of which are the gradients themselves, others not.

    `made` are the gradients that an optimiser was given last, and the updates that it made of them: where those exist
    and all gradients are applied instead, that is reported as well.
    """
    raw = {id(gradient) for gradient in gradients}
    leaves = tree_flatten_with_path(updates)[0]
    unchanged = [keystr(path) for path, leaf in leaves if id(leaf) in raw]
    given, instead = ({id(leaf) for leaf in tree_leaves(tree)} for tree in made)
    applied = {id(leaf) for _, leaf in leaves}
    if applied and applied <= given and not applied & instead:
        found = _instead_problem()
        if is_due("GT512", *found.place[1:]):
            report(found)
        return
    if not unchanged or len(unchanged) == len(leaves) or len(tree_leaves(params)) < len(leaves):
        return
    names = ", ".join(unchanged[:3]) + (f" and {len(unchanged) - 3} more" if len(unchanged) > 3 else "")
    found = problem(
        "GT513",
        f"the update of {names} is the gradient itself, which is added: it climbs",
        spans=[Location.here()],
        notes=["optax.masked applies its transformation where the mask is True, and hands on the rest as it is"],
        consequence="the loss grows along these parameters, with a step of the size of the gradient",
        fixes='optax.multi_transform({"change": tx, "keep": optax.set_to_zero()}, labels) keeps them as they are; or '
        "optax.chain(optax.masked(tx, mask), optax.masked(optax.set_to_zero(), inverse_of_mask))",
    )
    if is_due("GT513", *found.place[1:]):
        report(found)


def _instead_problem() -> Problem:
    """The gradients are applied in the place of the updates that the optimiser made of them."""
    site = UserExpression.present()
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    part = call.args[1] if isinstance(call, ast.Call) and len(call.args) > 1 else None
    scope = None if call is None else next(iter(site.source.scopes(call)), site.source.tree)
    names = {
        node.targets[0].elts[0].id
        for node in ([] if scope is None else ast.walk(scope))
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "attr", "") == "update"
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.targets[0].elts[0], ast.Name)
    }
    offered: list[str] = (
        [source_edit(names.pop(), site.source.span(part))] if part is not None and len(names) == 1 else []
    )
    return problem(
        "GT512",
        "the gradients themselves are added to the parameters, not the updates that the optimiser made of them",
        spans=[site.span],
        consequence="the parameters climb: the loss grows, with a step of the size of the gradient",
        fixes=[*offered, "params = optax.apply_updates(params, updates)"],
    )


__all__ = ["UpdateObserver", "UsageObserver", "has_word_for_it", "judge_updates"]
