"""`torch.autograd.Function`: a function whose gradient is a rule of the user's."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import FLAGS, Lifted, node_of
from gradtape.extend import Tensor as Value
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.tensor import Tensor, wrap


class Context:
    """What `forward` leaves for `backward`."""

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs
        self.saved_tensors: tuple[Any, ...] = ()
        self._constant: set[int] = set()
        self._dirty: set[int] = set()
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for `backward`, where they are `ctx.saved_tensors`."""
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`."""
        self.saved_for_forward = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say that no gradient comes back through these results."""
        self._constant.update(id(tensor) for tensor in tensors)

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say that these inputs were written in place, and are the results that are returned."""
        self._dirty.update(id(tensor) for tensor in tensors)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether a gradient that does not come back is a tensor of zeros (as it is at first) or None."""
        self._materialize = value


FunctionCtx = Context


class Function:
    """A function whose gradient is a rule of yours: `forward(ctx, ...)`, `backward(ctx, ...)`, called by `apply`.

    >>> from gradtape_standins import torch
    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * g
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> y = Cube.apply(x)
    >>> y
    tensor(8., grad_fn=<CubeBackward>)
    >>> y.backward()
    >>> x.grad
    tensor(12.)
    """

    generate_vmap_rule = False
    forward: Callable[..., Any]
    backward: Callable[..., Any]
    jvp: Callable[..., Any]
    setup_context: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: the rule belongs to the class."""
        raise RuntimeError(
            f"{type(self).__name__} is called by its class method.\n  fix: {type(self).__name__}.apply(...)"
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function; its results are on the graph with the rule in `backward`.

        With a `setup_context`, arguments can be given by name, and those left out have their defaults: the rule gets
        all of them.
        """
        for name in ("forward", "backward"):
            if not hasattr(cls, name) and not (name == "backward" and hasattr(cls, "jvp")):
                raise NotImplementedError(
                    f"{cls.__name__}: you must implement {name!r}, a static method of a torch.autograd.Function.\n"
                    f"  fix: @staticmethod\n       def {name}(ctx, ...)"
                )
        if cls.setup_context is not None:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        if kwargs:
            raise TypeError(
                f"{cls.__name__}.apply() takes no keyword arguments; got {', '.join(kwargs)}.\n"
                "  fix: pass them by position"
            )
        with translating():
            return _Call(cls, args).made()


class _Call:
    """One call of a function with a rule."""

    def __init__(self, cls: type[Function], args: tuple[Any, ...]) -> None:
        self.cls = cls
        self.args = args
        self.places = [index for index, arg in enumerate(args) if isinstance(arg, Tensor)]
        self.several = False
        self.others: dict[int, Any] = {}
        self.constant: set[int] = set()
        self.dirty: dict[int, int] = {}  # the argument that each result is, where it was written in place
        self.count = 0

    def made(self) -> Any:
        values = [self.args[index]._value for index in self.places]
        results = self.rule()(*values)
        label = f"{self.cls.__name__}Backward"
        found: list[Any] = [None] * self.count
        for index, other in self.others.items():
            found[index] = other
        supply = iter(results)
        for index in range(self.count):
            if index not in self.others:
                value = next(supply)
                result = wrap(gt.stop_gradient(value) if index in self.constant else value, label)
                found[index] = self.written(index, result) if index in self.dirty else result
        return tuple(found) if self.several else found[0]

    def rule(self) -> Any:
        """The function as one of values, with the rule that the user has written: backwards, or only forwards."""
        own = self.cls.__name__
        forward = _named(lambda *values: self.run(values)[0], self.cls.forward, own)
        if not hasattr(self.cls, "backward"):
            moving = gt.custom_jvp(forward)
            moving.defjvp(_named(lambda primals, tangents: self.pushed(primals, tangents), self.cls.jvp, own))
            return moving
        rule = gt.custom_vjp(forward)
        rule.defvjp(
            _named(lambda *values: self.run(values), self.cls.forward, own),
            _named(lambda residuals, cotangents: self.pulled(residuals, cotangents), self.cls.backward, own),
        )
        return rule

    def written(self, index: int, result: Tensor) -> Tensor:
        """The argument that `forward` has written to, with the result in it."""
        target: Tensor = self.args[self.dirty[index]]
        target._check_writable(f"{self.cls.__name__}.forward")
        target._put(result._value, False, True)  # the rule knows what it needs, and was told of the write
        return target

    def pushed(self, primals: Any, tangents: Any) -> tuple[Any, Any]:
        """The results, and how they move, by the user's rule."""
        results, (saved, kept) = self.run(primals)
        ctx = kept.ctx
        ctx.saved_tensors = tuple(wrap(part) for part in saved)
        given: list[Any] = [None] * len(self.args)
        for place, tangent in zip(self.places, tangents, strict=True):
            given[place] = wrap(tangent if isinstance(tangent, Value) else Value(np.asarray(tangent)))
        moved = self.cls.jvp(ctx, *given)
        rows = list(moved) if isinstance(moved, tuple) else [moved]
        return results, [None if row is None else row._value for row in rows]

    def run(self, values: Any) -> tuple[Any, Any]:
        """The results that are tensors, and what is kept for the way back."""
        given = list(self.args)
        for place, value in zip(self.places, values, strict=True):
            given[place] = wrap(value if isinstance(value, Value) else Value(np.asarray(value)))
            given[place]._silent = True  # what `forward` writes to is a copy, and it says so by mark_dirty
        needs = tuple(isinstance(arg, Tensor) and _is_followed(arg._value) for arg in self.args)
        ctx = Context(needs)
        if self.cls.setup_context is None:
            output = self.cls.forward(ctx, *given)
        else:
            output = self.cls.forward(*given)
            self.cls.setup_context(ctx, tuple(given), output)
        self.several = isinstance(output, tuple)
        parts = list(output) if isinstance(output, tuple) else [output]
        self.count = len(parts)
        self.others = {index: part for index, part in enumerate(parts) if not isinstance(part, Tensor)}
        self.constant = {index for index, part in enumerate(parts) if id(part) in ctx._constant}
        places = {id(given[place]): place for place in self.places}
        self.dirty = {i: places[id(p)] for i, p in enumerate(parts) if id(p) in ctx._dirty and id(p) in places}
        results = [part._value for part in parts if isinstance(part, Tensor)]
        held = ctx.saved_tensors or getattr(ctx, "saved_for_forward", ())
        saved = [part._value if isinstance(part, Tensor) else part for part in held]
        return results, (saved, _Kept(ctx))

    def pulled(self, residuals: Any, cotangents: Any) -> tuple[Any, ...]:
        """One cotangent for each tensor among the arguments, by the user's rule."""
        saved, kept = residuals
        ctx = kept.ctx
        ctx.saved_tensors = tuple(wrap(part) for part in saved)
        supply = iter(cotangents)
        seeds = [None if index in self.others else wrap(next(supply)) for index in range(self.count)]
        answers = self.cls.backward(ctx, *seeds)
        rows = list(answers) if isinstance(answers, tuple) else [answers]
        if len(rows) > len(self.args) and all(row is None for row in rows[len(self.args) :]):
            rows = rows[: len(self.args)]
        if len(rows) != len(self.args):
            from gradtape.extend import definition_of

            raise gt.RuleError(
                f"{self.cls.__name__}.backward returned {len(rows)} gradients for the {len(self.args)} arguments of "
                f"forward.\n{definition_of(self.cls.backward).show()}\n"
                "  fix: one for each argument of forward behind ctx; None for what is not a tensor"
            )
        return tuple(None if rows[place] is None else rows[place]._value for place in self.places)


def _is_followed(value: Any) -> bool:
    """Whether a derivative by this value may be asked for: by `backward`, or by a transformation around the call."""
    return isinstance(value, Lifted) or bool(node_of(value).bits & ~FLAGS)


def _named(inner: Callable[..., Any], written: Callable[..., Any], owner: str) -> Callable[..., Any]:
    """A function that errors speak of as the one that the user wrote, and that is called in its own way."""
    signature = inspect.signature(inner)
    named = functools.wraps(written)(inner)
    vars(named)["__signature__"] = signature
    named.__name__ = f"{owner}.{written.__name__}"
    return named


class _Kept:
    """Holds a context where arrays are looked for."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """A `backward` that cannot be differentiated again: the attempt is an error."""
    refusing = gt.custom_vjp(lambda value: gt.stop_gradient(value))

    def refuse(*_: Any) -> Any:
        raise RuntimeError(
            f"trying to differentiate twice a function that was marked with @once_differentiable: "
            f"{backward.__qualname__}.\n  fix: without the decorator, a backward made of torch's functions can be"
        )

    refusing.defvjp(lambda value: (gt.stop_gradient(value), ()), refuse)

    def refused(answer: Any, anchor: Any) -> Any:
        """What `backward` returned, on the graph of what it was given, where a derivative of it is an error."""
        if not isinstance(answer, Tensor) or anchor is None:
            return answer
        return wrap(refusing(answer._value + 0 * gt.sum(anchor._value)))

    @functools.wraps(backward)
    def once(ctx: Any, *grads: Any) -> Any:
        with gt.no_grad():
            answers = backward(ctx, *grads)
        anchor = next((grad for grad in grads if isinstance(grad, Tensor)), None)
        several = isinstance(answers, tuple)
        found = tuple(refused(answer, anchor) for answer in (answers if several else (answers,)))
        return found if several else found[0]

    return once
