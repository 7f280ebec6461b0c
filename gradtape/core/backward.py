"""`.backward()` and `gradients`: the ambient graph, a tape that is always on; `no_grad` switches it off."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from gradtape.core import recording
from gradtape.core.backprop import can_walk_again, nodes_leading_to, release, walk
from gradtape.core.explain_hooks import NanOrigins, any_zero_or_nonfinite, is_nan, suspects
from gradtape.core.graph import ADDED, AMBIENT, LIFTED, SPENT, Node
from gradtape.core.location import Location
from gradtape.core.operation import attach
from gradtape.core.pytree import aligned, leaves, rebuild
from gradtape.core.tape import check_seed, check_target, copy_if_lent
from gradtape.core.tensor import Tensor
from gradtape.explain import entry_points, messages

F = TypeVar("F", bound=Callable[..., Any])


last_backward: ContextVar[Location | None] = ContextVar("gradtape backward", default=None)
"""Where `backward` was called last: named in messages about parameters that it did not reach."""


def backward(
    target: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradient of `target` to the `.grad` of the leaves it was computed from (or of `inputs` only)."""
    backward_of([target], [gradient], retain_graph, create_graph, inputs)


def backward_of(
    targets: list[Tensor],
    gradients: list[Any],
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
    free: Free | None = None,
) -> None:
    """`backward` of several targets in one walk; `free` frees the graph, by default `release`."""
    where = Location.here()
    last_backward.set(where)
    given = [_seed(target, gradient, "backward", where) for target, gradient in zip(targets, gradients, strict=True)]
    retain = create_graph if retain_graph is None else retain_graph
    chosen = None if inputs is None else [_tracked(x) for x in leaves(inputs)]

    arrivals: list[tuple[Node, Any]] = []

    def arrived(node: Node, value: Any) -> None:
        if chosen is None and node.bits & AMBIENT:
            arrivals.append((node, value))

    visited: list[Node] | None = None if retain else []
    nan_origins = NanOrigins([target._array for target in targets])
    seeds = [(target._node, seed) for target, seed in zip(targets, given, strict=True)]
    arrivals += _walk(seeds, chosen, create_graph, arrived, visited, nan_origins, where).items()
    try:
        for node, value in arrivals:
            _accumulate(node, copy_if_lent(value, given), create_graph, where)
        if (
            suspects
            or nan_origins
            or any_zero_or_nonfinite([value for _, value in arrivals])
            or is_nan([target._array for target in targets])
        ):
            _examine(seeds, arrivals, targets, nan_origins)
    finally:
        (free or _release)(visited or (), where)


Free = Callable[[Iterable[Node], Location], None]


def _release(nodes: Iterable[Node], where: Location) -> None:
    release(nodes, AMBIENT, where)


def _examine(
    seeds: list[tuple[Node, Any]], arrivals: list[tuple[Node, Any]], targets: list[Tensor], nan_origins: NanOrigins
) -> None:
    """Let the detectors look for a problem of these gradients, while the graph is there."""
    entry_points.examine(seeds, AMBIENT, arrivals, [target._array for target in targets], nan_origins)


