"""Why a gradient is what it is: the path it takes, or the place where it was lost.

Following the graph through its cuts (`gradtape.explain.paths`) tells a value that was cut off from one never used.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import AMBIENT, FLAGS, LIFTED, UNTRACKED, VARIABLE, Cut, Node, walk
from gradtape.core.location import Location
from gradtape.core.recording import Recording
from gradtape.core.tensor import Tensor, Variable
from gradtape.explain import paths
from gradtape.explain.messages import problem
from gradtape.explain.problem import Problem, Span
from gradtape.explain.site import Site
from gradtape.explain.source import source_of, span_of

if TYPE_CHECKING:
    from gradtape.core.tape import GradientTape

LONGEST_PATH_SHOWN = 12
DEPARTURES = frozenset(
    {"float()", "int()", "complex()", "bool()", "operator.index()", ".item()", ".numpy()", ".tolist()", "np.asarray()"}
    | {"gt.tensor()"}
)

_POSITIONS = "positions have no derivative; use the values: x.max(), gt.softmax(x) as weights, gt.take_along_axis"
_ROUNDING = "x + gt.stop_gradient(gt.round(x) - x) rounds and lets the gradient pass"
_STEPS = "a smooth stand-in has a derivative: gt.tanh(k * x) for the sign, gt.sigmoid(k * x) for a step"
_CHOICES = "gt.where(condition, a, b) passes the gradient to a and b; gt.sigmoid(k * (a - b)) is a smooth comparison"
_ASSIGNMENT = "compute with the tensor that was assigned; gradients do not flow through an assignment"
_DRAWS = "gt.random.gumbel_softmax is a smooth stand-in; or a score-function estimator, with gt.stats' logpmf"
_FIXES = {
    "stop_gradient": "use the value itself where its gradient is wanted",
    "a cast to integer or bool": "stay with floating point numbers, x.astype(float) or x as it is",
    **dict.fromkeys(("argmax", "argmin", "argsort", "nonzero", "count_nonzero"), _POSITIONS),
    **dict.fromkeys(("round", "rint", "floor", "ceil", "trunc", "floor_divide"), _ROUNDING),
    **dict.fromkeys(("sign", "signbit"), _STEPS),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"), _CHOICES),
    **dict.fromkeys(("Variable.assign", "Variable.assign_add", "Variable.assign_sub"), _ASSIGNMENT),
    "gt.tensor()": "use the tensor itself; gt.stack and gt.concatenate join tensors",
    "bool()": "gt.where(condition, a, b) instead of a branch",
}


@dataclass(frozen=True)
class Step:
    """One operation on the way from the target to the source.

    `gain` is how much larger the gradient is behind it than before it (root mean squares); None where it is not known.
    """

    operation: str
    shape: tuple[int, ...]
    dtype: str
    location: Location
    gain: float | None


class Why(str):
    """The answer of `tape.why` and `t.why`: a text, with the finding behind it as `.problem`, and its `.code`.

    Where a gradient flows, `.code` is empty and `.path` has a `Step` for each operation from the target to the source.

    >>> import gradtape as gt
    >>> x = gt.Variable([1.0, 2.0])
    >>> with gt.GradientTape(persistent=True) as tape:
    ...     y = (x * 3.0).sum()
    >>> answer = tape.why(y, x)
    >>> answer.code, [(step.operation, step.shape, step.gain) for step in answer.path]
    ('', [('sum', (), 1.0), ('multiply', (2,), 3.0)])
    """

    problem: Problem
    path: tuple[Step, ...]

    def __new__(cls, problem: Problem, path: tuple[Step, ...] = ()) -> Why:
        answer = super().__new__(cls, problem.to_text())
        answer.problem = problem
        answer.path = path
        return answer

    @property
    def code(self) -> str:
        """The cause, GT202 to GT212, or GT404 if it flows and is zero; empty if it flows."""
        return self.problem.code

    @property
    def flows(self) -> bool:
        """Whether there is a path for the gradient."""
        return bool(self.path) or not self.code

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.problem._repr_mimebundle_()


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
    if not isinstance(source, Tensor):
        head = f"the source is a {type(source).__name__}, which no tape can watch"
        return _verdict("GT203", head, fix=_watch_fix(tape))
    if source.dtype.kind not in "fc":
        return _verdict(
            "GT207",
            f"the source has dtype {source.dtype}; only floating point numbers have gradients",
            fix="write the numbers with a point (1.0), or x.astype(float) before it is watched",
        )
    if not isinstance(target, Tensor):
        return _not_recorded(target, source, mask, tape)
    start, goal = target._node, source._node
    route = paths.route_back(start, goal, mask)
    if route and all(node.bits & mask for node in route) and not paths.blocked(route):
        return _flow(route, target, source, mask)
    if paths.is_freed(goal):
        return _gone(goal, tape)
    if not goal.bits & mask:
        return _not_watched(target, source, mask, tape)
    if route:
        return _interrupted(route, mask, tape)
    reached = paths.all_behind(start)
    freed = next((node for node in reached if paths.is_freed(node)), None)
    if freed is not None:
        return _gone(freed, tape)
    return _unconnected(target, source, reached, mask, tape)


def why_no_grad(tensor: Tensor, target: Tensor | None = None) -> Why:
    """Why the `.grad` of `tensor` is missing or zero; with `target`, what the graph behind it says.

    >>> import gradtape as gt
    >>> w = gt.tensor([1.0, 2.0], requires_grad=True) * 0.1
    >>> w.sum().backward()
    >>> print(w.why().splitlines()[0])
    [GT205] no gradient: this is a computed tensor, and .grad is kept for the leaves it was computed from
    """
    if target is not None:
        return why(target, tensor, AMBIENT)
    node = tensor._node
    grad = tensor.grad
    if grad is not None:
        if np.any(grad._concrete()):
            return Why(problem("", f"there is a gradient: .grad has shape {grad.shape}", spans=()))
        words = "the gradient is zero everywhere; x.why(loss) before loss.backward() tells where it became so"
        return Why(problem("GT404", words, spans=(), fixes="x.why(loss), with the loss that backward is called on"))
    if not tensor.requires_grad:
        return why_untracked(tensor)
    if node.op is not None:
        return _verdict(
            "GT205",
            "this is a computed tensor, and .grad is kept for the leaves it was computed from",
            f"the result of {node.op.name}, computed here",
            node,
            fix="x.retain_grad() before backward keeps it; or make the leaf the last step: "
            "gt.tensor(data * 0.1, requires_grad=True)",
        )
    departure = paths.departure_of(node, AMBIENT)
    if departure is not None:
        return _verdict(
            _code_of(departure),
            f"the value left the tape at {departure.reason}",
            departure,
            "what was computed from there on is a constant; otherwise no backward has reached this tensor yet",
            fix=_FIXES.get(departure.reason, "compute with the tensor itself: np.exp(x), not math.exp(x)"),
        )
    return _verdict(
        "GT202",
        "no backward has reached this tensor since it was made, or since its gradient was set to zero",
        "made here",
        node,
        fix="x.why(loss), before loss.backward(), tells whether and how loss was computed from it",
    )


def why_untracked(target: Tensor) -> Why:
    """Why `.backward()` finds nothing to walk: what the target is instead of a tensor that requires a gradient.

    >>> import gradtape as gt
    >>> print(why_untracked(gt.tensor(1.0)).problem.title)
    no gradient: it is a constant: no tensor that requires a gradient went into it
    """
    node = target._node
    fix = "gt.tensor(data, requires_grad=True) for what you want the gradient of, and compute from it"
    if isinstance(node, Cut):
        first = _first(node)
        sources = [source for reference in first.sources if (source := reference()) is not None]
        if first.reason == "not recording" and any(source.bits & VARIABLE for source in sources):
            return _verdict(
                "GT211",
                "it was computed from variables, which a GradientTape records and .backward() does not",
                first,
                fix=[
                    "with gt.GradientTape() as tape: around it, then tape.gradient(loss, variables)",
                    "v.requires_grad_() for each variable, before it is used",
                ],
            )
        return _verdict(_code_of(first), _cut_words(first, ""), first, fix=_fix_for(first, None))
    if isinstance(target, Variable):
        words = "it is a Variable, which tapes watch; .backward() wants v.requires_grad_() first"
        return _verdict("GT203", words, fix="v.requires_grad_(), or a GradientTape and tape.gradient")
    if node.bits > FLAGS and not node.bits & AMBIENT:
        if node.op is None:
            words = "it is watched by a GradientTape only, which answers tape.gradient(target, sources)"
            return _verdict("GT203", words, fix="tape.gradient(target, sources)")
        words = "it was recorded by a GradientTape only; tape.gradient(target, sources) asks that tape"
        return _verdict("GT211", words, node, fix="tape.gradient(target, sources)")
    if target.dtype.kind not in "fc":
        words = f"it has dtype {target.dtype}; only floating point numbers have gradients"
        return _verdict("GT207", words, fix="x.astype(float) before")
    early = _used_before(lambda value: value.requires_grad and value._node.op is None)
    if early is not None:
        used, late, name = early
        words = f"{name} was used before it required a gradient"
        return _verdict("GT204", words, "used here", used, "required here", late._node, fix=_watch_fix(None))
    return _verdict("GT203", "it is a constant: no tensor that requires a gradient went into it", fix=fix)


# -- the verdicts


def _flow(route: list[Node], target: Tensor, source: Tensor, mask: int) -> Why:
    """The operations between the target and the source, with the size of the gradient on its way back."""
    if len(route) == 1:
        found = problem("", f"the target is the source: its gradient is the seed, of shape {source.shape}", spans=())
        return Why(found)
    sizes = _sizes(route, mask)
    steps = [
        Step(node.op.name, node.shape, str(node.dtype), node.location, _gain(sizes, index))
        for index, node in enumerate(route[:-1])
        if node.op is not None
    ]
    number = len(route) - 1
    died = next((i for i, size in enumerate(sizes) if size == 0.0), None) if sizes else None
    rows = _rows(steps)
    rows.append(f"the source, of shape {source.shape}")
    if died:
        return Why(_died(route, steps, died, rows), tuple(steps))
    head = f"the gradient flows: {number} operation{'s' * (number != 1)} from the target back to the source"
    return Why(problem("", head, spans=(), path=rows), tuple(steps))


def _rows(steps: list[Step]) -> list[str]:
    """One line a step: operation, shape, what it does to the size of the gradient, and the user's line."""
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


