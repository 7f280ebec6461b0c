"""Functions with a derivative of their own: custom_vjp, custom_jvp, custom_gradient, and checkpoint, which recomputes.

A call becomes one operation. Its rule is flat: lists of arrays in, lists of arrays out; what is not an array (strings,
None, integers, functions) and the nesting of the arguments stay in a `Template`. Each rule is written for one direction
and transposed for the other, and `Batched` is the rule of a batch, so that every transform meets the user's rule and
never the code it stands for.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.config import config
from gradtape.core import recording
from gradtape.core.batch import BatchLevel, BatchTensor, batch_elementwise, unbatch
from gradtape.core.graph import AMBIENT, LIFTED, VARIABLE, Cut, Node, Spec, next_order, push_through, walk
from gradtape.core.guard import Guarded, guard
from gradtape.core.location import Location
from gradtape.core.operation import Lifted, Op, apply, attach
from gradtape.core.structure import children, leaves, rebuild
from gradtape.core.tape import GradientTape
from gradtape.core.tensor import Tensor, is_tracked
from gradtape.errors import DetachError, OperandError, RuleError
from gradtape.transforms import jvp, vjp

Function = Callable[..., Any]
Arrays = list[Any]  # arrays, or tensors where something records or a batch is under way
NUMBERS = "fciub"  # the kinds of arrays that hold numbers
PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, np.dtype, slice, type, types.EllipsisType)


# -- arrays and the structures they are in


class Template:
    """A nested structure whose arrays were taken out; everything else is in place, and `fill` puts arrays back."""

    def __init__(self, tree: Any, is_array: Callable[[Any], bool]) -> None:
        rest = leaves(tree)
        self.slots = [index for index, item in enumerate(rest) if is_array(item)]
        self.were_tensors = [isinstance(rest[slot], Tensor) for slot in self.slots]
        for slot in self.slots:
            rest[slot] = None
        self.rest = rest
        self.tree = rebuild(tree, rest)

    def fill(self, arrays: Iterable[Any], others: Callable[[Any], Any] | None = None) -> Any:
        """The structure with `arrays` in their places; `others` is what stands for the rest, if not itself."""
        filled = list(self.rest) if others is None else [others(item) for item in self.rest]
        for slot, was_tensor, array in zip(self.slots, self.were_tensors, arrays, strict=True):
            filled[slot] = Tensor(array) if was_tensor and not isinstance(array, Tensor) else array
        return rebuild(self.tree, filled)


def split(tree: Any, is_array: Callable[[Any], bool]) -> tuple[Arrays, Template]:
    """The arrays of a structure, and the rest of it."""
    return [item for item in leaves(tree) if is_array(item)], Template(tree, is_array)


def is_array(value: Any) -> bool:
    """Whether an argument or a residual can carry a derivative: a tensor, or an array of numbers."""
    return isinstance(value, Tensor) or (isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS)


def is_result(value: Any) -> bool:
    """Whether a result is a number or an array; integers and the like are handed through."""
    return is_array(value) or (isinstance(value, float | complex | np.generic) and np.asarray(value).dtype.kind in "fc")


def is_recorded(value: Any) -> bool:
    """Whether somebody records operations on `value`, or on what it holds if it belongs to a batch."""
    while isinstance(value, Tensor):
        if is_tracked(value):
            return True
        value = getattr(value, "value", None)
    return False


def bare(value: Any) -> Any:
    """The array of a tensor that nobody records; anything else as it is."""
    if not isinstance(value, Tensor) or isinstance(value, Lifted) or is_tracked(value):
        return value
    return value._array


def zeros_like(value: Any) -> Any:
    """Zeros of the shape and dtype of an array, a number's own zero, and None for what is neither."""
    if hasattr(value, "shape"):
        return np.zeros(value.shape, value.dtype)
    return type(value)(0) if isinstance(value, int | float | complex) else None


# -- who is to blame


def name_of(function: Any) -> str:
    """The name that a function goes by."""
    return str(getattr(function, "__name__", type(function).__name__))


