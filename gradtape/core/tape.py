"""GradientTape: records operations, and computes gradients, Jacobians and Hessians of what it has recorded."""

from __future__ import annotations

import math
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gradtape.core import recording
from gradtape.core.backprop import LARGE, can_walk_again, walk
from gradtape.core.backprop import release as free
from gradtape.core.batch import BatchTensor, Units, for_each_row
from gradtape.core.explain_hooks import NanOrigins, any_zero_or_nonfinite, is_nan, observers, suspects
from gradtape.core.graph import FLAGS, UNTRACKED, VARIABLE, Node, next_order
from gradtape.core.location import Location
from gradtape.core.operation import attach
from gradtape.core.pytree import aligned, leaves, map_structure, rebuild
from gradtape.core.saved_arrays import watch_errors
from gradtape.core.tensor import Tensor, Variable, check_differentiable, tensor, watch_node
from gradtape.explain import entry_points, messages

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from gradtape.explain.queries.coverage import Coverage
    from gradtape.explain.queries.saved import Saved
    from gradtape.explain.queries.why import Why


class TapeType(type):
    """The class of tapes, which says what is missing where it is used as if it were a tape."""

    def __enter__(cls) -> NoReturn:
        raise messages.tape_not_made(cls.__name__)

    def __exit__(cls, *error: object) -> None:
        """Nothing: the block was never entered."""