def _sizes(route: list[Node], mask: int) -> list[float] | None:
    """The root mean square of the gradient at each node; None where it cannot be had without side effects."""
    reached = paths.all_behind(route[0])
    if any(node.extra is not None and node.extra.hooks for node in reached):
        return None
    if any(node.op is not None and node.op.differentiable and paths.is_freed(node) for node in route[:-1]):
        return None
    from gradtape.explain.voices import configure

    start = route[0]
    if start.bits & LIFTED or start.dtype.kind not in "fc":
        return None
    try:
        with configure(GT4="off"), recording.during(recording.current().mute(True)):
            found = walk([(start, np.ones(start.shape, start.dtype))], mask, sources=route)
    except Exception:  # a rule or a guard that refuses: the gradient itself will say so
        return None
    return [_size(found.get(node)) for node in route]


def _size(gradient: Any) -> float:
    if gradient is None or isinstance(gradient, list) or not gradient.size:  # a list: of several results
        return 0.0
    return float(np.sqrt(np.mean(np.abs(gradient) ** 2)))


def _gain(sizes: list[float] | None, index: int) -> float | None:
    if not sizes or not sizes[index]:
        return None
    return sizes[index + 1] / sizes[index]


def _died(route: list[Node], steps: list[Step], died: int, rows: list[str]) -> Problem:
    """Connected, and exactly zero: the operation in whose rule the gradient became zero."""
    name = steps[died - 1].operation if died <= len(steps) else "the seed"
    return problem(
        "GT404",
        f"the gradient is zero: it became zero going back through {name}",
        spans=[span_of(route[died - 1].location)],
        path=rows,
        fixes="look at the values there: a factor of zero, a flat place (relu, clip, where), or an underflow",
    )


