"""`saved_tensors_hooks`: what operations save for the way back goes through functions of the user's.

Operations that PyTorch knows under one name may be several of gradtape's; what all of them have saved is handed out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtape.extend import AMBIENT, Node
from gradtape.extend import Tensor as Value
from gradtape_standins.torch import grad_fn
from gradtape_standins.torch.tensor import Tensor, wrap

Hook = Callable[[Any], Any]
RESULT = -1
"""The place of what an operation has returned, among those of its inputs."""

_refusals: list[str] = []


class saved_tensors_hooks:
    """Within the block, `pack_hook` is given each tensor that is saved; `unpack_hook` makes one of what it returned.

    >>> from gradtape_standins import torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved.numpy(force=True), torch.from_numpy):
    ...     y = x.exp()
    >>> y.sum().backward()
    >>> x.grad
    tensor([2.7183, 7.3891])
    """

    def __init__(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if _refusals:
            raise RuntimeError(_refusals[-1])
        grad_fn.savers.append(self._save)

    def __exit__(self, *details: object) -> None:
        grad_fn.savers.remove(self._save)

    def _save(self, *nodes: Node) -> None:
        """Hand out what nodes have saved, and the nodes behind them that have no name of their own."""
        pending, seen = list(nodes), set(nodes)
        while pending:
            each = pending.pop()
            _Packed(each, self.pack_hook, self.unpack_hook)
            for parent in each.parents:
                if parent.op is not None and parent not in grad_fn.labels and parent not in seen:
                    seen.add(parent)
                    pending.append(parent)


class _Packed:
    """What one node has saved, in the user's hands; what he makes of it takes its place when a gradient arrives.

    Until then the node has it as well: explanations look at the graph before it is walked.
    """

    def __init__(self, node: Node, pack: Hook, unpack: Hook, only: int | None = None) -> None:
        self.unpack = unpack
        self.inputs: dict[int, Any] = {}
        self.out: tuple[Any] | None = None
        if not node.bits & AMBIENT or type(node.inputs) is not tuple:
            return
        with grad_fn.not_saving():
            for place, saved in reversed(list(enumerate(node.inputs))):
                if isinstance(saved, (np.ndarray, np.generic)) and only in (None, place):
                    self.inputs[place] = pack(wrap(Value(saved, node.parents[place])))
            if isinstance(node.out, (np.ndarray, np.generic)) and only in (None, RESULT):
                self.out = (pack(wrap(Value(node.out, node))),)
        if self.inputs or self.out is not None:
            node.extras().hooks.insert(0, lambda gradient: self.come_back(node))

    def come_back(self, node: Node) -> None:
        """Put what `unpack` makes of it in its place; a graph that was freed stays so, and the walk says that."""
        if node.freed is not None:
            return
        held = list(node.inputs)
        with grad_fn.not_saving():
            for place, packed in self.inputs.items():
                held[place] = self._unpacked(packed)
            if self.out is not None:
                node.out = self._unpacked(self.out[0])
        node.inputs = tuple(held)

    def _unpacked(self, packed: Any) -> Any:
        tensor = self.unpack(packed)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(tensor)}"
            )
        return tensor._numbers


class SavedTensor:
    """One of the tensors that an operation has saved: `grad_fn._raw_saved_self`."""

    def __init__(self, node: Node, place: int) -> None:
        self._recorded, self._place = node, place

    def register_hooks(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        """Hand the tensor to `pack_hook`; `unpack_hook` makes one of what it returned."""
        _Packed(self._recorded, pack_hook, unpack_hook, self._place)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Within the block, `saved_tensors_hooks` is an error with this message."""
    _refusals.append(error_message)
    try:
        yield
    finally:
        _refusals.pop()
