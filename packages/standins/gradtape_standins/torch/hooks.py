"""Hooks of tensors: the leaves whose gradients somebody waits for, and how a hook is removed."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape.extend import AMBIENT, Node, concrete, node_of
from gradtape.extend import Tensor as Value

waiting: list[weakref.ref[Any]] = []
"""The leaves whose gradients somebody waits for, by `register_post_accumulate_grad_hook`."""


shown: weakref.WeakSet[Any] = weakref.WeakSet()
"""The tensors that `.grad` has handed out and that follow what is accumulated there."""


def gradients_parting(create_graph: bool) -> Callable[[], None]:
    """With `create_graph`, gradients are added out of place: what is returned lets those handed out before stay.

    Without it they are added in place, and a tensor that `.grad` handed out has the sum.
    """
    before = [(gradient, gradient._value) for gradient in shown] if create_graph else []

    def part() -> None:
        for gradient, value in before:
            place = gradient._place
            if place is not None and (place.extra is None or place.extra.grad is not value):
                gradient._unlink()

    return part


def accumulating(create_graph: bool) -> Callable[[bool], None]:
    """Watch the leaves that have hooks; what is returned calls those of the leaves that a gradient has come to.

    It is told whether gradients have arrived, or an error has ended the walk. The hooks run with recording switched
    off, unless the gradients are to be differentiated.
    """
    reached: dict[int, Any] = {}
    waiting[:] = [leaf for leaf in waiting if leaf() is not None]
    leaves = [leaf for leaf in (reference() for reference in waiting) if leaf is not None]
    removals = []
    for leaf in leaves:

        def reach(gradient: Any, leaf: Any = leaf) -> None:
            reached[id(leaf)] = leaf

        hooks = node_of(leaf._value).extras().hooks
        hooks.append(reach)
        removals.append((hooks, reach))

    def done(arrived: bool) -> None:
        for hooks, reach in removals:
            hooks.remove(reach)
        if not arrived:
            return
        with gt.enable_grad() if create_graph else gt.no_grad():
            for leaf in reached.values():
                for hook in list(leaf._awaiting):
                    hook(leaf)

    return done


class RemovableHandle:
    """What a hook is removed by."""

    def __init__(self, remove: Callable[[], Any]) -> None:
        self._remove = remove

    def remove(self) -> None:
        """Remove the hook."""
        self._remove()

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *details: object) -> None:
        self.remove()


def register_node_hook(node: Node, hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(grad_inputs, grad_outputs)` when a node has been walked; what it returns replaces the first."""
    from gradtape_standins.torch.tensor import unwrap, wrap

    if node.op is None:  # a leaf hands nothing on
        hooks = node.extras().hooks

        def arrived(gradient: Any) -> None:
            hook((), (wrap(gradient),))

        hooks.append(arrived)
        return RemovableHandle(lambda: hooks.remove(arrived))
    before = node.op
    heard = copy.copy(before)
    walking: list[None] = []  # explanations ask rules too; only where a gradient has arrived there is a walk
    node.extras().hooks.append(lambda gradient: walking.append(None))

    def reverse(gradient: Any, node: Node, out: Any, inputs: Any) -> Any:
        found = list(before.reverse(gradient, node, out, inputs))
        if not walking:
            return tuple(found)
        walking.clear()
        places = [place for place, parent in enumerate(node.parents) if parent.bits & AMBIENT]
        shown = [wrap(found[place]) if place in places else None for place in range(len(found))]
        answer = hook(tuple(shown), (wrap(gradient),))
        if answer is not None:
            if len(answer) != len(found):
                raise RuntimeError(
                    f"a hook of an operation returned {len(answer)} gradients; it has {len(found)} inputs.\n"
                    "  fix: one for each of grad_inputs, None where that is None"
                )
            for place in places:
                found[place] = _like(unwrap(answer[place]), found[place])
        return tuple(found)

    heard.reverse, heard.reverse_large = reverse, None
    node.op = heard

    def remove() -> None:
        if node.op is heard:
            node.op = before

    return RemovableHandle(remove)


def _like(answer: Any, found: Any) -> Any:
    """A gradient that a hook has returned, as an array where the walk is one of arrays."""
    return answer if isinstance(found, Value) or not isinstance(answer, Value) else concrete(answer)


def registered(hooks: dict[int, Any], hook: Any, first: bool = False) -> RemovableHandle:
    """Have a hook called behind all others, or as the `first` of them."""
    key = max(hooks, default=0) + 1
    others = dict(hooks) if first else {}
    if first:
        hooks.clear()
    hooks[key] = hook
    hooks.update(others)
    return RemovableHandle(lambda: hooks.pop(key, None))