def _not_recorded(target: Any, source: Tensor, mask: int, tape: GradientTape | None) -> Why:
    """The target is a number or an array: it left the tape somewhere, or was never computed from the source."""
    goal = source._node
    departure = paths.departure_of(goal, mask) or paths.last_departure(UNTRACKED, goal, mask, tape)
    if departure is not None:
        return _left(departure)
    kind = type(target).__name__
    return _verdict(
        "GT202",
        f"the target is a plain {kind}, and nothing that was computed from the source went into it",
        fix="check the names: is it the source, or an array of the same numbers, that the target is computed from?",
    )


def _left(departure: Cut) -> Why:
    """The value left the tape as a number, an array or by assignment, and the target knows nothing of it."""
    code = _code_of(departure)
    head = _cut_words(departure, "")
    fix: str | list[str] = _fix_for(departure, None)
    if departure.reason.startswith("Variable.assign"):
        head = "the value was assigned to a variable"
    elif code == "GT210":
        from gradtape.explain.returns import departed

        head, fix = departed(departure)
    return _verdict(
        code,
        head,
        departure,
        "what came back to the target from there, if anything, is a constant; otherwise it never used the source",
        fix=fix,
    )


def _interrupted(route: list[Node], mask: int, tape: GradientTape | None) -> Why:
    """The way to the source exists and leaves the tape: where it does for the first time, seen from the target."""
    name = _name(tape)
    cuts = [node for node in route if isinstance(node, Cut) and not node.joined]
    if cuts and tape is not None and cuts[0].reason in ("not recording", "another tape"):
        early = [node for node in route[:-1] if node.op is not None and not node.bits & mask]
        if early and early[-1].order < tape._opened:
            return _verdict(
                "GT211",
                "it was computed before this tape was opened, while another was recording",
                early[-1],
                fix="compute it inside the with block of the tape that is asked; both tapes at once if they are nested",
            )
    if cuts:
        others = [f"and before that at {cut.reason}, {cut.location}" for cut in cuts[1:]]
        return _verdict(_code_of(cuts[0]), _cut_words(cuts[0], name), cuts[0], *others, fix=_fix_for(cuts[0], tape))
    blocked = paths.blocked(route)
    if blocked is not None and all(node.bits & mask for node in route):
        assert blocked.op is not None
        return _verdict(
            "GT209",
            f"the source only steers {blocked.op.name}, which has no derivative in it",
            blocked,
            fix="gt.sigmoid(k * x) is a smooth condition; weigh with it instead of choosing",
        )
    used = [node for node in route[:-1] if not node.bits & mask][-1]
    state = used.recording
    if isinstance(state, Recording) and state.bits & mask & ~VARIABLE:
        return _verdict("GT204", _too_late(tape), "used here", used, fix=_watch_fix(tape))
    fix = "compute it inside the with block of the tape that is asked"
    if tape is None:
        fix = "compute it outside of what a tape does by itself, or pass create_graph=True to the backward that made it"
    return _verdict("GT211", f"the source was used while {name} was not recording", "used here", used, fix=fix)