class GradientTape(recording.Recorder, metaclass=TapeType):
    """Records what is computed inside its `with` block, and differentiates it.

    >>> import numpy as np, gradtape as gt
    >>> x = gt.Variable([[1.0, 2.0], [3.0, 4.0]])
    >>> with gt.GradientTape() as tape:
    ...     loss = np.sum(x.reshape(4) ** 2)
    >>> tape.gradient(loss, x)
    Tensor([[2., 4.],
            [6., 8.]])
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        super().__init__()
        self.persistent = persistent
        self.watches_variables = watch_accessed_variables
        self._active = False
        self._opened = 0  # when it was last entered, in the order of nodes
        self._spent: Location | None = None
        self._old_bits: list[int] = []
        self._gave_none = False
        self._remembered: list[tuple[Node, tuple[Node, ...], int]] = []
        self._boundary: set[Node] = set()  # tensors that were computed before this tape watched them
        self._variables: dict[Node, Variable] = {}
        self.sources_asked: tuple[list[Node], Any] | None = None  # for observers, while they look: nodes, and structure
        self._asked: deque[tuple[list[weakref.ref[Node]], list[weakref.ref[Node]]]] | tuple[()] = ()  # if persistent

    # -- recording

    def __enter__(self) -> GradientTape:
        if self._active:
            raise messages.entered_twice()
        if self._spent is not None:
            self.reset()
        self._active = True
        self._opened = next_order()
        recording.threads_of_tapes[self.bit] = get_ident()
        recording.switch(recording.current().with_recorder(self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop()
        if isinstance(error, ValueError) and "read-only" in str(error):
            messages.explain_locked(error)
        elif isinstance(error, Exception) and not hasattr(error, "problem"):
            messages.explain_failure(error)

    def _stop(self) -> None:
        self._active = False
        recording.threads_of_tapes.pop(self.bit, None)
        state = recording.current()
        if self in state.recorders:
            recording.switch(state.without(self))

    def watch(self, value: Any) -> Any:
        """Track `value`: a tensor, an array, a number, or any nesting of them. Returns the tracked tensors.

        >>> import numpy as np, gradtape as gt
        >>> with gt.GradientTape() as tape:
        ...     x = tape.watch(np.array([1.0, 2.0]))
        ...     y = (x * x).sum()
        >>> tape.gradient(y, x)
        Tensor([2., 4.])
        """
        return self._watch_one(value) if isinstance(value, Tensor) else map_structure(self._watch_one, value)

    def _watch_one(self, value: Any) -> Tensor:
        watched = value if isinstance(value, Tensor) else tensor(value)
        check_differentiable(watched.dtype, "watch", watched.shape)
        node = watch_node(watched)
        if node.op is not None and not node.bits & self.bit:
            self._boundary.add(node)
        node.bits |= self.bit
        self._watched[node] = None
        if isinstance(watched, Variable):
            self._variables[node] = watched
        return watched

    def on_variable_read(self, variable: Variable) -> None:
        """Note a variable that was read while this tape was on."""
        self._variables.setdefault(variable._node, variable)

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables that were watched, by themselves or with `watch`, in the order they were met."""
        return tuple(self._variables.values())

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """What is computed in this block is not recorded on this tape."""
        if not self._active:
            raise messages.not_recording("stop_recording")
        before = recording.current()
        recording.switch(before.without(self))
        try:
            yield
        finally:  # a tape that was asked for its gradient, or reset, in the block is not what it was before
            recording.switch(before.with_current_bits() if self._active else before.without(self))

    def reset(self) -> None:
        """Forget everything recorded so far, as if the tape were new."""
        self._forget()
        self._variables.clear()
        self._boundary.clear()
        self._remembered.clear()
        self._asked = ()
        self._gave_none = False
        self._spent = None
        # nodes of before may be alive and carry the old bit: it is not given to another tape before this one dies
        old, self.bit = self.bit, recording.claim_bit()
        self._old_bits.append(old)
        self._opened = next_order()
        state = recording.current()
        recording.switch(state.with_current_bits(self.bit if state.muted & old else 0))

    def __del__(self) -> None:
        super().__del__()
        recording.free_bits(getattr(self, "_old_bits", []))

    # -- asking

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: str | None = None,
    ) -> Any:
        """The gradient of `target` with respect to `sources`, in the structure of `sources`.

        A target of more than one element means the gradient of its sum; `output_gradients` (of the target's shape)
        weighs its elements instead. Where there is no path the answer is None, or zeros with
        `unconnected_gradients="zero"`; `tape.why(target, source)` tells the reason.

        >>> import gradtape as gt
        >>> x = gt.Variable([1.0, 2.0, 3.0])
        >>> with gt.GradientTape() as tape:
        ...     y = x * x
        >>> tape.gradient(y, x, output_gradients=[1.0, 0.0, 0.0])
        Tensor([2., 0., 0.])
        """
        check_unconnected(unconnected_gradients)
        nodes = self._source_nodes(sources)
        seeds = self._seeds(target, output_gradients)
        if observers:
            self.sources_asked = nodes, sources
        with self._asking(target) as release:
            values = [t._array for t in ([target] if isinstance(target, Tensor) else leaves(target))]
            nan_origins = NanOrigins(values)
            found = self._walk(seeds, nodes, release, nan_origins)
            gradients = [found.get(node) for node in nodes]
            if output_gradients is not None:
                gradients = [copy_if_lent(gradient, [seed for _, seed in seeds]) for gradient in gradients]
            explained = not found and unconnected_gradients is None  # below
            if not explained and (suspects or nan_origins or any_zero_or_nonfinite(gradients) or is_nan(values)):
                held = zip(nodes, [s._array for s in ([sources] if isinstance(sources, Tensor) else leaves(sources))])
                entry_points.examine(
                    seeds, self.mask, list(zip(nodes, gradients)), values, nan_origins, self._boundary, dict(held)
                )
            if unconnected_gradients is None and any(g is None for g in gradients):
                self._gave_none = True
                watch_errors()
                if all(g is None for g in gradients):
                    self._warn_unconnected(target, sources)
        return self._answer(sources, gradients, unconnected_gradients)

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: str | None = None) -> Any:
        """The Jacobian of one target with respect to each source: shape `target.shape + source.shape`.

        All rows are computed in one batched walk back.

        >>> import gradtape as gt
        >>> x = gt.Variable([1.0, 2.0])
        >>> with gt.GradientTape() as tape:
        ...     y = x * x
        >>> tape.jacobian(y, x)
        Tensor([[2., 0.],
                [0., 4.]])
        """
        check_unconnected(unconnected_gradients)
        checked = self._one_target(target, "jacobian")
        nodes = self._source_nodes(sources)
        with self._asking() as release:
            rows = self._batched_walk(checked, sources, Units(np.ones(checked.shape, checked.dtype)), release)
            if unconnected_gradients is None and nodes and all(row is None for row in rows):
                self._warn_unconnected(target, sources)
        blocks = [
            None if row is None else row.reshape(checked.shape + node.shape)
            for node, row in zip(nodes, rows, strict=True)
        ]
        return self._answer(sources, blocks, unconnected_gradients, checked.shape)

    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: str | None = None) -> Any:
        """The Jacobian of each example of a batch: shape `(batch, *target.shape[1:], *source.shape[1:])`.

        Examples must be independent (row i of the target depends on row i of the source only). That is checked.

        >>> import gradtape as gt
        >>> x = gt.Variable([[1.0, 2.0], [3.0, 4.0]])
        >>> with gt.GradientTape() as tape:
        ...     y = (x * x).sum(axis=1, keepdims=True)
        >>> tape.batch_jacobian(y, x)
        Tensor([[[2., 4.]],
        <BLANKLINE>
                [[6., 8.]]])
        """
        check_unconnected(unconnected_gradients)
        checked = self._one_target(target, "batch_jacobian")
        (node,) = self._source_nodes(source)
        if not checked.shape or not node.shape or checked.shape[0] != node.shape[0]:
            raise messages.no_shared_batch(checked.shape, node.shape)
        batch, rest = checked.shape[0], checked.size // max(checked.shape[0], 1)
        columns = np.broadcast_to(np.eye(rest)[:, None, :], (rest, batch, rest)).reshape(rest, checked.size)
        halves = _separating_masks(batch)
        probes = np.repeat(halves, rest, axis=1) * np.linspace(0.5, 1.5, checked.size)
        with self._asking() as release:
            (rows,) = self._batched_walk(checked, source, _rows(np.concatenate([columns, probes]), checked), release)
            if rows is None and unconnected_gradients is None:
                self._warn_unconnected(target, source)
        if rows is None:
            zeros = Tensor(np.zeros((*checked.shape, *node.shape[1:]), node.dtype))
            return zeros if unconnected_gradients == "zero" else None
        leaks = np.asarray(_value(rows[rest:])).reshape(len(halves), batch, -1)[halves == 0]
        if np.any((leaks != 0) & np.isfinite(leaks)):  # zero times infinity is no leak
            raise messages.dependent_examples(checked.shape, node.shape)
        jacobians = rows[:rest].reshape((*checked.shape[1:], *node.shape))
        moved = np.moveaxis(jacobians, len(checked.shape) - 1, 0)
        return moved if isinstance(moved, Tensor) else Tensor(moved)

    def hessian(self, target: Any, source: Any) -> Any:
        """The second derivatives of a one-element target: shape `source.shape + source.shape`.

        >>> import gradtape as gt
        >>> x = gt.Variable([1.0, 2.0])
        >>> with gt.GradientTape() as tape:
        ...     y = (x ** 3).sum()
        >>> tape.hessian(y, x)
        Tensor([[ 6.,  0.],
                [ 0., 12.]])
        """
        checked = self._one_target(target, "hessian")
        if checked.size != 1:
            raise messages.hessian_of_many(checked.shape)
        (node,) = self._source_nodes(source)
        with self._asking() as release:
            with recording.during(recording.current().with_recorder(self)):  # whatever has switched it off
                found = self._walk([(checked._node, np.ones(checked.shape, checked.dtype))], [node], None)
            gradient = found.get(node)
            if gradient is None:
                self._warn_unconnected(target, source)
            rows: list[Any] = [None]
            if isinstance(gradient, Tensor):
                rows = self._batched_walk(gradient, source, Units(np.ones(gradient.shape, gradient.dtype)), release)
        if rows[0] is None:
            rows = [np.zeros((*node.shape, *node.shape), node.dtype)]
        return self._answer(source, [rows[0].reshape(node.shape + node.shape)], None)

    def why(self, target: Any, source: Any) -> Why:
        """Why the gradient of `target` with respect to `source` is what it is: the path, or where it was cut.

        >>> import gradtape as gt
        >>> x = gt.Variable(2.0)
        >>> with gt.GradientTape() as tape:
        ...     y = gt.stop_gradient(x) * 3.0
        >>> print(tape.why(y, x))  # doctest: +ELLIPSIS
        [GT208] no gradient: the value left the tape at stop_gradient
        ...
        """
        for node, parents, bits in self._remembered:
            node.parents, node.bits = parents, bits
        try:
            return entry_points.why(target, source, self.mask, self)
        finally:
            for node, _, _ in self._remembered:
                node.parents, node.bits = (), node.bits & ~self.bit

    def coverage(self) -> Coverage:
        """For each recorded line, whether the gradients last asked of this persistent tape flowed through it.

        >>> import gradtape as gt
        >>> x = gt.Variable(2.0)
        >>> with gt.GradientTape(persistent=True) as tape:
        ...     y = x * x
        >>> _ = tape.gradient(y, x)
        >>> tape.coverage().missing
        []
        """
        return entry_points.coverage(self)

    def saved(self) -> Saved:
        """A table of the arrays that this tape keeps alive: operation, line, shape, dtype and bytes.

        >>> import numpy as np, gradtape as gt
        >>> x = gt.Variable(np.ones((10, 10)))
        >>> with gt.GradientTape() as tape:
        ...     y = np.tanh(x).sum()
        >>> tape.saved().total
        800
        """
        return entry_points.saved(self)

    def report(self, path: str | os.PathLike[str], target: Any = None, sources: Any = None) -> Path:
        """Write a page (HTML, one file) that shows the gradient: verdicts, the source, the graph, the sources.

        Of `target` and `sources`, else of those that this tape was last asked for. A tape that is not persistent
        forgets the graph when it is asked: then report first, with `target`.

        >>> import gradtape as gt, os, tempfile
        >>> x = gt.Variable([1.0, 2.0])
        >>> with gt.GradientTape(persistent=True) as tape:
        ...     loss = (x * x).sum()
        >>> gradient = tape.gradient(loss, x)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tape.report(os.path.join(folder, "report.html")).name
        'report.html'
        """
        return entry_points.of_tape(self, target, sources).save(path)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return entry_points.of_tape(self)._repr_mimebundle_()

    # -- how

    @property
    def mask(self) -> int:
        """The bits of the nodes that this tape follows."""
        return self.bit | (VARIABLE if self.watches_variables else 0)

    @contextmanager
    def _asking(self, target: Any = None) -> Iterator[list[Node] | None]:
        """The state in which gradients are computed: other tapes record it, and this one if it is persistent.

        Yields a list for the nodes that are to be released afterwards, or None if they are kept.
        """
        where = Location.here()
        if self._spent is not None:
            node = target._node if isinstance(target, Tensor) else UNTRACKED
            if node.op is not None and node.parents and node.bits > FLAGS and not node.bits & self.bit:
                raise messages.not_mine(node, self._spent)
            raise messages.spent(self._spent)
        if not self.persistent:
            self._stop()
            self._spent = where
        release: list[Node] = []
        try:
            with recording.during(recording.current().without(ambient=False)):
                yield None if self.persistent else release
        except BaseException:
            if not self.persistent and can_walk_again(release):  # it was broken off, and can be asked again
                release.clear()
                self._spent = None
            raise
        finally:
            self.sources_asked = None
            before = [(node, node.parents, node.bits) for node in release] if self._gave_none else []
            free(release, self.bit, where)
            # the bare structure, for `why` to explain the None just given
            self._remembered = [(node, parents, bits) for node, parents, bits in before if not node.parents]

    def _walk(
        self,
        seeds: list[tuple[Node, Any]],
        nodes: list[Node],
        visited: list[Node] | None,
        nan_origins: NanOrigins | None = None,
    ) -> dict[Node, Any]:
        recorded = attach if recording.current().bits else None
        if self.persistent:  # for `coverage`
            if isinstance(self._asked, tuple):
                self._asked = deque(maxlen=16)
            self._asked.append(([weakref.ref(node) for node, _ in seeds], [weakref.ref(node) for node in nodes]))
        return walk(
            seeds,
            self.mask,
            sources=nodes,
            boundary=self._boundary,
            attach=recorded,
            visited=visited,
            nan_origins=nan_origins,
        )

    def _batched_walk(self, target: Tensor, sources: Any, seeds: Any, visited: list[Node] | None) -> list[Any]:
        """For each source, the cotangents that arrive there for each row of `seeds`, along a first axis."""
        given = [sources] if isinstance(sources, Tensor) else leaves(sources)
        nodes = [source._watched_node(self.mask) for source in given]

        def arrivals(seed: BatchTensor, last: bool) -> list[Any]:
            found = self._walk([(target._node, seed)], nodes, visited if last else None)
            return [found.get(node) for node in nodes]

        widest = max([target.size, *(math.prod(node.shape) for node in nodes)])
        rows = for_each_row(arrivals, seeds, widest)
        if any_zero_or_nonfinite(rows):
            held = dict(zip(nodes, [source._array for source in given]))
            entry_points.examine_rows(target, seeds, self.mask, list(zip(nodes, rows)), held, self._boundary)
        return rows

    def _source_nodes(self, sources: Any) -> list[Node]:
        nodes = []
        for source in [sources] if isinstance(sources, Tensor) else leaves(sources):
            if not isinstance(source, Tensor):
                raise messages.source_not_tensor(source)
            check_differentiable(source.dtype, "sources", source.shape)
            nodes.append(source._watched_node(self.mask))
        return nodes

    def _seeds(self, target: Any, output_gradients: Any) -> list[tuple[Node, Any]]:
        targets = [target] if isinstance(target, Tensor) else leaves(target)
        for t in targets:
            check_target(t, self)
        if output_gradients is None:
            given = [None] * len(targets)
        elif isinstance(target, Tensor):
            given = [output_gradients]
        else:
            given = aligned(target, output_gradients, "target", "output_gradients", arrays=True)
        return [
            (t._node, check_seed(seed, t, "output_gradients", lend=True))
            for t, seed in zip(targets, given, strict=True)
        ]

    def _one_target(self, target: Any, what: str) -> Tensor:
        if not isinstance(target, Tensor):
            for part in leaves(target):
                check_target(part, self)
            raise messages.not_one_target(what, target)
        return target

    def _answer(self, sources: Any, gradients: list[Any], unconnected: str | None, prefix: tuple[int, ...] = ()) -> Any:
        answers = []
        for source, gradient in zip(
            [sources] if isinstance(sources, Tensor) else leaves(sources), gradients, strict=True
        ):
            if gradient is None and unconnected == "zero":
                gradient = np.zeros(prefix + source.shape, source.dtype)
            answers.append(gradient if gradient is None or isinstance(gradient, Tensor) else Tensor(gradient))
        return answers[0] if isinstance(sources, Tensor) else rebuild(sources, answers)

    def _warn_unconnected(self, target: Any, sources: Any) -> None:
        first_target = target if isinstance(target, Tensor) else leaves(target)[0]
        first_source = sources if isinstance(sources, Tensor) else leaves(sources)[0]
        reason = self.why(first_target, first_source)
        entry_points.report(messages.all_none(first_target, reason, Location.here()))