def definition(function: Any) -> Location:
    """The line that a function is defined at."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    if not hasattr(function, "__code__"):  # an object that can be called
        function = type(function).__call__
    return Location(getattr(function, "__code__", None), 0)


class Call:
    """One call of a function with a rule: its name, the line of the call, and the names of its arguments."""

    def __init__(self, function: Function, names: Sequence[str] = ()) -> None:
        self.function = function
        self.name = name_of(function)
        self.names = names
        self.where = Location.here() if config.locations else Location(None, 0)
        self.reads_more = False  # whether the function was found to read tracked tensors besides its arguments

    def argument(self, number: int, path: str = "") -> str:
        return f"argument {number}" + (f" ({self.names[number]})" if number < len(self.names) else "") + path

    def wrong(self, rule: Any, problem: str, fix: str) -> RuleError:
        """The error for a rule that did not return what it has to."""
        return RuleError(
            f"the rule {name_of(rule)!r} of {self.name!r} {problem}.\n{definition(rule).show()}\n"
            f"  for the call\n{self.where.show()}\n  fix: {fix}"
        )

    def no_rule(self, definition: str) -> RuleError:
        return RuleError(
            f"{self.name!r} was called before it had a rule.\n{self.where.show()}\n"
            f"  fix: {self.name}.{definition} after its definition"
        )

    def wrong_pair(self, rule: Any, answer: Any, pair: str) -> RuleError:
        return self.wrong(rule, f"must return a pair, {pair}; it returned {kind_of(answer)}", f"return {pair}")

    def checked(self, rule: Any, value: Any, spec: Any, what: str) -> Any:
        """`value` as the derivative that belongs to `spec`: same shape, same dtype, or an error. None is zeros."""
        if spec.dtype.kind not in "fc":
            return None
        if value is None:
            return np.zeros(spec.shape, spec.dtype)
        weak = isinstance(value, int | float | complex) and not isinstance(value, np.generic)
        if not isinstance(value, Tensor):
            value = np.array(value)  # a copy: a gradient is nobody else's memory
            if value.dtype.kind not in NUMBERS:
                raise self.wrong(
                    rule, f"returned something of dtype {value.dtype} for {what}", "return numbers, or None"
                )
        if value.shape != spec.shape:
            raise self.wrong(
                rule,
                f"returned shape {value.shape} for {what}, which has shape {spec.shape}",
                f"return an array of shape {spec.shape}; it is never summed or stretched into place",
            )
        if value.dtype != spec.dtype:
            if weak and np.can_cast(value.dtype, spec.dtype, "same_kind"):
                return value.astype(spec.dtype)
            real = ".real" if value.dtype.kind == "c" and spec.dtype.kind != "c" else ""
            raise self.wrong(
                rule,
                f"returned dtype {value.dtype} for {what}, which has dtype {spec.dtype}",
                f"return gradient{real}.astype({str(spec.dtype)!r})",
            )
        return bare(value)

    def aligned(self, rule: Any, tree: Any, answer: Any, what: str) -> list[tuple[str, Any]]:
        """For each leaf of `tree`, its path and what the rule returned for it."""
        try:
            return paired(tree, answer)
        except ValueError as mismatch:
            path, expected, given = mismatch.args
            is_leaf = children(expected) is None
            raise self.wrong(
                rule,
                f"returned {kind_of(given)} {what}{path}, which is {'an array' if is_leaf else kind_of(expected)}",
                "return the same structure; None stands for zeros anywhere in it",
            ) from None

    def closed_over(self) -> DetachError:
        self.reads_more = True
        return DetachError(
            f"the result of {self.name!r} depends on a tracked tensor that its rule does not cover, because it is no "
            f"argument or one of nondiff_argnums; that gradient would be lost in silence.\n{self.where.show()}\n"
            f"  fix: pass the tensor as an argument and give it a gradient in the rule;\n"
            f"       or gt.stop_gradient(tensor) inside {self.name!r} if no gradient is wanted"
        )


def kind_of(value: Any) -> str:
    """A few words for what somebody returned, without its numbers."""
    if value is None:
        return "None"
    if isinstance(value, dict):
        return f"a dict with keys {list(value)}"
    parts = children(value)
    return f"a {type(value).__name__}" + ("" if parts is None else f" of {len(parts)}")


def paired(tree: Any, given: Any, path: str = "") -> list[tuple[str, Any]]:
    """For each leaf of `tree`, its path and what `given` has there. A None stands for a whole branch.

    Raises `ValueError(path, tree, given)` where the two part.
    """
    if given is None:
        return [(path, None)] * len(leaves(tree))
    branch, parts = children(tree), children(given)
    if branch is None and parts is None:
        return [(path, given)]
    names: list[Any] = list(tree) if isinstance(tree, dict) else list(range(len(branch or ())))
    if isinstance(tree, dict) and isinstance(given, dict) and set(tree) == set(given):
        parts = [given[key] for key in names]
    elif branch is None or parts is None or type(tree) is not type(given) or len(branch) != len(parts):
        raise ValueError(path, tree, given)
    rows = zip(names, branch or (), parts, strict=True)
    return [pair for name, child, part in rows for pair in paired(child, part, f"{path}[{name!r}]")]


def fits(tree: Any, given: Any) -> bool:
    """Whether `given` has the structure of `tree`, up to branches that are None."""
    try:
        paired(tree, given)
    except ValueError:
        return False
    return True


# -- rules


class Recorded:
    """A call that is recorded as one operation.

    It goes along as the last input, so that what it keeps for the walk is let go of like every other saved value.
    """

    needs_inputs = True

    def __init__(self, call: Call) -> None:
        self.call = call
        self.title = call.name

    def applied(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The results that are arrays, as tensors on the tapes that `inputs` are on."""
        last = len(inputs)
        needed = frozenset(range(last + 1)) if self.needs_inputs else frozenset({last})
        op = Op(
            self.title,
            lambda *inputs: inputs[-1].kernel(*inputs[:-1]),
            reverse=lambda g, node, out, inputs: [*inputs[-1].reverse(g, node, inputs[:-1]), None],
            forward=lambda node, out, inputs, tangents: inputs[-1].forward(tangents[:-1], node, inputs[:-1]),
            batch=lambda op, flags, values, params: values[-1].batch(flags[:-1], values[:-1]),
            needs=(needed,) * (last + 1),
            outputs=True,
            strict=True,
            kind="custom",
        )
        results: tuple[Any, ...] = apply(op, (*inputs, self), {})
        return results


class Form(NamedTuple):
    """What one run of a function returned, without the arrays."""

    out: Template
    specs: tuple[Spec, ...]  # the shapes and dtypes of the results that are arrays
    residuals: Any  # a template; or the function that computes the gradient
    opaque: bool  # whether the residuals hold something that arrays cannot be taken out of, such as a function


class Kept(NamedTuple):
    """What a rule keeps for its derivative: the arrays among the residuals, and how to put them back."""

    saved: Arrays | None  # None: the function has to run again
    form: Form


