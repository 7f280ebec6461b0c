"""How a primitive becomes an operation of gradtape's: its rules, in autograd's form, as a `CustomRule`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from gradtape.errors import RuleError
from gradtape.extend import (
    Arrays,
    CustomRule,
    KeptValues,
    ResultForm,
    RuleCall,
    Tensor,
    apply_rule,
    array_of,
    is_recorded,
    leaves,
    rebuild,
    split_arrays,
    split_results,
    transpose_linear,
)
from gradtape_standins.autograd.box_conversion import conjugate, unboxed

Function = Callable[..., Any]

primitive_vjps: dict[Any, Function] = {}
"""For each primitive, what `(argnums, ans, args, kwargs)` makes a function of, from `g` to one cotangent for each."""

primitive_jvps: dict[Any, Function] = {}
"""For each primitive, the tangent of the result, from `(argnums, gs, ans, args, kwargs)`."""

calls = [0]
"""How many calls of primitives were recorded: their rules need not be able to work on a batch."""


def is_traced(argument: Any) -> bool:
    """Whether an argument is, or holds, a tensor that is followed."""
    if isinstance(argument, Tensor):
        return is_recorded(argument)
    return isinstance(argument, (list, tuple, dict)) and any(is_recorded(leaf) for leaf in leaves(argument))


def notraced(primitive: Function, registered: dict[Any, set[Any]]) -> bool:
    """Whether no gradient is to go through a primitive."""
    return any(primitive in primitives for primitives in registered.values())


def applied(primitive: Function, argnums: Sequence[int], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a primitive as a tensor on the tapes that the arguments `argnums` are on."""
    if primitive not in primitive_vjps and primitive not in primitive_jvps:
        name = getattr(primitive, "__name__", "the primitive")
        raise NotImplementedError(
            f"VJP of {name} wrt argnums {tuple(argnums)} not defined: it was called with a traced argument and has "
            f"no rule.\n  fix: defvjp({name}, lambda ans, *args: lambda g: ...), one for each argument; None is zero"
        )
    calls[0] += 1
    flat = [leaves(args[number]) for number in argnums]
    arrays = [leaf for part in flat for leaf in part if isinstance(leaf, Tensor)]
    return apply_rule(_PrimitiveRule(primitive, list(argnums), args, kwargs), arrays)