def check_unconnected(value: str | None) -> None:
    """Raise unless `value` is one of the accepted answers to "what if there is no path?"."""
    if value not in (None, "none", "zero"):
        raise messages.wrong_unconnected(value)


def check_target(target: Any, tape: GradientTape | None = None) -> None:
    """Raise unless `target` is a tensor; of what `tape` recorded, the places where values left it may be the cause."""
    if not isinstance(target, Tensor):
        raise messages.target_not_tensor(target, tape)


def check_seed(seed: Any, target: Any, what: str, lend: bool = False) -> Any:
    """`seed` as the cotangent of `target` (ones when it is None), of the same shape and kind of number.

    It is a copy: a gradient may be the seed itself, and must not be the caller's memory. Large ones are not copied for
    callers that `lend` them and use `copy_if_lent` on what they return.
    """
    if seed is None:
        return np.ones(target.shape, target.dtype)
    value = seed if isinstance(seed, Tensor) else np.asarray(seed)
    if value.shape != target.shape:
        raise messages.wrong_seed_shape(what, value.shape, target.shape, target)
    if value.dtype is not target.dtype and not np.can_cast(value.dtype, target.dtype, "same_kind"):
        raise messages.wrong_seed_dtype(what, value.dtype, target.dtype)
    if isinstance(value, Tensor) and value.dtype == target.dtype:
        return value
    if lend and value.nbytes > LARGE and value.dtype == target.dtype:
        lent: Any = value[...]
        lent.flags.writeable = False
        return lent
    return value.astype(target.dtype)


def copy_if_lent(gradient: Any, seeds: Iterable[Any]) -> Any:
    """`gradient`, or a copy of it where it is the memory of a seed that the caller has lent."""
    if isinstance(gradient, np.ndarray):
        for seed in seeds:
            if isinstance(seed, np.ndarray) and not seed.flags.writeable and np.may_share_memory(gradient, seed):
                return gradient.copy()
    return gradient


def _separating_masks(batch: int) -> np.ndarray[Any, Any]:
    """0/1 rows such that any two examples are told apart by some row, both ways round."""
    rows = [(np.arange(batch) >> bit) & 1 for bit in range(max(batch - 1, 1).bit_length())]
    masks: np.ndarray[Any, Any] = np.concatenate([rows, [1 - row for row in rows]])
    return masks


def _rows(flat: np.ndarray[Any, Any], target: Tensor) -> np.ndarray[Any, Any]:
    """Rows of seeds in the shape and dtype of `target`."""
    return flat.astype(target.dtype).reshape(len(flat), *target.shape)


def _value(value: Any) -> Any:
    return value._concrete() if isinstance(value, Tensor) else value
