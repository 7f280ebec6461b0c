"""custom_vjp and custom_jvp: a function and the rule that it is differentiated by."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import chain, compress
from typing import Any

import numpy as np

from gradtape.core.early_binding import bind_early
from gradtape.core.graph import Spec
from gradtape.core.kept_state import bind_state
from gradtape.core.location import Location
from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tensor import Tensor
from gradtape.errors import OperandError, RuleError
from gradtape.transforms.custom.arrays import (
    PLAIN,
    Arrays,
    ArrayTemplate,
    Function,
    is_array,
    is_recorded,
    is_result,
    split_arrays,
    zeros_like,
)
from gradtape.transforms.custom.errors import RuleCall, definition_of, describe_value, function_name, structures_fit
from gradtape.transforms.custom.rules import CustomRule, KeptValues, ResultForm, apply_rule


class RuleArguments:
    """The arguments of one call, by position: those without a derivative, and the others, apart from their arrays."""

    def __init__(
        self, untouched: dict[int, Any], numbers: list[int], template: ArrayTemplate, flags: list[list[bool]]
    ) -> None:
        self.untouched = untouched
        self.numbers = numbers
        self.template = template
        self.flags = flags  # for each of the others, which of its leaves are arrays

    @property
    def nondiff(self) -> list[Any]:
        """The arguments in `nondiff_argnums`, in order."""
        return list(self.untouched.values())

    def every(self, arrays: Arrays) -> list[Any]:
        """All arguments in order, with `arrays` in place of the arrays."""
        full = {**self.untouched, **dict(zip(self.numbers, self.template.fill(arrays), strict=True))}
        return [full[number] for number in range(len(full))]

    def cotangents(self, call: RuleCall, rule: Any, answers: Sequence[Any], inputs: Arrays) -> Arrays:
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
                f"{type(self).__name__}: a function is wanted; got {describe_value(function)}.\n"
                f"{Location.here().show()}"
            )
        functools.update_wrapper(self, function)
        self._function = function
        self._nondiff = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        self._signature: inspect.Signature | None = None
        if not isinstance(function, np.ufunc):  # a ufunc's has `out` as a second argument
            with contextlib.suppress(TypeError, ValueError):
                self._signature = inspect.signature(function)
        parameters = {} if self._signature is None else self._signature.parameters
        by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self._names = [name for name, one in parameters.items() if one.kind in by_position]
        # how many arguments there are, where all of them have a place
        self._positional = len(self._names) if len(self._names) == len(parameters) else -1

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = RuleCall(self._function, self._names)
        args = self._by_position(call, args, kwargs)
        for number in self._nondiff:
            if not -len(args) <= number < len(args):
                raise OperandError(
                    f"nondiff_argnums={self._nondiff}: {call.name!r} was called with {len(args)} arguments.\n"
                    f"{call.where.show()}\n  fix: give positions from 0 to {len(args) - 1}"
                )
        untouched = {number % len(args): args[number] for number in self._nondiff}
        numbers = [number for number in range(len(args)) if number not in untouched]
        flat = [leaves(args[number]) for number in numbers]
        flags = [[is_array(item) for item in part] for part in flat]
        together, all_flags = list(chain(*flat)), list(chain(*flags))
        template = ArrayTemplate([args[number] for number in numbers], together, all_flags)
        arguments = RuleArguments(untouched, numbers, template, flags)
        arrays = list(compress(together, all_flags))
        return self._run(call, arguments, arrays)

    def _run(self, call: RuleCall, arguments: RuleArguments, arrays: Arrays) -> Any:
        """The result of one call: recorded with its rule, or as it is where nothing is differentiated."""
        rule = self._rule_of(call, arguments)
        if any(is_recorded(x) for x in arrays):
            rule.bind_names()
            return apply_rule(rule, arrays)
        result = rule.value(arrays)
        if any(is_recorded(x) for x in leaves(result)):
            raise call.closed_over()
        return result

    @abstractmethod
    def _rule_of(self, call: RuleCall, arguments: RuleArguments) -> FunctionRule:
        """The rule of one call."""

    def _by_position(self, call: RuleCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if self._signature is None:
            if kwargs:
                raise OperandError(
                    f"{call.name!r} has no signature to place {', '.join(kwargs)} by.\n{call.where.show()}\n"
                    f"  fix: pass all arguments by position"
                )
            return args
        if not kwargs and len(args) == self._positional:
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


def split_results(out: Any) -> tuple[Arrays, ArrayTemplate, tuple[Spec, ...]]:
    """The results that are arrays, as tensors or arrays of their own, the rest, and the shapes and dtypes."""
    found, template = split_arrays(out, is_result)
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
                raise OperandError(
                    f"defvjp: two functions are wanted; got {describe_value(rule)}.\n{Location.here().show()}"
                )
        self._fwd, self._bwd = fwd, bwd

    def _rule_of(self, call: RuleCall, arguments: RuleArguments) -> FunctionRule:
        if self._fwd is None or self._bwd is None:
            raise call.no_rule("defvjp(fwd, bwd)")
        return _ReverseRule(call, arguments, self._function, self._fwd, self._bwd)


class FunctionRule(CustomRule):
    """A rule for the arguments of a function."""

    def __init__(self, call: RuleCall, arguments: RuleArguments, function: Function) -> None:
        super().__init__(call)
        self.arguments, self.function = arguments, function

    def bind_names(self) -> None:
        """Have the functions that run again later keep the values that they read from the code around them."""
        self.function = bind_early(self.function)

    def value(self, inputs: Arrays) -> Any:
        """The result where nothing is differentiated, as the function returns it."""
        return self.function(*self.arguments.every(inputs))


class _ReverseRule(FunctionRule):
    """The rule of `custom_vjp`."""

    def __init__(
        self, call: RuleCall, arguments: RuleArguments, function: Function, fwd: Function, bwd: Function
    ) -> None:
        super().__init__(call, arguments, function)
        self.fwd, self.bwd = fwd, bwd

    def bind_names(self) -> None:
        self.fwd, self.bwd = bind_state(self.fwd), bind_early(self.bwd)

    def run(self, inputs: Arrays) -> tuple[Arrays, KeptValues]:
        answer = self.fwd(*self.arguments.every(inputs))
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise self.call.wrong_pair(self.fwd, answer, "(result, residuals)")
        self.bwd = bind_state(self.bwd)  # as `fwd` left it
        results, template, specs = split_results(answer[0])
        saved, residuals = split_arrays(answer[1], is_array)
        opaque = any(not isinstance(item, PLAIN) for item in residuals.rest)
        return results, KeptValues(saved, ResultForm(template, specs, residuals, opaque))

    def pull(self, inputs: Arrays, kept: KeptValues, cotangents: Arrays) -> Arrays:
        saved, form = self.run(inputs)[1] if kept.saved is None else kept
        cotangent = form.out.fill(cotangents, lambda item: None)
        answers = self.bwd(*self.arguments.nondiff, form.residuals.fill(saved), cotangent)
        count = len(self.arguments.numbers)
        if type(answers) is not tuple or len(answers) != count:
            raise self.call.wrong(
                self.bwd,
                f"must return a tuple of {count}, one cotangent for each argument; "
                f"it returned {describe_value(answers)}",
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
            raise OperandError(f"defjvp: a function is wanted; got {describe_value(rule)}.\n{Location.here().show()}")
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
                    f"defjvps gave {len(rules)} rules to {function_name(self._function)!r}, which was called with "
                    f"{len(primals)} arguments.\n{definition_of(self._function).show()}\n"
                    f"  fix: one rule for each argument, None where there is none"
                )
            result = self(*primals)
            call = RuleCall(self._function)
            sums: list[Any] = [None] * len(leaves(result))
            for rule, tangent in zip(rules, tangents, strict=True):
                if rule is not None:
                    part = call.aligned(rule, result, rule(tangent, result, *primals), "as part of the tangent")
                    sums = [_plus(total, value) for total, (_, value) in zip(sums, part, strict=True)]
            return result, rebuild(result, sums)

        self._rule = functools.update_wrapper(total, next((rule for rule in rules if rule is not None), total))

    def _rule_of(self, call: RuleCall, arguments: RuleArguments) -> FunctionRule:
        if self._rule is None:
            raise call.no_rule("defjvp(rule)")
        return _ForwardRule(call, arguments, self._function, self._rule)


def _plus(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return right if left is None else left
    return left + right


class _ForwardRule(FunctionRule):
    """The rule of `custom_jvp`."""

    def __init__(self, call: RuleCall, arguments: RuleArguments, function: Function, rule: Function) -> None:
        super().__init__(call, arguments, function)
        self.rule = rule

    def bind_names(self) -> None:
        super().bind_names()
        self.rule = bind_early(self.rule)

    def run(self, inputs: Arrays) -> tuple[Arrays, KeptValues]:
        results, template, specs = split_results(self.value(inputs))
        self.rule = bind_state(self.rule)
        return results, KeptValues([], ResultForm(template, specs, None, False))

    def push(self, inputs: Arrays, kept: KeptValues, tangents: Arrays) -> Arrays:
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

    def _same_result(self, result: Any, form: ResultForm) -> None:
        _, template, specs = split_results(result)
        if not structures_fit(form.out.tree, template.tree) or template.slots != form.out.slots or specs != form.specs:
            told, made = (", ".join(f"{shape} {dtype}" for shape, dtype in each) for each in (specs, form.specs))
            raise self.call.wrong(
                self.rule,
                f"returned a result of {told or describe_value(result)}; the function itself returns {made}",
                f"return {self.call.name}(*primals) as the result",
            )