def _names(source: Tensor) -> list[str | Node | Location | Span]:
    """Where the source was made and where the target used it, as far as the names in the request tell."""
    site = Site.present()
    target_part, source_part = site.asked()
    lines: list[str | Node | Location | Span] = []
    made = None if source_part is None or source._node is not UNTRACKED else site.binding(source_part)
    if made is not None:
        lines += ["made here", made]
    used = None if target_part is None else site.use(target_part, lambda value: value is source)
    if used is not None:
        lines += ["the target uses it here", used[0]]
    return lines


def _used_before(is_source: Callable[[Any], bool]) -> tuple[Span, Tensor, str] | None:
    """Where the target, as far as names tell, was computed from a tensor that was watched on a later line only.

    The expression that used it, the tensor, and its name.
    """
    site = Site.present()
    target_part, _ = site.asked()
    found: list[Tensor] = []

    def is_later(value: Any) -> bool:
        if isinstance(value, Tensor) and value._node is not UNTRACKED and is_source(value):
            found.append(value)
            return True
        return False

    used = None if target_part is None else site.use(target_part, is_later)
    if used is None:
        return None
    watched = span_of(found[-1]._node.location)
    if watched.file != used[0].file or watched.line <= used[0].line:
        return None
    return used[0], found[-1], used[1]


def _code_of(cut: Cut) -> str:
    """Which of the causes a cut is."""
    reason = cut.reason
    if reason in ("no_grad", "stop_gradient"):
        return "GT208"
    if reason in ("not recording", "another tape"):
        return "GT211"
    if reason.startswith("a cast"):
        return "GT207"
    if reason.startswith("Variable.assign"):
        return "GT206"
    if reason in (".numpy()", ".item()", ".tolist()"):  # said in so many words, so it is taken as meant
        return "GT208"
    return "GT210" if reason in DEPARTURES else "GT209"


def _cut_words(cut: Cut, tape_name: str) -> str:
    """The verdict on a cut."""
    reason = cut.reason
    if reason == "not recording":
        head = f"it was computed while {f'{tape_name} was not' if tape_name else 'no tape was'} recording"
    elif reason == "no_grad":
        head = "it was computed under no_grad"
    elif reason == "another tape":
        head = "the value comes from another tape, which was not recording"
    elif reason == "stop_gradient":
        head = f"the value left the tape at {'detach' if '.detach' in cut.location.segment else reason}"
    elif reason.startswith("a cast") or reason in DEPARTURES:
        head = f"the value left the tape at {reason}"
    else:
        head = f"the value left the tape at {reason}, which has no derivative"
    return head


