"""What goes into a loop and comes out of its steps: checked, with errors that name the leaf, the line and the fix."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import recording
from gradtape.core.location import Location
from gradtape.core.pytree import _children, leaves, rebuild
from gradtape.core.tensor import Tensor
from gradtape.core.unshared import unshare
from gradtape.errors import DtypeError, GradTapeError, OperandError, ShapeError, StructureError
from gradtape.transforms.custom.errors import definition_of, function_name

Function = Callable[..., Any]
NUMBERS = "fciub"


def number_of_steps(xs: Any, length: int | None) -> int:
    """How many steps a scan over `xs` has."""
    if length is not None:
        try:
            length = operator.index(length)
        except TypeError:
            raise _refused(OperandError, f"scan: length is a {type(length).__name__}.", "an integer, or None") from None
        if length < 0:
            raise _refused(OperandError, f"scan: length={length}.", "a length of 0 or more")
    rows: dict[str, int] = {}
    for path, leaf in paths(xs):
        if leaf is None:
            continue
        if not isinstance(leaf, Tensor | np.ndarray):
            what = f"scan: xs{path} is a {type(leaf).__name__}, which has no rows."
            raise _refused(
                OperandError,
                what,
                "arrays with a row for each step (np.array(xs) of a list of rows); a closure for what stays the same",
            )
        if not leaf.shape:
            what = f"scan: xs{path} has shape (), and so no rows to go through."
            raise _refused(ShapeError, what, "an array with a row for each step; what is the same in all in a closure")
        rows[path] = leaf.shape[0]
    if not rows and length is None:
        raise _refused(OperandError, "scan: neither xs nor length was given.", "scan(f, init, None, length=100)")
    given = set(rows.values())
    if len(given) > 1:
        told = ", ".join(f"xs{path} has {count}" for path, count in rows.items())
        raise _refused(
            ShapeError, f"scan: the arrays of xs have different numbers of rows: {told}.", "the same for all"
        )
    if length is not None and given and given != {length}:
        what = f"scan: length={length}, and xs has {given.pop()} rows."
        raise _refused(ShapeError, what, "leave out length, or cut xs with xs[:length]")
    return given.pop() if given else int(length or 0)


def as_bytes(memory: Any) -> int | None:
    """`memory` as a whole number of bytes, `20e6` included; None for None. Raises if it is neither."""
    if memory is None:
        return None
    number = isinstance(memory, int | float | np.integer | np.floating) and not isinstance(memory, bool)
    if not number or not 1 <= memory < np.inf or memory != int(memory):
        what = f"a loop's memory={memory!r}."
        raise _refused(OperandError, what, "a number of bytes, such as 50_000_000, or None to keep everything")
    return int(memory)


def as_carry(init: Any, title: str = "scan") -> Any:
    """`init` with arrays for numbers: what goes round has a shape and a dtype."""
    flat: list[Any] = []
    for path, leaf in paths(init):
        if leaf is None or isinstance(leaf, Tensor):
            flat.append(leaf)
            continue
        array = np.asarray(leaf) if isinstance(leaf, np.ndarray | np.generic | int | float | complex | bool) else None
        if array is None or array.dtype.kind not in NUMBERS:
            what = f"{title}: init{path} is a {type(leaf).__name__}, which cannot go round from step to step."
            raise _refused(OperandError, what, "arrays, tensors and numbers; anything else goes in a closure")
        flat.append(leaf if isinstance(leaf, np.ndarray | np.generic) else array[()])
    return rebuild(init, flat)


def empty_results(f: Function, carry: Any, xs: Any) -> Any:
    """What a scan of no steps stacks: f is run once on zeros, for the structure and the shapes."""
    rows = [None if x is None else np.zeros(x.shape[1:], x.dtype) for x in leaves(xs)]
    with recording.during(recording.current().mute(True)):
        own = rebuild(carry, unshare(leaves(carry)))
        _, y = CheckedBody(f, carry).step(own, rebuild(xs, rows), 0)
    specs = [None if part is None else (np.shape(part), np.result_type(_held(part))) for part in leaves(y)]
    return rebuild(y, [None if spec is None else np.zeros((0, *spec[0]), spec[1]) for spec in specs])


def _held(value: Any) -> Any:
    return np.empty((), value.dtype) if hasattr(value, "dtype") else value


class CheckedBody:
    """A loop's body, whose results are compared with what it was given."""

    def __init__(self, f: Function, carry: Any) -> None:
        self.f = f
        self.title = getattr(f, "loop", "scan")
        self._shape = _shape_of(carry)
        self._specs = [_spec(leaf) for leaf in leaves(carry)]
        self._results: Any = None

    def step(self, carry: Any, x: Any, t: Any) -> tuple[Any, Any]:
        """The next carry and the result of step `t`."""
        answer = self.f(carry, x)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise self._not_a_pair(answer)
        new, y = answer
        flat = leaves(new)
        if _shape_of(new) != self._shape:
            raise self._other_structure(carry, new, t)
        if [_spec(leaf) for leaf in flat] != self._specs:
            new = self._weak(carry, new, t)
        specs = [_spec(leaf) for leaf in leaves(y)]
        if self._results is None:
            self._check_results(y)
            self._results = _shape_of(y), specs
        elif (_shape_of(y), specs) != self._results:
            raise self._other_results(y, specs, t)
        return new, y

    def _weak(self, carry: Any, new: Any, t: Any) -> Any:
        """The carry with Python numbers in the dtype of what they take the place of; an error for all else."""
        found = []
        for (path, leaf), spec in zip(paths(new), self._specs, strict=True):
            if type(leaf) in (int, float, bool) and spec is not None and not spec[0]:
                kind = np.result_type(np.empty((), spec[1]), leaf)
                leaf = spec[1].type(leaf) if kind == spec[1] else leaf
            if _spec(leaf) != spec:
                raise self._other_leaf(path, spec, _spec(leaf), t)
            found.append(leaf)
        return rebuild(new, found)

    def _step(self, t: Any) -> str:
        return f"{self.title}: in step {t}"

    def _name(self) -> str:
        return repr(function_name(self.f))

    def _where(self) -> str:
        from gradtape.explain.source.files import returned_span

        body, loop = returned_span(definition_of(self.f).code), Location.here()
        shown = loop.show()
        if (body.file, body.line) == (loop.file, loop.line):
            return shown
        return f"  {body.place}   {body.source.partition(chr(10))[0].strip()}\n{shown}"

    def _not_a_pair(self, answer: Any) -> GradTapeError:
        what = f"a {type(answer).__name__}" + (f" of {len(answer)}" if isinstance(answer, tuple | list) else "")
        return StructureError(
            f"{self.title}: {self._name()} returned {what}; a pair is wanted: the next carry, and what is stacked.\n"
            f"{self._where()}\n  fix: return carry, y (or: return carry, None)"
        )

    def _other_structure(self, carry: Any, new: Any, t: Any) -> GradTapeError:
        return StructureError(
            f"{self._step(t)}, {self._name()} was given a carry that is {_told(carry)}, and returned one that is "
            f"{_told(new)}.\n{self._where()}\n"
            f"  fix: return the carry in the structure it came in; results of a step go second: return carry, y"
        )

    def _other_leaf(self, path: str, old: Any, new: Any, t: Any) -> GradTapeError:
        if old is None or new is None:
            told = {True: "None", False: "an array"}
            return StructureError(
                f"{self._step(t)}, carry{path} was {told[old is None]} and became {told[new is None]}.\n"
                f"{self._where()}\n"
                f"  fix: begin with an array of the shape it will have, such as np.zeros(shape)"
            )
        if old[0] != new[0]:
            return ShapeError(
                f"{self._step(t)}, carry{path} had shape {old[0]}, and {self._name()} returned shape {new[0]}.\n"
                f"{self._where()}\n"
                f"  the carry has one shape in all steps\n"
                f"  fix: begin with init{path} of shape {new[0]} if it should have that; keepdims=True keeps an axis\n"
                f"       that a sum removes; what grows from step to step is returned second, and stacked"
            )
        return DtypeError(
            f"{self._step(t)}, carry{path} had dtype {old[1]}, and {self._name()} returned {new[1]}.\n"
            f"{self._where()}\n"
            f"  the carry has one dtype in all steps\n"
            f"  fix: begin with init{path} of dtype {new[1]} (np.zeros(..., np.{new[1]}), or 0.0 instead of 0),\n"
            f"       or return carry{path}.astype(np.{old[1]})"
        )

    def _check_results(self, y: Any) -> None:
        for path, leaf in paths(y):
            if _spec(leaf) is None and leaf is not None:
                raise OperandError(
                    f"{self.title}: {self._name()} gave a {type(leaf).__name__} as y{path}, which cannot be stacked.\n"
                    f"{self._where()}\n  fix: return arrays, numbers or None"
                )

    def _other_results(self, y: Any, specs: list[Any], t: Any) -> GradTapeError:
        shape, before = self._results
        if _shape_of(y) != shape:
            return StructureError(
                f"{self._step(t)}, what {self._name()} returned to be stacked is {_told(y)}, and was of another "
                f"structure before.\n{self._where()}\n  fix: return the same structure in all steps"
            )
        path, old, new = next(
            (path, old, new) for (path, _), old, new in zip(paths(y), before, specs, strict=True) if old != new
        )
        return ShapeError(
            f"{self._step(t)}, y{path} has {_spec_told(new)}, and had {_spec_told(old)} before: these cannot be "
            f"stacked.\n{self._where()}\n  fix: return the same shape and dtype in all steps; a mask, or np.pad, helps"
        )