def gradients(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> Any:
    """The gradients of `outputs` with respect to `inputs`, in their structure; `.grad` is left alone.

    >>> import gradtape as gt
    >>> x = gt.tensor([1.0, 2.0], requires_grad=True)
    >>> gt.gradients((x * x).sum(), [x])
    [Tensor([2., 4.])]
    """
    targets = leaves(outputs)
    if grad_outputs is None:
        given = [None] * len(targets)
    else:
        given = aligned(outputs, grad_outputs, "outputs", "grad_outputs", arrays=True)
    sources = leaves(inputs)
    return rebuild(inputs, gradients_of(targets, sources, given, retain_graph, create_graph, allow_unused))


def gradients_of(
    targets: list[Tensor],
    sources: list[Tensor],
    given: list[Any],
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
    free: Free | None = None,
) -> list[Tensor | None]:
    """`gradients` of lists of tensors; `free` frees the graph, by default `release`."""
    where = Location.here()
    seeds = [(t._node, _seed(t, g, "gradients", where)) for t, g in zip(targets, given, strict=True)]
    nodes = [_tracked(x) for x in sources]
    retain = create_graph if retain_graph is None else retain_graph
    visited: list[Node] | None = None if retain else []
    nan_origins = NanOrigins([target._array for target in targets])
    found = _walk(seeds, nodes, create_graph, None, visited, nan_origins, where)
    found = {node: copy_if_lent(value, [seed for _, seed in seeds]) for node, value in found.items()}
    try:
        if (
            suspects
            or nan_origins
            or any_zero_or_nonfinite(found.values())
            or is_nan([target._array for target in targets])
        ):
            _examine(seeds, list(found.items()), targets, nan_origins)
        for index, (source, node) in enumerate(zip(sources, nodes, strict=True)):
            if node not in found and not allow_unused:
                raise messages.unused_input(index, source.shape, where, entry_points.why(targets[0], source, AMBIENT))
    finally:
        (free or _release)(visited or (), where)
    return [None if node not in found else _as_tensor(found[node]) for node in nodes]


def _walk(
    seeds: list[tuple[Node, Any]],
    sources: list[Node] | None,
    create_graph: bool,
    on_leaf: Callable[[Node, Any], None] | None,
    visited: list[Node] | None,
    nan_origins: NanOrigins,
    where: Location,
) -> dict[Node, Any]:
    state = recording.current().without(ambient=create_graph)
    needed = None if sources is None else nodes_leading_to(sources, seeds, AMBIENT)
    with recording.during(state):
        reached = any(node.bits & state.bits for node, _ in seeds)
        recorded = attach if reached else None
        try:
            return walk(
                seeds,
                AMBIENT,
                sources=sources,
                attach=recorded,
                on_leaf=on_leaf,
                visited=visited,
                nan_origins=nan_origins,
                needed=needed,
            )
        except BaseException:
            if visited and not can_walk_again(visited):  # what is left must not be taken for a graph
                release(visited, AMBIENT, where)
            raise


def _seed(target: Any, gradient: Any, what: str, where: Location) -> Any:
    check_target(target)
    if not target.requires_grad:
        raise messages.nothing_requires_grad(what, target.shape, where, entry_points.why_untracked(target))
    if gradient is None and target.size != 1:
        raise messages.many_elements(what, target.shape, target.size, target._node.location)
    return check_seed(gradient, target, "gradient", lend=True)


def _tracked(value: Any) -> Node:
    if not isinstance(value, Tensor) or not value.requires_grad:
        raise messages.input_without_grad(value)
    return value._node


def _accumulate(node: Node, value: Any, create_graph: bool, where: Location) -> None:
    extra = node.extras()
    if extra.grad is not None:
        value = extra.grad + value
        if extra.use & (SPENT | ADDED):
            extra.added, extra.use = where, ADDED
    else:
        extra.use = 0
    held = _as_tensor(value)
    extra.grad = held if create_graph or held._node.bits & LIFTED else Tensor(held._array)


def _as_tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor(value)


def register_hook(target: Tensor, hook: Callable[[Any], Any]) -> Callable[[], None]:
    """Call `hook` with the gradient that arrives at `target`; what it returns, if not None, takes its place.

    Returns a function that removes the hook.

    >>> import gradtape as gt
    >>> x = gt.tensor(3.0, requires_grad=True)
    >>> remove = x.register_hook(lambda g: g * 10)
    >>> (x * x).backward()
    >>> x.grad
    Tensor(60.)
    """
    hooks = _hookable(target, "register_hook").extras().hooks

    def as_tensors(gradient: Any) -> Any:
        replaced = hook(_as_tensor(gradient))
        if replaced is None:
            return None
        if isinstance(replaced, Tensor):
            return replaced if isinstance(gradient, Tensor) else replaced._array
        return np.asarray(replaced, dtype=gradient.dtype)

    vars(as_tensors)["__wrapped__"] = hook  # whose line an error names
    hooks.append(as_tensors)
    return lambda: hooks.remove(as_tensors) if as_tensors in hooks else None


def retain_grad(target: Tensor) -> None:
    """Keep the gradient of a computed tensor in its `.grad` too."""
    _hookable(target, "retain_grad").extras().retain = True


def _hookable(target: Tensor, what: str) -> Node:
    if not target.is_tracked:
        raise messages.no_gradient_will_arrive(what)
    return target._node


class _GradMode:
    """Switches recording off or on: a context manager, and a decorator for functions of every kind."""

    mutes: bool

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        self._before: list[int] = []

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        mode = super().__new__(cls)
        if function is None:
            return mode
        mode._before = []
        return mode(function)

    def __enter__(self) -> None:
        state = recording.current()
        self._before.append(state.muted)
        recording.switch(state.mute(self.mutes))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        state = recording.current()
        recording.switch(
            recording.Recording(state.recorders, state.ambient, self._before.pop(), interpreter=state.interpreter)
        )

    def __call__(self, function: F) -> F:
        mode = type(self)
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generator(*args: Any, **kwargs: Any) -> Any:
                inner = function(*args, **kwargs)
                sent, error = None, None
                while True:
                    try:
                        with mode():
                            item = inner.throw(error) if error is not None else inner.send(sent)
                    except StopIteration as stop:
                        return stop.value
                    sent, error = None, None
                    try:
                        sent = yield item
                    except GeneratorExit:
                        with mode():
                            inner.close()
                        raise
                    except BaseException as thrown:
                        error = thrown

            return generator  # type: ignore[return-value]

        if inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            async def async_generator(*args: Any, **kwargs: Any) -> Any:
                inner = function(*args, **kwargs)
                sent, error = None, None
                try:
                    while True:
                        try:
                            with mode():
                                item = await (inner.athrow(error) if error is not None else inner.asend(sent))
                        except StopAsyncIteration:
                            return
                        sent, error = None, None
                        try:
                            sent = yield item
                        except GeneratorExit:
                            raise
                        except BaseException as thrown:
                            error = thrown
                finally:
                    with mode():
                        await inner.aclose()

            return async_generator  # type: ignore[return-value]

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def coroutine(*args: Any, **kwargs: Any) -> Any:
                with mode():
                    return await function(*args, **kwargs)

            return coroutine  # type: ignore[return-value]

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with mode():
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]


class no_grad(_GradMode):
    """Nothing is recorded inside: neither for `.backward()` nor on the tapes that are on.

    A tape that is entered inside, and so `gt.grad`, records as ever.

    >>> import gradtape as gt
    >>> x = gt.tensor(2.0, requires_grad=True)
    >>> with gt.no_grad():
    ...     y = x * x
    >>> y.requires_grad
    False
    """

    mutes = True


class enable_grad(_GradMode):
    """Recording is on again inside a `no_grad` block.

    >>> import gradtape as gt
    >>> x = gt.tensor(2.0, requires_grad=True)
    >>> with gt.no_grad(), gt.enable_grad():
    ...     y = x * x
    >>> y.requires_grad
    True
    """

    mutes = False