def _fix_for(cut: Cut, tape: GradientTape | None) -> str:
    if cut.reason == "no_grad":
        return "compute it outside of gt.no_grad(), or under gt.enable_grad()"
    if cut.reason in ("not recording", "another tape"):
        return (
            "compute it inside the with block of the tape that is asked"
            if tape is not None
            else "gt.tensor(data, requires_grad=True) for what it is computed from, and no gt.no_grad() around it"
        )
    if cut.reason.endswith(", a discrete draw"):
        return _DRAWS
    return _FIXES.get(cut.reason, "gt.custom_vjp gives a function of your own a derivative")


def _not_watched(target: Tensor, source: Tensor, mask: int, tape: GradientTape | None) -> Why:
    """The source is a constant for those who are asked: what it is, and where the target used it."""
    node, name = source._node, _name(tape)
    lines: list[str | Node | Location | Span] = []
    code = "GT203"
    if isinstance(source, Variable) and not node.bits & VARIABLE:
        code = "GT212"
        lines.append("it is a Variable with trainable=False")
    elif isinstance(source, Variable) and tape is not None:
        code = "GT212"
        lines.append("the tape was made with watch_accessed_variables=False")
    elif isinstance(source, Variable):
        lines.append("a Variable is watched by tapes; .backward() sees it after v.requires_grad_()")
    elif isinstance(node, Cut):
        first = _first(node)
        code = "GT205" if _rebinding(node) else _code_of(first)
        lines += [f"{_cut_words(first, '')}, so it is a new tensor and a constant", "", first]
    elif node.op is not None:
        code = "GT211"
        lines += [f"it was computed while {name} was not recording", "", node]
    elif node.bits & AMBIENT and tape is not None:
        lines.append("requires_grad=True is for .backward(); a tape has to be told")
    elif node.bits > FLAGS:
        code = "GT211"
        lines.append(f"it is watched by {'another' if tape is not None else 'a'} tape")
    else:
        lines.append("it is a tensor that nobody was told to watch: a constant")
    reached = paths.all_behind(target._node)
    used = next((user for user in reached if node in user.parents), None) if node is not UNTRACKED else None
    used = used or paths.use_of(source._array, reached)
    if node.op is None and not isinstance(node, Cut) and node is not UNTRACKED:
        lines += ["made here", node]
    if used is not None and not isinstance(node, Cut):
        lines += ["the target uses it here", used]
    elif used is None and not isinstance(node, Cut):
        lines += _names(source)
    head = f"the source is not watched by {name}" if tape is not None else "the source does not require a gradient"
    rebound = isinstance(node, Cut) and bool(_rebinding(node))
    return _verdict(
        code,
        head,
        *lines,
        fix=f"a Variable keeps its place: v.assign(...) instead of {_rebinding(node)} = ...; or {_watch_fix(tape)}"
        if rebound
        else _watch_fix(tape),
    )


def _unconnected(
    target: Tensor, source: Tensor, reached: dict[Node, None], mask: int, tape: GradientTape | None
) -> Why:
    """No way from the target to the source, not even an interrupted one."""
    start, goal, name = target._node, source._node, _name(tape)
    used = paths.use_of(source._array, reached)
    if used is not None and used.order < goal.order:
        return _verdict("GT204", _too_late(tape), "used here", used, "watched here", goal, fix=_watch_fix(tape))
    is_younger = start.op is not None and goal.order > start.order
    departure = None if is_younger else paths.departure_of(goal, mask)
    lost = next((node for node in reached if isinstance(node, Cut) and paths.has_lost_sources(node)), None)
    guessing = departure is None and not is_younger and not _was_never_met(source, lost, tape)
    if lost is not None and guessing:
        head = _cut_words(lost, name).replace("the value", "a value").replace("it was", "a value was")
        note = "what it was computed from is gone; if the source was part of it, this is where its gradient ends"
        return _verdict(_code_of(lost), head, lost, note, fix=_fix_for(lost, tape))
    if guessing:
        departure = paths.last_departure(start, goal, mask, tape)
    early = _used_before(lambda value: value is source) if departure is None and goal.op is None else None
    if early is not None:
        return _verdict("GT204", _too_late(tape), "used here", early[0], "watched here", goal, fix=_watch_fix(tape))
    if departure is not None:
        return _left(departure)
    if goal.op is not None:
        code, words = _bypassed(start, goal, reached)
        return _verdict(
            code,
            words,
            f"the source is the result of {goal.op.name}, made here",
            goal,
            fix="give the tensor that the target uses a name of its own",
        )
    if is_younger:
        return _verdict(
            "GT204",
            f"{'the source was watched' if tape is not None else 'the source was made'} after the target was computed",
            "the target was computed here",
            start,
            "the source was watched here" if tape is not None else "the source was made here",
            goal,
            fix=_watch_fix(tape),
        )
    made: list[str | Node] = [] if start.op is None else ["the target was computed here", start]
    return _verdict(
        "GT202",
        "the target was not computed from the source",
        *made,
        f"the source, of shape {source.shape}, is from here",
        goal,
        fix="check the names: is this the tensor that went into the target?",
    )