class Rule(Recorded, ABC):
    """The rule of one call, in flat form. A subclass has `run`, and `pull` or `push`: each is the other's transpose."""

    kept: Kept
    below: Rule | None = None  # the rule that ran instead of this one, when the inputs were of a batch
    guards: Sequence[Guarded] = ()

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self.state = recording.current()

    @abstractmethod
    def run(self, inputs: Arrays) -> tuple[Arrays, Kept]:
        """The results that are arrays, and what the derivative needs."""

    def pull(self, inputs: Arrays, kept: Kept, cotangents: Arrays) -> Arrays:
        """The cotangents of the inputs."""
        at = [zeros_like(x) for x in inputs]
        return transposed(lambda tangents: self.push(inputs, kept, tangents), at, cotangents)

    def push(self, inputs: Arrays, kept: Kept, tangents: Arrays) -> Arrays:
        """The tangents of the results."""
        at = [np.zeros(*spec) for spec in kept.form.specs]
        return transposed(lambda cotangents: self.pull(inputs, kept, cotangents), at, tangents)

    # -- as an operation

    def kernel(self, *arrays: Any) -> tuple[Any, ...]:
        """Run on bare arrays, while the tapes of the call are on: what they record cannot have come from the inputs."""
        try:
            with recording.during(self.state):
                results, kept = self.run(list(arrays))
                made = [*results, *(kept.saved or ())]
                if any(is_recorded(x) for x in results) or any(isinstance(x, Lifted) for x in made):
                    raise self.call.closed_over()
                self.guards = self._guarded(kept, arrays)
        except Exception as error:
            raise _Carried(error) from error
        self.kept = Kept([x._array if isinstance(x, Tensor) else x for x in kept.saved or ()], kept.form)
        return tuple([x._array if isinstance(x, Tensor) else x for x in results])

    def _guarded(self, kept: Kept, arrays: tuple[Any, ...]) -> list[Guarded]:
        """Guards for the residuals that are arrays of the user's own; those among the inputs have theirs."""
        given = {id(array) for array in arrays}
        rows = zip(kept.saved, kept.form.residuals.were_tensors, strict=True) if kept.saved else ()
        return [
            guard(x) for x, was_tensor in rows if isinstance(x, np.ndarray) and not was_tensor and id(x) not in given
        ]

    def reverse(self, g: Any, node: Node, inputs: tuple[Any, ...]) -> Arrays:
        return self.pull(list(inputs), self._recalled(node, inputs), list(g))

    def forward(self, tangents: Sequence[Any], node: Node, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        filled = [zeros_like(x) if tangent is None else tangent for x, tangent in zip(inputs, tangents, strict=True)]
        return tuple(self.push(list(inputs), self._recalled(node, inputs), filled))

    def batch(self, flags: Sequence[bool], values: Sequence[Any]) -> tuple[Any, ...]:
        self.below = Batched(self, flags)
        results = self.below.applied(values)
        self.kept = self.below.kept
        return results

    def _recalled(self, node: Node, inputs: tuple[Any, ...]) -> Kept:
        """What was kept; without the arrays where somebody records the inputs: these have to be made from them then."""
        rule: Rule | None = self
        while rule is not None:
            for guarded in rule.guards:
                guarded.checked(node)
            rule = rule.below
        form = self.kept.form
        return Kept(None, form) if any(is_recorded(x) for x in inputs) else Kept(self._saved(inputs), form)

    def _saved(self, inputs: Sequence[Any]) -> Arrays | None:
        """The arrays that were kept, of the batches that the inputs are of."""
        if self.below is None:
            return self.kept.saved
        level = max((x.level for x in inputs if isinstance(x, BatchTensor)), key=lambda level: level.depth)
        assert isinstance(level, BatchLevel)
        values = [x.value if isinstance(x, BatchTensor) and x.level is level else x for x in inputs]
        return each_of(self.below._saved(values), self.kept.form, level)


def each_of(saved: Arrays | None, form: Form, level: BatchLevel) -> Arrays | None:
    """The residuals of one example, from those of the batch; None where that cannot be told."""
    return None if saved is None or form.opaque else [BatchTensor(x, level) for x in saved]


class Batched(Rule):
    """The rule for a whole batch at once, from the rule for one example."""

    def __init__(self, one: Rule, flags: Sequence[bool]) -> None:
        super().__init__(one.call)
        self.state = one.state
        self.one = one
        self.flags = list(flags)

    def run(self, inputs: Arrays) -> tuple[Arrays, Kept]:
        level = self._level(inputs)
        results, (saved, form) = self.one.run(self._lifted(inputs, level))
        return [unbatch(x, level) for x in results], Kept([unbatch(x, level) for x in saved or ()], form)

    def pull(self, inputs: Arrays, kept: Kept, cotangents: Arrays) -> Arrays:
        level = self._level(inputs)
        each = Kept(each_of(kept.saved, kept.form, level), kept.form)
        found = self.one.pull(self._lifted(inputs, level), each, [BatchTensor(x, level) for x in cotangents])
        rows = [None if x is None else unbatch(x, level) for x in found]
        # what is the same for all examples collects the cotangents of all of them
        return [x if x is None or flag else x.sum(axis=0) for x, flag in zip(rows, self.flags, strict=True)]

    def push(self, inputs: Arrays, kept: Kept, tangents: Arrays) -> Arrays:
        level = self._level(inputs)
        each = Kept(each_of(kept.saved, kept.form, level), kept.form)
        found = self.one.push(self._lifted(inputs, level), each, self._lifted(tangents, level))
        return [None if x is None else unbatch(x, level) for x in found]

    def _level(self, inputs: Arrays) -> BatchLevel:
        return BatchLevel(next(x.shape[0] for x, flag in zip(inputs, self.flags, strict=True) if flag))

    def _lifted(self, values: Arrays, level: BatchLevel) -> Arrays:
        return [BatchTensor(x, level) if flag else x for x, flag in zip(values, self.flags, strict=True)]


class _Carried(Exception):
    """An error of the user's function on its way out of the kernel, where NumPy's errors are given other words."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def transposed(linear: Callable[[Arrays], Arrays], at: Arrays, weights: Arrays) -> Arrays:
    """What the transpose of a linear function of lists makes of `weights`; it is recorded at the zeros `at`.

    Integers stay where they are, and have None for an answer.
    """
    smooth = [index for index, x in enumerate(at) if x.dtype.kind in "fc"]
    connected: list[int] = []

    def results(*moving: Any) -> Arrays:
        given = dict(zip(smooth, moving, strict=True))
        answers = linear([given.get(index, x) for index, x in enumerate(at)])
        connected.extend(index for index, x in enumerate(answers) if isinstance(x, Tensor))
        return [answers[index] for index in connected]

    _, pull_back = vjp(results, *[at[index] for index in smooth])
    found = dict(zip(smooth, pull_back([weights[index] for index in connected]), strict=True))
    return [found.get(index) for index in range(len(at))]


def call_recorded(rule: Rule, arrays: Arrays) -> Any:
    """The result of a call, recorded as one operation."""
    try:
        results = rule.applied(arrays)
    except _Carried as carried:
        failure = carried.error
    else:
        return rule.kept.form.out.fill(results)
    raise failure  # outside of the except clause: the error is the user's own, with nothing added


# -- functions with rules


class Arguments:
    """The arguments of one call, by position: those without a derivative, and the arrays among the others."""

    def __init__(self, args: Sequence[Any], nondiff: Sequence[int]) -> None:
        count = len(args)
        self.untouched = {number % count: args[number] for number in nondiff}
        self.numbers = [number for number in range(count) if number not in self.untouched]
        chosen = [args[number] for number in self.numbers]
        self.template = Template(chosen, is_array)
        self.flags = [[is_array(item) for item in leaves(argument)] for argument in chosen]

    @property
    def nondiff(self) -> list[Any]:
        return list(self.untouched.values())

    def every(self, arrays: Arrays) -> list[Any]:
        """All arguments in order, with `arrays` in place of the arrays."""
        full = {**self.untouched, **dict(zip(self.numbers, self.template.fill(arrays), strict=True))}
        return [full[number] for number in range(len(full))]

    def cotangents(self, call: Call, rule: Any, answers: Sequence[Any], inputs: Arrays) -> Arrays:
        """One cotangent for each array, from one answer for each argument; checked against the arrays."""
        found: Arrays = []
        supply = iter(inputs)
        for number, tree, flags, answer in zip(self.numbers, self.template.tree, self.flags, answers, strict=True):
            if not any(flags):
                continue
            rows = call.aligned(rule, tree, answer, "for " + call.argument(number))
            for (path, value), flag in zip(rows, flags, strict=True):
                if flag:
                    found.append(call.checked(rule, value, next(supply), call.argument(number) + path))
        return found


class WithRule(ABC):
    """What functions with a rule share: they look like the function they wrap, and take arguments by position."""

    def __init__(self, function: Function, nondiff_argnums: int | Sequence[int] = ()) -> None:
        if not callable(function):
            raise OperandError(
                f"{type(self).__name__}: a function is wanted; got {kind_of(function)}.\n{Location.here().show()}"
            )
        functools.update_wrapper(self, function)
        self._function = function
        self._nondiff = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        self._signature: inspect.Signature | None = None
        if not isinstance(function, np.ufunc):  # a ufunc's has `out` as a second argument
            with contextlib.suppress(TypeError, ValueError):
                self._signature = inspect.signature(function)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = Call(self._function, list(self._signature.parameters) if self._signature is not None else [])
        args = self._by_position(call, args, kwargs)
        for number in self._nondiff:
            if not -len(args) <= number < len(args):
                raise OperandError(
                    f"nondiff_argnums={self._nondiff}: {call.name!r} was called with {len(args)} arguments.\n"
                    f"{call.where.show()}\n  fix: give positions from 0 to {len(args) - 1}"
                )
        arguments = Arguments(args, self._nondiff)
        arrays = [x for number in arguments.numbers for x in leaves(args[number]) if is_array(x)]
        rule = self._rule_of(call, arguments)
        if any(is_recorded(x) for x in arrays):
            return call_recorded(rule, arrays)
        result = rule.value(arrays)
        if any(is_recorded(x) for x in leaves(result)):
            raise call.closed_over()
        return result

    @abstractmethod
    def _rule_of(self, call: Call, arguments: Arguments) -> RuleOfArguments:
        """The rule of one call."""

    def _by_position(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if self._signature is None:
            if kwargs:
                raise OperandError(
                    f"{call.name!r} has no signature to place {', '.join(kwargs)} by.\n{call.where.show()}\n"
                    f"  fix: pass all arguments by position"
                )
            return args
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise OperandError(f"{call.name!r}: {error}.\n{call.where.show()}") from None
        bound.apply_defaults()
        named = [name for name in bound.kwargs if name in kwargs]
        if named:
            raise OperandError(
                f"{call.name!r}: {', '.join(named)} can be passed by keyword only; rules take arguments by position.\n"
                f"{call.where.show()}\n  fix: let the function take {', '.join(named)} by position"
            )
        return bound.args


def results_of(out: Any) -> tuple[Arrays, Template, tuple[Spec, ...]]:
    """The results that are arrays, as tensors or arrays of their own, the rest, and the shapes and dtypes."""
    found, template = split(out, is_result)
    template.were_tensors = [True] * len(found)
    # a copy of what is not a tensor: the user may hold it, and a tensor's memory is its own
    arrays = [x if isinstance(x, Tensor) else np.array(x) for x in found]
    return arrays, template, tuple(Spec(x.shape, x.dtype) for x in arrays)


class custom_vjp(WithRule):
    """A function whose derivative is a rule of yours: `fwd` runs it and keeps residuals, `bwd` pulls a cotangent back.

    `fwd(*args)` returns the pair of result and residuals; `bwd(residuals, cotangent)` returns a tuple with one
    cotangent for each argument, of its structure, shapes and dtypes; None stands for zeros. Arguments named by
    `nondiff_argnums` are passed to `bwd` in front, and get no cotangent. Integer arrays and what is not an array get
    none either.

    All transforms use the rule: in batches (`vmap`), and forwards (`jvp`) through the transpose of `bwd`, which is
    taken to be linear in the cotangent. Second derivatives go through the code of `fwd` and `bwd`. Inputs are kept for
    that, besides the residuals. Where nothing is differentiated, the function itself runs.

    >>> import numpy as np, gradtape as gt
    >>> @gt.custom_vjp
    ... def clipped(x, bound):
    ...     return x
    >>> def fwd(x, bound):
    ...     return x, bound
    >>> def bwd(bound, g):
    ...     return np.clip(g, -bound, bound), None
    >>> clipped.defvjp(fwd, bwd)
    >>> gt.grad(lambda x: np.sum(clipped(x, 1.0) ** 2))(np.array([0.25, 3.0]))
    array([0.5, 1. ])
    """

    _fwd: Function | None = None
    _bwd: Function | None = None

    def defvjp(self, fwd: Function, bwd: Function) -> None:
        """Give the rule: `fwd(*args)` returns (result, residuals), `bwd(residuals, cotangent)` the cotangents."""
        for rule in (fwd, bwd):
            if not callable(rule):
                raise OperandError(f"defvjp: two functions are wanted; got {kind_of(rule)}.\n{Location.here().show()}")
        self._fwd, self._bwd = fwd, bwd

    def _rule_of(self, call: Call, arguments: Arguments) -> RuleOfArguments:
        if self._fwd is None or self._bwd is None:
            raise call.no_rule("defvjp(fwd, bwd)")
        return _ReverseRule(call, arguments, self._function, self._fwd, self._bwd)


class RuleOfArguments(Rule):
    """A rule for the arguments of a function."""

    def __init__(self, call: Call, arguments: Arguments, function: Function) -> None:
        super().__init__(call)
        self.arguments, self.function = arguments, function

    def value(self, inputs: Arrays) -> Any:
        """The result where nothing is differentiated, as the function returns it."""
        return self.function(*self.arguments.every(inputs))


class _ReverseRule(RuleOfArguments):
    """The rule of `custom_vjp`."""

    def __init__(self, call: Call, arguments: Arguments, function: Function, fwd: Function, bwd: Function) -> None:
        super().__init__(call, arguments, function)
        self.fwd, self.bwd = fwd, bwd

    def run(self, inputs: Arrays) -> tuple[Arrays, Kept]:
        answer = self.fwd(*self.arguments.every(inputs))
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise self.call.wrong_pair(self.fwd, answer, "(result, residuals)")
        results, template, specs = results_of(answer[0])
        saved, residuals = split(answer[1], is_array)
        opaque = any(not isinstance(item, PLAIN) for item in residuals.rest)
        return results, Kept(saved, Form(template, specs, residuals, opaque))

    def pull(self, inputs: Arrays, kept: Kept, cotangents: Arrays) -> Arrays:
        saved, form = self.run(inputs)[1] if kept.saved is None else kept
        cotangent = form.out.fill(cotangents, lambda item: None)
        answers = self.bwd(*self.arguments.nondiff, form.residuals.fill(saved), cotangent)
        count = len(self.arguments.numbers)
        if type(answers) is not tuple or len(answers) != count:
            raise self.call.wrong(
                self.bwd,
                f"must return a tuple of {count}, one cotangent for each argument; it returned {kind_of(answers)}",
                "return (cotangent,)" if count == 1 else "return one for each argument, None where it is zero",
            )
        return self.arguments.cotangents(self.call, self.bwd, answers, inputs)


class custom_jvp(WithRule):
    """A function whose derivative is a rule of yours, written forwards: how the result moves when the arguments move.

    `rule(primals, tangents)` gets two tuples with an entry for each argument and returns the pair of result and
    tangent, which has the structure, shapes and dtypes of the result (None stands for zeros). Arguments named by
    `nondiff_argnums` are passed in front. Reverse mode is the transpose of the rule, which has to be linear in the
    tangents.

    >>> import numpy as np, gradtape as gt
    >>> @gt.custom_jvp
    ... def softplus(x):
    ...     return np.log(1.0 + np.exp(x))
    >>> @softplus.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (dx,) = primals, tangents
    ...     return softplus(x), dx / (1.0 + np.exp(-x))
    >>> gt.grad(softplus)(0.0), gt.jvp(softplus, (0.0,), (2.0,))[1]
    (np.float64(0.5), np.float64(1.0))
    """

    _rule: Function | None = None

    def defjvp(self, rule: Function) -> Function:
        """Give the rule: `rule(primals, tangents)` returns (result, tangent). Returns it, so that it decorates."""
        if not callable(rule):
            raise OperandError(f"defjvp: a function is wanted; got {kind_of(rule)}.\n{Location.here().show()}")
        self._rule = rule
        return rule

    def defjvps(self, *rules: Function | None) -> None:
        """Give a rule for each argument: `rule(tangent, result, *primals)` returns its part of the tangent.

        None is for an argument that the result does not move with.
        """
        if self._nondiff:
            raise OperandError(
                f"defjvps has a rule for every argument, and nondiff_argnums={self._nondiff} takes some away.\n"
                f"{Location.here().show()}\n  fix: defjvp"
            )

        def total(primals: Any, tangents: Any) -> tuple[Any, Any]:
            if len(rules) != len(primals):
                raise RuleError(
                    f"defjvps gave {len(rules)} rules to {name_of(self._function)!r}, which was called with "
                    f"{len(primals)} arguments.\n{definition(self._function).show()}\n"
                    f"  fix: one rule for each argument, None where there is none"
                )
            result = self(*primals)
            call = Call(self._function)
            sums: list[Any] = [None] * len(leaves(result))
            for rule, tangent in zip(rules, tangents, strict=True):
                if rule is not None:
                    part = call.aligned(rule, result, rule(tangent, result, *primals), "as part of the tangent")
                    sums = [_plus(total, value) for total, (_, value) in zip(sums, part, strict=True)]
            return result, rebuild(result, sums)

        self._rule = functools.update_wrapper(total, next((rule for rule in rules if rule is not None), total))

    def _rule_of(self, call: Call, arguments: Arguments) -> RuleOfArguments:
        if self._rule is None:
            raise call.no_rule("defjvp(rule)")
        return _ForwardRule(call, arguments, self._function, self._rule)


def _plus(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return right if left is None else left
    return left + right


class _ForwardRule(RuleOfArguments):
    """The rule of `custom_jvp`."""

    def __init__(self, call: Call, arguments: Arguments, function: Function, rule: Function) -> None:
        super().__init__(call, arguments, function)
        self.rule = rule

    def run(self, inputs: Arrays) -> tuple[Arrays, Kept]:
        results, template, specs = results_of(self.value(inputs))
        return results, Kept([], Form(template, specs, None, False))

    def push(self, inputs: Arrays, kept: Kept, tangents: Arrays) -> Arrays:
        primals = tuple(self.arguments.template.fill(inputs))
        moves = tuple(self.arguments.template.fill(tangents, zeros_like))
        answer = self.rule(*self.arguments.nondiff, primals, moves)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise self.call.wrong_pair(self.rule, answer, "(result, tangent)")
        form = kept.form
        self._same_result(answer[0], form)
        rows = self.call.aligned(self.rule, form.out.tree, answer[1], "as the tangent of the result")
        wanted = [(*rows[slot], spec) for slot, spec in zip(form.out.slots, form.specs, strict=True)]
        what = "the tangent of the result"
        return [self.call.checked(self.rule, value, spec, what + path) for path, value, spec in wanted]

    def _same_result(self, result: Any, form: Form) -> None:
        _, template, specs = results_of(result)
        if not fits(form.out.tree, template.tree) or template.slots != form.out.slots or specs != form.specs:
            told, made = (", ".join(f"{shape} {dtype}" for shape, dtype in each) for each in (specs, form.specs))
            raise self.call.wrong(
                self.rule,
                f"returned a result of {told or kind_of(result)}; the function itself returns {made}",
                f"return {self.call.name}(*primals) as the result",
            )


class custom_gradient(WithRule):
    """A function that returns its value together with the function that computes its gradient.

    `function(*args)` returns (value, gradient), and `gradient(*upstream)`, with one cotangent for each tensor of the
    value, returns one gradient for each argument: a list or tuple, or the gradient itself if there is one argument.
    Shapes and dtypes are those of the arguments; None stands for zeros. The rule covers the arguments; a tracked tensor
    or variable that the function reads besides them is an error, unless it is read through `gt.stop_gradient`.

    >>> import numpy as np, gradtape as gt
    >>> @gt.custom_gradient
    ... def log1pexp(x):
    ...     e = np.exp(x)
    ...     return np.log(1.0 + e), lambda upstream: upstream * (1.0 - 1.0 / (1.0 + e))
    >>> with np.errstate(over="ignore"):
    ...     gt.grad(log1pexp)(1000.0)
    np.float64(1.0)
    """

    def __init__(self, function: Function) -> None:
        super().__init__(function)

    def _rule_of(self, call: Call, arguments: Arguments) -> RuleOfArguments:
        return _GradientRule(call, arguments, self._function)


class _GradientRule(RuleOfArguments):
    """The rule of `custom_gradient`: the residual is the function that computes the gradient."""

    def value(self, inputs: Arrays) -> Any:
        return self._value_and_gradient(inputs)[0]

    def _value_and_gradient(self, inputs: Arrays) -> tuple[Any, Function]:
        answer = self.function(*self.arguments.every(inputs))
        if not isinstance(answer, tuple) or len(answer) != 2 or not callable(answer[1]):
            raise self.call.wrong_pair(self.function, answer, "(value, gradient), the second a function")
        return answer

    def run(self, inputs: Arrays) -> tuple[Arrays, Kept]:
        value, gradient = self._value_and_gradient(inputs)
        results, template, specs = results_of(value)
        return results, Kept([], Form(template, specs, gradient, True))

    def pull(self, inputs: Arrays, kept: Kept, cotangents: Arrays) -> Arrays:
        form = self.run(inputs)[1].form if kept.saved is None else kept.form
        gradient = form.residuals
        upstream = leaves(form.out.fill(cotangents, lambda item: None))
        answers = self._for_each_argument(gradient, gradient(*upstream))
        return self.arguments.cotangents(self.call, gradient, answers, inputs)

    def _for_each_argument(self, gradient: Function, answer: Any) -> Sequence[Any]:
        """The answer as a sequence with an entry for each argument; those without arrays may be left out."""
        trees = self.arguments.template.tree
        holders = [index for index, flags in enumerate(self.arguments.flags) if any(flags)]
        listed = isinstance(answer, list | tuple)
        if answer is None:
            return [None] * len(trees)
        if len(holders) == 1 and (not listed or fits(trees[holders[0]], answer)):
            answer = [answer]
        elif not listed or len(answer) not in (len(holders), len(trees)):
            raise self.call.wrong(
                gradient,
                f"must return one gradient for each of {len(holders)} arguments; it returned {kind_of(answer)}",
                "return a list with one gradient for each argument, None where it is zero",
            )
        if len(answer) == len(trees):
            return list(answer)
        given = dict(zip(holders, answer, strict=True))
        return [given.get(index) for index in range(len(trees))]


# -- checkpoint


def checkpoint(function: Function) -> Function:
    """`function`, of whose run only the arguments are kept: the walk back runs it again to get the rest.

    Gradients flow to the arguments and to whatever else the function reads: variables, watched tensors, tensors that
    require a gradient. The second run has to give what the first gave; that is checked, so random numbers are drawn
    outside and passed in. While the function runs, either time, its intermediate results are in memory.

    Where it would not help or cannot be done the function just runs: with nothing recorded, while a
    `ForwardAccumulator` is on, and inside `vmap` if the function reads tracked tensors that are not its arguments.

    >>> import numpy as np, gradtape as gt
    >>> @gt.checkpoint
    ... def layer(x, w):
    ...     return np.tanh(x @ w)
    >>> def loss(w, x):
    ...     for _ in range(100):        # 100 times x is kept, and nothing of what is inside the layer
    ...         x = layer(x, w)
    ...     return np.sum(x)
    >>> gt.grad(loss)(0.5 * np.eye(2), np.ones((3, 2))).shape
    (2, 2)
    """

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Lifted) for x in leaves((args, kwargs))):
            return _checkpoint_in_batch(function, args, kwargs)
        return _checkpoint(function, args, kwargs)

    return wrapped


_same = Op(
    "identity",
    lambda x: x,
    reverse=lambda g, node, out, inputs: (g,),
    forward=lambda node, out, inputs, tangents: tangents[0],
    batch=batch_elementwise,
)


def another_place(value: Tensor) -> Tensor:
    """The same array at a place of its own in the graph, one step from where it was."""
    place: Tensor = apply(_same, (value,), {})
    return place


def _checkpoint(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run `function` recorded as ever; then put one node in place of all that it recorded, and let that go."""
    state = recording.current()
    mask = state.bits | (VARIABLE if state.variables else 0)
    flat = leaves((args, kwargs))
    segment = Segment(function, (args, kwargs), flat)
    # a new place for every argument, to tell its use from that of the same tensor by another way
    places = {index: another_place(flat[index]) for index in segment.moving}
    start = next_order()
    result = segment.run([places.get(index, x) for index, x in enumerate(flat)])
    outs = leaves(result)
    segment.outputs = interior_results(outs, start, mask)
    nodes = [outs[index]._node for index in segment.outputs]
    frontier = list(behind(nodes, start, mask))
    bits = functools.reduce(lambda bits, node: bits | node.bits, [*nodes, *frontier], 0)
    if not nodes or bits & (LIFTED | state.forward):
        return result
    arguments = {place._node: index for index, place in places.items()}
    segment.keep(
        used=[arguments[node] for node in frontier if node in arguments],
        others=[node for node in frontier if node not in arguments],
        results=[outs[index]._array for index in segment.outputs],
    )
    parents = [flat[index]._node for index in segment.used] + segment.others
    for index, out in zip(segment.outputs, segment.applied([ghost(node) for node in parents]), strict=True):
        outs[index] = out
    return rebuild(result, outs)


def ghost(node: Node) -> Tensor:
    """A tensor at `node` of which only the place, shape and dtype count: its array is a single zero."""
    return Tensor(np.broadcast_to(np.zeros((), node.dtype), node.shape), node)


def is_interior(node: Node, start: int, mask: int) -> bool:
    """Whether `node` is an operation of a run that began at the order number `start`."""
    return bool(node.bits & mask) and node.order > start and node.op is not None


def interior_results(outs: list[Any], start: int, mask: int) -> list[int]:
    """Which results of a run were recorded by it."""
    return [index for index, x in enumerate(outs) if isinstance(x, Tensor) and is_interior(x._node, start, mask)]


def behind(
    targets: Iterable[Node], start: int, mask: int, places: Mapping[Node, Node] | None = None
) -> dict[Node, None]:
    """Where a run began: the nodes of before, the leaves and the cuts that its results were computed from.

    With `places`, the operations of the run are moved: they get the nodes in `places` as parents instead.
    """
    found: dict[Node, None] = {}
    seen: set[Node] = set()
    pending = list(targets)
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if is_interior(node, start, mask):
            pending.extend(node.parents)
            if places is not None:
                node.parents = tuple([places.get(parent, parent) for parent in node.parents])
        elif node.bits & mask or isinstance(node, Cut):
            found[node] = None
    return found


class Fingerprint:
    """Enough of an array to tell it from another run's: shape, dtype, evenly spaced elements, and the sum.

    Two runs of the same code may differ in the last digits (a library that splits its sums by alignment or by threads),
    so values are compared to half the digits of their dtype.
    """

    SAMPLES = 256

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.shape, self.dtype = array.shape, array.dtype
        flat = array.reshape(-1)
        self.samples = flat[:: max(1, -(-flat.size // self.SAMPLES))].copy()
        with np.errstate(all="ignore"):
            self.total = flat.sum()
            self.size = float(np.sqrt(np.vdot(flat, flat).real * flat.size))  # at least the sum of absolute values

    def agrees(self, other: Fingerprint) -> bool:
        """Whether the values are the same, of arrays of the same shape and dtype."""
        tolerance = float(np.sqrt(np.finfo(self.dtype).eps))
        finite = np.isfinite(self.samples)
        if not np.array_equal(self.samples[~finite], other.samples[~finite], equal_nan=True):
            return False
        mine, theirs = self.samples[finite], other.samples[finite]
        with np.errstate(all="ignore"):
            if np.any(~(np.abs(mine - theirs) <= tolerance * np.abs(mine).max(initial=0))):
                return False
            return not np.isfinite(self.total) or bool(np.abs(self.total - other.total) <= tolerance * self.size)


class Segment(Recorded):
    """One checkpointed call: what it takes to run it again."""

    needs_inputs = False

    outputs: list[int]  # which leaves of the result are tracked
    used: list[int]  # the arguments that they depend on
    others: list[Node]  # what else they depend on
    prints: list[Fingerprint]  # what they were
    results: tuple[Any, ...]  # they themselves, until they are handed over

    def __init__(self, function: Function, tree: Any, flat: list[Any]) -> None:
        super().__init__(Call(function))
        self.title = f"checkpoint({self.call.name})"
        self.ambient = recording.current().bits & AMBIENT
        self.template = Template(tree, lambda x: isinstance(x, Tensor | np.ndarray))
        # writing into a tensor gives it another array: a second tensor with the present one will not change
        items = [flat[slot] for slot in self.template.slots]
        self.given: list[Any] = [Tensor(x._array, x._node) if type(x) is Tensor else x for x in items]
        # a Variable goes in as itself, and counts among what else is read: it may be assigned to
        self.moving = [index for index, x in enumerate(flat) if type(x) is Tensor and is_tracked(x)]

    def keep(self, used: list[int], others: list[Node], results: list[Any]) -> None:
        """After the first run: what it depended on, and what it gave."""
        self.used, self.others, self.results = used, others, tuple(results)
        self.prints = [Fingerprint(array) for array in results]
        self.given = [guard(x) if isinstance(x, np.ndarray) else x for x in self.given]

    def run(self, flat: list[Any]) -> Any:
        args, kwargs = rebuild(self.template.tree, flat)
        return self.call.function(*args, **kwargs)

    def kernel(self, *_: Any) -> tuple[Any, ...]:
        results, self.results = self.results, ()
        return results

    def reverse(self, g: Any, node: Node, inputs: tuple[Any, ...]) -> list[Any]:
        tape, outputs, sources = self._again(node)
        seeds = zip(outputs, g, strict=True)
        watched = [source for source in sources if not isinstance(source, Cut)]
        recorded = attach_for(outputs, g)
        found = walk(seeds, tape.bit, sources=watched, attach=recorded, release=Location(None, 0))
        return [found.get(source) for source in sources]

    def forward(self, tangents: Sequence[Any], node: Node, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        tape, outputs, sources = self._again(node)
        moving = dict(zip(sources, tangents, strict=True))
        return tuple(push_through(outputs, moving, tape.bit, attach_for(outputs, tangents)))

    def _again(self, node: Node) -> tuple[GradientTape, list[Node], list[Node]]:
        """Run the function once more, on a tape of its own: the tape, the results' nodes, and where they come from.

        What is read besides the arguments is watched at its own place while the function runs, and given another place
        afterwards: a walk that went on from there would meet what came before, which is the outer walk's business.
        """
        tape = GradientTape(persistent=True, watch_accessed_variables=False)
        flat = list(self.template.rest)
        for slot, x in zip(self.template.slots, self.given, strict=True):
            flat[slot] = x.checked(node) if isinstance(x, Guarded) else x
        for index in self.moving:
            flat[index] = tape.watch(another_place(flat[index]))
        watched = [other for other in self.others if not isinstance(other, Cut)]
        places = {other: tape.watch(another_place(ghost(other)))._node for other in watched}
        arguments = [flat[index]._node for index in self.used]
        start = next_order()
        for other in watched:
            other.bits |= tape.bit
        try:
            outs = self._run_again(flat, tape)
            made = self._checked(interior_results(outs, start, tape.bit), outs)
            outputs = [outs[index]._node for index in made]
            reached = behind(outputs, start, tape.bit, places)
        finally:
            for other in watched:
                other.bits &= ~tape.bit
        if {node for node in reached if not isinstance(node, Cut)} != {*arguments, *watched}:
            raise differs(self.call, "its results depend on other tensors than before")
        return tape, outputs, arguments + [places.get(other, other) for other in self.others]

    def _run_again(self, flat: list[Any], tape: GradientTape) -> list[Any]:
        state = recording.current()
        # `.backward()` is off during a walk; the function may need it, as it may have at first
        as_at_first = recording.Recording(
            state.recorders, state.ambient or bool(self.ambient), state.muted & ~self.ambient
        )
        try:
            with recording.during(as_at_first), tape:
                return leaves(self.run(flat))
        except Exception as error:
            error.add_note(f"gradtape: raised when checkpoint ran {self.call.name!r} again for its gradient")
            raise

    def _checked(self, made: list[int], outs: list[Any]) -> list[int]:
        """Which results were recorded, after making sure that they are the results of before."""
        if made != self.outputs:
            how = f"{len(made)} of its results depend on tracked tensors, and {len(self.outputs)} did before"
            raise differs(self.call, how)
        now = [Fingerprint(outs[index]._array) for index in made]
        check_same(self.call, made, now, self.prints)
        return made


def attach_for(outputs: list[Node], given: Iterable[Any]) -> Any:
    """Whether what is computed now will be recorded by someone, and so has to be computed with tensors."""
    bits = recording.current().bits
    return attach if any(node.bits & bits for node in outputs) or any(is_recorded(x) for x in given) else None


def check_same(call: Call, numbers: Sequence[int], now: Sequence[Fingerprint], before: Sequence[Fingerprint]) -> None:
    """Raise unless a second run gave what the first gave."""
    if len(now) != len(before):
        raise differs(call, f"it has {len(now)} results, and had {len(before)}")
    for number, new, old in zip(numbers, now, before, strict=True):
        if (new.shape, new.dtype) != (old.shape, old.dtype):
            shapes = f"shape {new.shape} and dtype {new.dtype}, and had {old.shape} and {old.dtype}"
            raise differs(call, f"result {number} has {shapes}")
        if not new.agrees(old):
            raise differs(call, f"result {number}, of shape {new.shape}, has other values")


def differs(call: Call, how: str) -> RuleError:
    return RuleError(
        f"checkpoint ran {call.name!r} again for its gradient, and it did not do the same: {how}.\n"
        f"{definition(call.function).show()}\n  for the call\n{call.where.show()}\n"
        f"  usual causes: random numbers drawn inside; a global, a closed-over name or a loop variable that has a new\n"
        f"       value by now; a side effect, such as a counter or a cache\n"
        f"  fix: draw random numbers outside and pass them in; pass what changes as an argument\n"
        f"       (lambda x, i=i: ... binds a loop variable)"
    )


def _checkpoint_in_batch(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """As a function of its arguments alone, with a rule that can be batched; plain, if it reads more than these."""
    arrays, template = split((args, kwargs), is_array)
    rule = _RecomputedRule(Call(function), function, template)
    if any(is_recorded(x) for x in arrays):
        try:
            return call_recorded(rule, arrays)
        except DetachError:
            if not rule.call.reads_more:
                raise
    return function(*args, **kwargs)


class _RecomputedRule(Rule):
    """The rule of `checkpoint` in a batch: the derivative of a function is the function's own, when it runs again."""

    smooth: list[bool]  # which results can move
    prints: list[Fingerprint]  # what these were

    def __init__(self, call: Call, function: Function, template: Template) -> None:
        super().__init__(call)
        self.function, self.template = function, template

    def run(self, inputs: Arrays) -> tuple[Arrays, Kept]:
        args, kwargs = self.template.fill(inputs)
        results, template, specs = results_of(self.function(*args, **kwargs))
        self.smooth = [spec.dtype.kind in "fc" for spec in specs]
        self.prints = [Fingerprint(held(x)) for x in self._moving(results)]
        return results, Kept([], Form(template, specs, None, False))

    def _moving(self, results: Arrays) -> Arrays:
        return [x for x, smooth in zip(results, self.smooth, strict=True) if smooth]

    def pull(self, inputs: Arrays, kept: Kept, cotangents: Arrays) -> Arrays:
        again, moving = self._again(inputs)
        _, pull_back = vjp(again, *[inputs[index] for index in moving])
        found = dict(zip(moving, pull_back(self._moving(cotangents)), strict=True))
        return [bare(found.get(index)) for index in range(len(inputs))]

    def push(self, inputs: Arrays, kept: Kept, tangents: Arrays) -> Arrays:
        again, moving = self._again(inputs)
        _, pushed = jvp(again, [inputs[index] for index in moving], [tangents[index] for index in moving])
        supply = iter(pushed)
        return [bare(next(supply)) if smooth else None for smooth in self.smooth]

    def _again(self, inputs: Arrays) -> tuple[Function, list[int]]:
        """The function of the inputs that can move, which makes sure that its results are those of before."""
        were_tensors = self.template.were_tensors
        moving = [i for i, x in enumerate(inputs) if were_tensors[i] and x.dtype.kind in "fc"]

        def again(*values: Any) -> Arrays:
            given = dict(zip(moving, values, strict=True))
            args, kwargs = self.template.fill([given.get(index, x) for index, x in enumerate(inputs)])
            results = results_of(self.function(*args, **kwargs))[0]
            found = self._moving(results) if len(results) == len(self.smooth) else results
            now = [Fingerprint(held(x)) for x in found]
            check_same(self.call, range(len(now)), now, self.prints)
            return found

        return again, moving


def held(value: Any) -> Any:
    """The array at the bottom of a tensor, with all its batches."""
    while isinstance(value, BatchTensor):
        value = value.value
    return value._array if isinstance(value, Tensor) else value