def _spec(leaf: Any) -> Any:
    if isinstance(leaf, Tensor | np.ndarray | np.generic):
        return tuple(leaf.shape), leaf.dtype
    if isinstance(leaf, bool | int | float | complex):
        return (), np.asarray(leaf).dtype
    return None


def _spec_told(spec: Any) -> str:
    return "no shape" if spec is None else f"shape {spec[0]} and dtype {spec[1]}"


def _shape_of(tree: Any) -> Any:
    """The structure of nested containers, without the leaves."""
    branch = _children(tree)
    return None if branch is None else (branch[0], tuple([_shape_of(child) for child in branch[1]]))


def _told(tree: Any) -> str:
    branch = _children(tree)
    if branch is None:
        return f"a single {type(tree).__name__}"
    (kind, detail), inside = branch
    return f"a dict with keys {list(detail)}" if kind is dict else f"a {kind.__name__} of {len(inside)}"


def paths(tree: Any, path: str = "") -> list[tuple[str, Any]]:
    """The leaves of a structure, each with the way to it, such as `['h'][0]`."""
    branch = _children(tree)
    if branch is None:
        return [(path, tree)]
    (_, detail), inside = branch
    if isinstance(tree, dict):
        names = [f"[{key!r}]" for key in detail]
    elif isinstance(detail, tuple):
        names = [f".{name}" for name in detail]
    else:
        names = [f"[{number}]" for number in range(len(inside))]
    return [found for name, child in zip(names, inside, strict=True) for found in paths(child, path + name)]


def _refused(kind: type[GradTapeError], what: str, wanted: str) -> GradTapeError:
    return kind(f"{what}\n{Location.here().show()}\n  accepted: {wanted}")