def _was_never_met(source: Tensor, lost: Cut | None, tape: GradientTape | None) -> bool:
    """Whether `source` is a variable that no operation has read while `tape` was on."""
    if tape is None or not tape.watches_variables or not isinstance(source, Variable):
        return False
    unseen = lost is not None and lost.reason in ("no_grad", "not recording", "another tape")
    return source._node not in tape._variables and not unseen


def _bypassed(start: Node, goal: Node, reached: dict[Node, None]) -> tuple[str, str]:
    """What to say of a source that is itself a result, one that the target was not computed from."""
    name = _rebinding(goal)
    shared = any(node in reached and node.bits > FLAGS for node in paths.all_behind(goal))
    if name and shared:
        return "GT205", f"the name {name} was bound to a new tensor, and the target was computed from the old one"
    if start.op is not None and goal.order > start.order:
        return "GT202", "the source was computed after the target"
    if shared:
        return "GT202", "the target was computed from what the source was computed from, not from the source"
    return "GT202", "the target was not computed from the source"


def _first(cut: Cut) -> Cut:
    """The cut itself, or the first of several that met in one value."""
    return cut.joined[0] if cut.joined else cut


def _gone(node: Node, tape: GradientTape | None) -> Why:
    """The recording that could tell was freed by an earlier gradient."""
    freed = node.freed if tape is None else tape._spent
    return _verdict(
        "GT308",
        "not known, for what was recorded has been freed",
        *(() if freed is None else ("freed by this", freed)),
        fix="gt.GradientTape(persistent=True) keeps the recording; or ask why before asking for the gradient"
        if tape is not None
        else "retain_graph=True keeps the graph",
    )


# -- words


def _verdict(code: str, head: str, *lines: str | Node | Location | Span, fix: str | list[str]) -> Why:
    """No gradient, for one of the causes. A text before a node or location is its label; other texts are notes."""
    spans, notes = [], []
    label = ""
    for line in lines:
        if isinstance(line, str):
            if label:
                notes.append(label)
            label = line
            continue
        is_label = label.endswith((" here", " this")) or not label
        if not is_label:
            notes.append(label)
        text = label if is_label else ""
        if isinstance(line, Span):
            spans.append(line.labelled(text))
        else:
            spans.append(span_of(line if isinstance(line, Location) else line.location, text))
        label = ""
    if label:
        notes.append(label)
    return Why(problem(code, f"no gradient: {head}", spans=spans, notes=notes, fixes=fix))


def _name(tape: GradientTape | None) -> str:
    return "this tape" if tape is not None else "the graph"


def _too_late(tape: GradientTape | None) -> str:
    return f"the source was used before {'this tape watched it' if tape is not None else 'it required a gradient'}"


def _watch_fix(tape: GradientTape | None) -> str:
    if tape is None:
        return "gt.tensor(data, requires_grad=True), or x.requires_grad_() before it is used"
    return "x = tape.watch(x) at the top of the with block, before it is used"


def _rebinding(node: Node) -> str:
    """The name that the statement at `node` binds anew from its old value (`x = x + 1`), if it is such a statement."""
    source = source_of(node.location.file)
    expression = source.find(node.location)
    statement = None if expression is None else source.statement(expression)
    if isinstance(statement, ast.AugAssign):
        return source.text(statement.target)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name | ast.Attribute | ast.Subscript):
        name = source.text(statement.targets[0])
        reads = (ast.Name, ast.Attribute, ast.Subscript)
        if any(isinstance(part, reads) and source.text(part) == name for part in ast.walk(statement.value)):
            return name
    return ""
