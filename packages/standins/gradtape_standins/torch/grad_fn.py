"""What PyTorch calls the operations that made tensors: `.grad_fn`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtape.extend import AMBIENT, Node, node_of

labels: weakref.WeakKeyDictionary[Node, str] = weakref.WeakKeyDictionary()
"""What PyTorch calls the operation that made a node: `MulBackward0`."""


savers: list[Callable[..., None]] = []
"""Who is told of operations that have just been recorded, the last one only: `saved_tensors_hooks`."""

_metadata: weakref.WeakKeyDictionary[Node, dict[str, Any]] = weakref.WeakKeyDictionary()
"""What users keep with operations."""


class GradFn:
    """The operation that made a tensor, as `.grad_fn` shows it."""

    def __init__(self, node: Node) -> None:
        self._recorded = node
        self.__class__ = type(label_of(node), (GradFn,), {"__module__": "builtins"})

    def name(self) -> str:
        """What PyTorch calls the operation."""
        label = label_of(self._recorded)
        return f"torch::autograd::{label}" if label == "AccumulateGrad" else label

    @property
    def next_functions(self) -> tuple[tuple[GradFn | None, int], ...]:
        """The operations that made the inputs; what stands for several of ours is one of PyTorch's."""
        found: list[tuple[GradFn | None, int]] = []
        for parent in self._recorded.parents:
            found.extend(_functions(parent))
        if type(self).__name__ == "AddmmBackward0":  # PyTorch names what is added first, gradtape last
            found.insert(0, found.pop())
        return tuple(found)

    def __getattr__(self, name: str) -> Any:
        if name == "metadata":
            return _metadata.setdefault(self._recorded, {})
        kind, _, what = name.partition("saved_")
        if kind not in ("_", "_raw_") or not what:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
        return self._saved(what, kind == "_raw_")

    def _saved(self, what: str, raw: bool) -> Any:
        """What the gradient needs: the operands (`self`, `other`) or the `result`."""
        from gradtape.extend import Tensor as Value
        from gradtape_standins.torch.autograd.saving import RESULT, SavedTensor
        from gradtape_standins.torch.tensor import wrap

        node = self._recorded
        if node.freed is not None:
            raise RuntimeError(
                "Trying to access the saved tensors of a graph that has been freed by backward().\n"
                "  fix: backward(retain_graph=True)"
            )
        place = RESULT if what == "result" else {"self": 0, "other": 1, "exponent": 1}.get(what, len(node.inputs))
        saved, at = node.out, node
        if place != RESULT:
            saved = node.inputs[place] if place < len(node.inputs) else None
            at = node.parents[place] if place < len(node.parents) else node
        if saved is None:
            raise AttributeError(f"{type(self).__name__}: {what!r} is not saved here")
        if raw:
            return SavedTensor(node, place)
        return saved if isinstance(saved, (int, float)) else wrap(Value(np.asarray(saved), at))

    def register_hook(self, hook: Callable[..., Any]) -> Any:
        """Call `hook(grad_inputs, grad_outputs)` when both are known; what it returns takes the place of the first."""
        from gradtape_standins.torch.hooks import register_node_hook

        if any(parent.op is not None and parent not in labels for parent in self._recorded.parents):
            raise NotImplementedError(
                f"{type(self).__name__}.register_hook: this is several operations here, and there is no one gradient "
                "of each input.\n  fix: tensor.register_hook(...) of the inputs and of the result"
            )
        return register_node_hook(self._recorded, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> Any:
        """Call `hook` with a tuple of the gradient that arrives here; what it returns takes its place."""
        from gradtape.extend import Tensor as Value
        from gradtape_standins.torch.hooks import RemovableHandle
        from gradtape_standins.torch.tensor import wrap

        def called(gradient: Any) -> Any:
            replaced = hook((wrap(gradient),))
            return None if replaced is None else replaced[0]._value

        shown = Value(np.broadcast_to(np.zeros((), self._recorded.dtype), self._recorded.shape), self._recorded)
        return RemovableHandle(shown.register_hook(called))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GradFn) and other._recorded is self._recorded

    def __hash__(self) -> int:
        return hash(self._recorded)


_SHORT = {
    "absolute": "abs",
    "divide": "div",
    "multiply": "mul",
    "negative": "neg",
    "positive": "clone",
    "power": "pow",
    "subtract": "sub",
    "broadcast_to": "expand",
    "conjugate": "conj",
    "reshape": "view",
    "getitem": "slice",
}
"""What operations are called by PyTorch that were not asked for under its names, such as those of a gradient."""


def label_of(node: Node) -> str:
    """The name of the operation that made a node, in PyTorch's spelling."""
    if node.op is None:
        return "AccumulateGrad"
    known = labels.get(node)
    if known is not None:
        return known
    words = _SHORT.get(node.op.name, node.op.name).replace(" ", "_").split("_")
    return "".join(word.capitalize() for word in words) + "Backward0"


def _functions(node: Node) -> list[tuple[GradFn | None, int]]:
    if not node.bits & AMBIENT:
        return [(None, 0)]
    if node.op is None or node in labels or not node.parents:
        return [(GradFn(node), 0)]
    return [pair for parent in node.parents for pair in _functions(parent)]


def name_node(value: Any, label: str) -> None:
    """Say what PyTorch calls the operation that made `value`, unless it has a name already."""
    node = node_of(value)
    if node.bits & AMBIENT and node.op is not None:
        if savers and node not in labels:
            savers[-1](node)
        labels.setdefault(node, label)


def tell_savers(values: Iterable[Any]) -> None:
    """Tell of the operations of a gradient that has just been computed, which have no names."""
    if savers:
        nodes = [node_of(value) for value in values if value is not None]
        savers[-1](*dict.fromkeys(n for n in nodes if n.op is not None and n.bits & AMBIENT and n not in labels))


@contextmanager
def not_saving() -> Iterator[None]:
    """Within the block, nobody is told of operations."""
    told = savers[:]
    savers.clear()
    try:
        yield
    finally:
        savers[:] = told
