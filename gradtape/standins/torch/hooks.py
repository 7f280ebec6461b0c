"""Hooks of tensors: the leaves whose gradients somebody waits for, and how a hook is removed."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

waiting: list[weakref.ref[Any]] = []
"""The leaves whose gradients somebody waits for, by `register_post_accumulate_grad_hook`."""


def accumulating() -> Callable[[], None]:
    """Watch the leaves that have hooks; what is returned calls those of the leaves that a gradient has come to."""
    reached: dict[int, Any] = {}
    waiting[:] = [leaf for leaf in waiting if leaf() is not None]
    leaves = [leaf for leaf in (reference() for reference in waiting) if leaf is not None]
    removals = []
    for leaf in leaves:

        def reach(gradient: Any, leaf: Any = leaf) -> None:
            reached[id(leaf)] = leaf

        removals.append(leaf._value.register_hook(reach))

    def done() -> None:
        for remove in removals:
            remove()
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