class _PrimitiveRule(CustomRule):
    """The rule of one call of a primitive. Its inputs are the tensors among the traced arguments."""

    def __init__(self, primitive: Function, argnums: list[int], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__(RuleCall(getattr(primitive, "fun", primitive)))
        self.primitive, self.argnums, self.kwargs = primitive, argnums, kwargs
        # the arguments without the tensors: those are handed over by the tapes, which may let go of them
        self.args = tuple(unboxed(argument, _hole) if n in argnums else argument for n, argument in enumerate(args))

    def _filled(self, inputs: Arrays) -> tuple[Any, ...]:
        """All arguments, with `inputs` in the places of the tensors."""
        supply = iter(inputs)
        full = list(self.args)
        for number in self.argnums:
            flat = [_number(next(supply)) if x is _HOLE else x for x in leaves(full[number])]
            full[number] = rebuild(full[number], flat)
        return tuple(full)

    def run(self, inputs: Arrays) -> tuple[Arrays, KeptValues]:
        result = self.primitive(*self._filled(inputs), **self.kwargs)
        found, template, specs = split_results(result)
        saved, residuals = split_arrays(result, lambda leaf: isinstance(leaf, (Tensor, np.ndarray)))
        return found, KeptValues(saved, ResultForm(template, specs, residuals, False))

    def _answer(self, inputs: Arrays, kept: KeptValues) -> Any:
        """The result of the call; computed again where somebody follows the inputs, so that they follow it too."""
        if kept.saved is None:
            return self.primitive(*self._filled(inputs), **self.kwargs)
        return kept.form.residuals.fill([_number(x) for x in kept.saved])

    def pull(self, inputs: Arrays, kept: KeptValues, cotangents: Arrays) -> Arrays:
        if self.primitive not in primitive_vjps:
            if hasattr(self.primitive, "native"):  # NumPy's, to which somebody has given a forward rule only
                return transpose_linear(self._natively, inputs, cotangents)
            return self._transposed(inputs, kept, cotangents)
        rule = primitive_vjps[self.primitive]
        g = kept.form.out.fill(cotangents, lambda item: None)
        g = rebuild(g, [conjugate(_number(_bare(x))) for x in leaves(g)])
        args = self._filled(inputs)
        answers = tuple(rule(tuple(self.argnums), self._answer(inputs, kept), args, self.kwargs)(g))
        if len(answers) != len(self.argnums):
            raise RuleError(
                f"the rule of {self.call.name!r} gave {len(answers)} cotangents for the arguments {self.argnums}.\n"
                f"{self.call.where.show()}\n  fix: one for each argument that it is asked for"
            )
        found: Arrays = []
        supply = iter(inputs)
        for number, answer in zip(self.argnums, answers, strict=True):
            answer = _laid_out(args[number], getattr(answer, "dense", answer))
            rows = self.call.aligned(rule, args[number], answer, f"for argument {number}")
            for (path, value), leaf in zip(rows, leaves(self.args[number]), strict=True):
                if leaf is _HOLE:
                    spec = next(supply)
                    fitted = conjugate(_fitted(value, spec))
                    found.append(self.call.checked(rule, fitted, spec, f"argument {number}{path}"))
        return found

    def _natively(self, inputs: Arrays) -> Arrays:
        """The results by the way that gradtape follows by itself."""
        result = getattr(self.primitive, "native")(*self._filled(inputs), **self.kwargs)  # noqa: B009
        return split_results(result)[0]

    def _transposed(self, inputs: Arrays, kept: KeptValues, cotangents: Arrays) -> Arrays:
        """The transpose of the forward rule; which cannot be had if that rule is the primitive itself."""
        under_way = _transposing.get()
        if self.primitive in under_way:
            raise NotImplementedError(
                f"VJP of {self.call.name} wrt argnums {tuple(self.argnums)} not defined: forwards it is its own rule, "
                f"which says nothing about the way back.\n  fix: defvjp({self.call.name}, ...)"
            )
        token = _transposing.set(under_way | {self.primitive})
        try:
            return super().pull(inputs, kept, cotangents)
        finally:
            _transposing.reset(token)

    def push(self, inputs: Arrays, kept: KeptValues, tangents: Arrays) -> Arrays:
        if self.primitive not in primitive_jvps:
            return super().push(inputs, kept, tangents)
        rule = primitive_jvps[self.primitive]
        supply = iter(tangents)
        moves = []
        for number in self.argnums:
            flat = [_number(next(supply)) if x is _HOLE else None for x in leaves(self.args[number])]
            moves.append(rebuild(self.args[number], flat))
        answer = self._answer(inputs, kept)
        tangent = rule(tuple(self.argnums), moves, answer, self._filled(inputs), self.kwargs)
        tangent = _laid_out(answer, getattr(tangent, "dense", tangent))
        rows = self.call.aligned(rule, answer, tangent, "as the tangent")
        moved = [value for (_, value), leaf in zip(rows, leaves(answer), strict=True) if _is_result(leaf)]
        return [
            self.call.checked(rule, _fitted(value, spec), spec, "the result")
            for value, spec in zip(moved, kept.form.specs, strict=True)
        ]


_HOLE = object()
_transposing: ContextVar[frozenset[Any]] = ContextVar("forward rules being transposed", default=frozenset())


def _hole(value: Any) -> Any:
    return _HOLE if isinstance(value, Tensor) else value


def _is_result(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, np.ndarray, float, complex, np.inexact))


def _laid_out(argument: Any, answer: Any) -> Any:
    """A (co)tangent in the containers of what it belongs to: autograd takes an array for a list, row by row."""
    if not isinstance(argument, (list, tuple)):
        return answer
    rows = isinstance(answer, (list, tuple)) or (isinstance(answer, (np.ndarray, Tensor)) and answer.ndim)
    if not rows or len(answer) != len(argument):
        return answer
    items = [_laid_out(part, item) for part, item in zip(argument, answer, strict=True)]
    return type(argument)(*items) if hasattr(argument, "_fields") else type(argument)(items)


def _bare(value: Any) -> Any:
    return array_of(value) if type(value) is Tensor and not is_recorded(value) else value


def _number(value: Any) -> Any:
    """An array without axes as the number that the user's code had."""
    return value[()] if isinstance(value, np.ndarray) and not value.ndim else value


def _fitted(value: Any, spec: Any) -> Any:
    """Real numbers in the precision of what they belong to: autograd's rules do not look after it."""
    if not isinstance(value, (Tensor, np.ndarray, np.generic)):
        return value
    if value.dtype == spec.dtype or value.dtype.kind not in "fciub" or spec.dtype.kind not in "fc":
        return value
    if value.dtype.kind == "c" and spec.dtype.kind != "c":
        value = np.real(value)
    return value.astype(spec.dtype)
