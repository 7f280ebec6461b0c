"""custom_gradient: a function that returns the function of its gradient along with its value, as TensorFlow has it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any

from gradtape.core import recording
from gradtape.core.early_binding import bind_early
from gradtape.core.graph import AMBIENT, VARIABLE, next_order, with_numbers
from gradtape.core.kept_state import bind_state
from gradtape.core.operation import Lifted
from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tape import GradientTape
from gradtape.core.tensor import Tensor
from gradtape.errors import DetachError
from gradtape.transforms.custom.arrays import Arrays, Function, is_recorded
from gradtape.transforms.custom.errors import RuleCall, describe_value, structures_fit
from gradtape.transforms.custom.frontier import nodes_before_run
from gradtape.transforms.custom.functions import FunctionRule, RuleArguments, WithRule, split_results
from gradtape.transforms.custom.rules import KeptValues, ResultForm, apply_rule


class custom_gradient(WithRule):
    """A function that returns its value together with the function that computes its gradient.

    `function(*args)` returns (value, gradient), and `gradient(*upstream)`, with one cotangent for each tensor of the
    value, returns one gradient for each argument: a list or tuple, or the gradient itself if there is one argument.
    Shapes and dtypes are those of the arguments; None stands for zeros. The rule covers the arguments; a tracked tensor
    that the function reads besides them is an error, unless it is read through `gt.stop_gradient`.

    A function may read trainable variables if its gradient takes them, as in TensorFlow:
    `gradient(*upstream, variables)` gets the list of them by that keyword, and returns a pair: the gradients of the
    arguments, and a list with one for each variable.

    >>> import numpy as np, gradtape as gt
    >>> @gt.custom_gradient
    ... def log1pexp(x):
    ...     e = np.exp(x)
    ...     return np.log(1.0 + e), lambda upstream: upstream * (1.0 - 1.0 / (1.0 + e))
    >>> with np.errstate(over="ignore"):
    ...     gt.grad(log1pexp)(1000.0)
    np.float64(1.0)
    """

    _reads_variables = False  # whether a call was seen to read variables besides its arguments

    def __init__(self, function: Function) -> None:
        super().__init__(function)

    def _rule_of(self, call: RuleCall, arguments: RuleArguments) -> FunctionRule:
        return _GradientRule(call, arguments, self._function)

    def _run(self, call: RuleCall, arguments: RuleArguments, arrays: Arrays) -> Any:
        lifted = any(isinstance(x, Lifted) for x in arrays)
        if lifted or not self._reads_variables or not recording.current().bits & ~AMBIENT:
            try:
                return super()._run(call, arguments, arrays)
            except DetachError:
                if lifted or not call.reads_more:
                    raise
        rule = _VariablesRule(call, arguments, self._function, arrays)
        self._reads_variables = True  # the next call need not find that out by failing
        given = [*arrays, *rule.variables]
        return apply_rule(rule, given) if any(is_recorded(x) for x in given) else rule.value(arrays)


class _GradientRule(FunctionRule):
    """The rule of `custom_gradient`: the residual is the function that computes the gradient."""

    def bind_names(self) -> None:
        function = bind_early(self.function)

        @functools.wraps(function)
        def with_bound_gradient(*args: Any) -> Any:
            answer = function(*args)
            if not _is_pair(answer):
                return answer
            return answer[0], bind_state(answer[1])

        self.function = bind_state(with_bound_gradient)

    def value(self, inputs: Arrays) -> Any:
        return self._value_and_gradient(inputs)[0]

    def _value_and_gradient(self, inputs: Arrays) -> tuple[Any, Function]:
        answer = self.function(*self.arguments.every(inputs))
        if not _is_pair(answer):
            raise self.call.wrong_pair(self.function, answer, "(value, gradient), the second a function")
        return answer[0], answer[1]

    def run(self, inputs: Arrays) -> tuple[Arrays, KeptValues]:
        value, gradient = self._value_and_gradient(inputs)
        results, template, specs = split_results(value)
        return results, KeptValues([], ResultForm(template, specs, gradient, True))

    def pull(self, inputs: Arrays, kept: KeptValues, cotangents: Arrays) -> Arrays:
        form = self.run(inputs)[1].form if kept.saved is None else kept.form
        gradient = form.residuals
        upstream = leaves(form.out.fill(cotangents, lambda item: None))
        return self._cotangents(gradient, upstream, inputs)

    def _cotangents(self, gradient: Function, upstream: list[Any], inputs: Arrays) -> Arrays:
        answers = self._for_each_argument(gradient, gradient(*upstream))
        return self.arguments.cotangents(self.call, gradient, answers, inputs)

    def _for_each_argument(self, gradient: Function, answer: Any) -> Sequence[Any]:
        """The answer as a sequence with an entry for each argument; those without arrays may be left out."""
        trees = self.arguments.template.tree
        holders = [index for index, flags in enumerate(self.arguments.flags) if any(flags)]
        listed = isinstance(answer, list | tuple)
        if answer is None or not holders:
            return [None] * len(trees)
        if len(holders) == 1 and (not listed or structures_fit(trees[holders[0]], answer)):
            answer = [answer]
        elif not listed or len(answer) not in (len(holders), len(trees)):
            raise self.call.wrong(
                gradient,
                f"must return one gradient for each of {len(holders)} arguments; it returned {describe_value(answer)}",
                "return a list with one gradient for each argument, None where it is zero",
            )
        if len(answer) == len(trees):
            return list(answer)
        given = dict(zip(holders, answer, strict=True))
        return [given.get(index) for index in range(len(trees))]


def _is_pair(answer: Any) -> bool:
    return isinstance(answer, tuple) and len(answer) == 2 and callable(answer[1])


class _VariablesRule(_GradientRule):
    """The rule of a function that reads trainable variables: they are inputs of the operation, after the arguments."""

    def __init__(self, call: RuleCall, arguments: RuleArguments, function: Function, arrays: Arrays) -> None:
        super().__init__(call, arguments, function)
        self.bind_names()
        self.first: tuple[Any, Function] | None = None  # what the function returned when its variables were found
        tape, start = GradientTape(), next_order()
        with tape:
            self.first = self._value_and_gradient(
                [with_numbers(x._array) if isinstance(x, Tensor) else x for x in arrays]
            )
        value, gradient = self.first
        self.variables = list(tape.watched_variables())
        mask = recording.current().bits | VARIABLE | tape.bit
        known = {variable._node for variable in self.variables}
        nodes = [x._node for x in leaves(value) if isinstance(x, Tensor)]
        if not known or not known.issuperset(nodes_before_run(nodes, start, mask)):
            raise call.closed_over()
        if not _takes_variables(gradient):
            raise call.closed_over(
                "       or def gradient(*upstream, variables), which returns (gradients, [one for each variable]);\n"
            )

    def _value_and_gradient(self, inputs: Arrays) -> tuple[Any, Function]:
        if self.first is None:
            return super()._value_and_gradient(inputs)
        (value, gradient), self.first = self.first, None
        return rebuild(value, [x.detach() if isinstance(x, Tensor) else x for x in leaves(value)]), gradient

    def run(self, inputs: Arrays) -> tuple[Arrays, KeptValues]:
        return super().run(inputs[: len(inputs) - len(self.variables)])

    def _cotangents(self, gradient: Function, upstream: list[Any], inputs: Arrays) -> Arrays:
        answer = gradient(*upstream, variables=list(self.variables))
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise self.call.wrong_pair(gradient, answer, "(gradients, gradients of the variables)")
        mine, others = answer
        count = len(self.variables)
        if not isinstance(others, list | tuple) or len(others) != count:
            raise self.call.wrong(
                gradient,
                f"must return one gradient for each of {count} variables; it returned {describe_value(others)}",
                "return gradients, [one for each of the variables]",
            )
        arguments = inputs[: len(inputs) - count]
        answers = self._for_each_argument(gradient, mine)
        found = self.arguments.cotangents(self.call, gradient, answers, arguments)
        for index, (variable, other) in enumerate(zip(self.variables, others, strict=True)):
            what = f"variable {index}" + (f" ({variable.name})" if variable.name else "")
            found.append(self.call.checked(gradient, other, variable, what))
        return found


def _takes_variables(gradient: Function) -> bool:
    """Whether the gradient of a function has a parameter for the variables that the function reads."""
    try:
        parameters = inspect.signature(gradient).parameters.values()
    except (TypeError, ValueError):  # a function that does not say what it takes
        return False
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)
