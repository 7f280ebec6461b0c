"""Detectors judge the records of any recorder: here those of a small one that has no tensor of gradtape's in it."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain.detectors.broadcast import diagnose_broadcast
from gradtape.explain.detectors.missing_gradient import explain_cut_path
from gradtape.explain.detectors.nonfinite.check import explain_nonfinite
from gradtape.explain.detectors.training_dynamics import judge_softmax
from gradtape.explain.graph import paths
from gradtape.explain.model.problem import Problem
from gradtape.explain.model.record import Record, Replayable, SourceLocation, Watch
from gradtape.explain.source.expression import site_at
from gradtape.explain.source.libraries import recognising


@dataclass(frozen=True)
class Place:
    """A file, a line and columns: all that this recorder knows of the source."""

    file: str
    line: int
    start: int
    end: int
    code: None = None
    offset: int = 0
    in_rule: bool = False
    is_known: bool = True

    @property
    def positions(self) -> tuple[int, int, int, int]:
        return self.line, self.line, self.start, self.end

    @property
    def columns(self) -> tuple[int, int]:
        return self.start, self.end

    @property
    def source(self) -> str:
        return linecache.getline(self.file, self.line).strip()

    @property
    def segment(self) -> str:
        return self.source[self.start : self.end]

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"

    def show(self) -> str:
        return f"  {self}   {self.source}"


class Program:
    """A file of source, whose expressions are found by their text."""

    def __init__(self, folder: Path, text: str) -> None:
        self.file = str(folder / "train.py")
        Path(self.file).write_text(text, encoding="utf-8")
        self.lines = text.splitlines()

    def at(self, text: str) -> Place:
        line = next(number for number, line in enumerate(self.lines, 1) if text in line)
        start = self.lines[line - 1].index(text)
        return Place(self.file, line, start, start + len(text))


class Operand(NamedTuple):
    """What is known of an operand."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_tracked: bool


@dataclass(eq=False)
class Entry:
    """A record as plain data. An entry without an operation is a leaf if it is tracked, else a constant."""

    order: int
    location: Place
    array: np.ndarray[Any, Any]
    operation: str = ""
    kind: str = ""
    parents: Sequence[Entry] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    is_tracked: bool = True
    reason: str = ""
    sources: Sequence[Entry] = ()
    library: str = ""
    joined: Sequence[Entry] = ()
    has_values: bool = True
    is_shared: bool = False
    is_differentiable: bool = True
    has_several_results: bool = False
    reports_itself: bool = False
    freed: None = None
    has_lost_origins: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    @property
    def place_key(self) -> tuple[Any, ...]:
        return self.location.file, self.location.positions

    @property
    def operands(self) -> list[Operand]:
        return [Operand(parent.shape, parent.dtype, parent.is_tracked) for parent in self.parents]

    @property
    def is_variable(self) -> bool:
        return self.is_tracked and not self.operation

    requires_grad = is_variable

    @property
    def is_cut(self) -> bool:
        return bool(self.reason)

    def value(self) -> Any:
        return self.array

    def operand_value(self, index: int) -> Any:
        return self.parents[index].array

    def is_on(self, tapes: Any) -> bool:
        return self.is_tracked

    def selects_by(self, index: int) -> bool:
        return self.operation == "where" and index == 0

    def origins(self) -> Iterator[Entry]:
        yield from self.parents
        yield from self.sources


RULES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "log": (np.log, lambda g, x: (g / x,)),
    "sum": (np.sum, lambda g, x: (np.broadcast_to(g, np.shape(x)),)),
}


class Run:
    """A computation with every value kept, and the few rules that the tests need."""

    lost = None

    def __init__(self, target: Entry) -> None:
        self.targets = [target]
        self.seeds = [(target, np.ones(target.shape))]
        self.records: list[Entry] = []
        self.consumers: dict[Record, list[Entry]] = {target: []}
        pending = [target]
        while pending:
            entry = max(pending, key=lambda entry: entry.order)
            pending.remove(entry)
            self.records.append(entry)
            for parent in self.parents(entry):
                if parent not in self.consumers:
                    self.consumers[parent] = []
                    pending.append(parent)
                self.consumers[parent].append(entry)
        self.values: dict[Record, Any] = {entry: entry.array for entry in self.records}
        self.gradients: dict[Record, Any] = {}
        self.cotangents: dict[Record, Sequence[Any]] = {}

    def parents(self, record: Record) -> list[Entry]:
        assert isinstance(record, Entry)
        return [parent for parent in record.parents if parent.is_tracked]

    def inputs(self, record: Record) -> list[Any]:
        return [record.operand_value(index) for index in range(len(record.parents))]

    def apply_forward(self, record: Record, inputs: Sequence[Any]) -> Any:
        return RULES[record.operation][0](*inputs)

    def apply_reverse(
        self, record: Record, gradient: Any, value: Any = None, inputs: Sequence[Any] | None = None
    ) -> Sequence[Any]:
        given: Sequence[Any] = RULES[record.operation][1](gradient, *(inputs or self.inputs(record)))
        return given

    def gradient_of_constant(self, record: Record, index: int) -> Any:
        return None


class Graph:
    """A `Watch` of everything that is tracked."""

    tapes = None
    is_tape = False
    opened = 0
    spent = None
    watches_variables = True
    departures: Sequence[Record] = ()

    def has_lost(self, departure: Record) -> bool:
        return True

    def was_recording(self, record: Record) -> bool:
        return True

    def has_read(self, variable: Record) -> bool:
        return True


@dataclass(eq=False)
class Array:
    """A value of this recorder's library."""

    entry: Entry

    @property
    def shape(self) -> tuple[int, ...]:
        return self.entry.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.entry.dtype


class ArrayLibrary:
    """What explanations ask about such values."""

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, Array)

    def is_variable(self, value: Any) -> bool:
        return isinstance(value, Array) and value.entry.is_variable

    def record_of(self, value: Any) -> Record | None:
        return value.entry if isinstance(value, Array) else None

    source_record_of = record_of

    def array_of(self, value: Any) -> Any:
        return value.entry.array if isinstance(value, Array) else None


def reported(judge: Callable[..., Any], *given: Any) -> list[Problem]:
    """What a detector reports."""
    found: list[Problem] = []
    with gt.explain.configure(GT4="note", GT5="note"), gt.explain.listening(found.append):
        judge(*given)
    gt.explain.notes(clear=True)
    return found


def operands(problem: Problem) -> list[tuple[str, Any]]:
    """The names and shapes in a problem."""
    return [(operand.name, operand.shape) for operand in problem.operands]


def test_the_recorder_satisfies_the_protocols(tmp_path: Path) -> None:
    """Each name of the protocols is there in plain data that knows nothing of gradtape's tensors."""
    entry = Entry(1, Program(tmp_path, "x = 1\n").at("x"), np.ones(()))
    pairs: list[tuple[Any, type]] = [
        (entry, Record),
        (entry.location, SourceLocation),
        (Run(entry), Replayable),
        (Graph(), Watch),
    ]
    for made, protocol in pairs:
        names = {name for base in protocol.__mro__ for name in vars(base) if not name.startswith("_")}
        assert names
        assert {name for name in names if not hasattr(made, name)} == set()


def test_nodes_satisfy_the_protocol() -> None:
    """The kernel's nodes and their locations have each name of the protocols."""
    node = (gt.Variable(1.0) * 2.0)._node
    for made, protocol in ((node, Record), (node.location, SourceLocation)):
        names = {name for name in vars(protocol) if not name.startswith("_")}
        assert {name for name in names if not hasattr(made, name)} == set()


def test_the_record_of_a_node_is_read_from_it() -> None:
    """Operands have shapes as far as they were saved, values as far as they were kept; a leaf has lost nothing."""
    x = gt.Variable([4.0, 0.0])
    with gt.GradientTape(persistent=True):
        root = np.sqrt(x)
        product = x * 2.0
    assert root._node.value().tolist() == [2.0, 0.0]
    assert root._node.operand_value(0) is None
    assert [(operand.shape, operand.is_tracked) for operand in root._node.operands] == [((2,), True)]
    assert product._node.operands[1] == ((), np.dtype(float), False)
    assert not x._node.has_lost_origins


@pytest.mark.parametrize("recognised", [True, False])
def test_an_accidental_broadcast_is_found(tmp_path: Path, recognised: bool) -> None:
    """A column of predictions minus a row of targets, given as values of the library or as bare arrays."""
    program = Program(tmp_path, "pred = model(x)\nloss = ((pred - y) ** 2).mean()\n")
    pred = Entry(1, program.at("model(x)"), np.zeros((50, 1)), "linear", parents=())
    y = Entry(0, program.at("y"), np.zeros(50), is_tracked=False)
    difference = Entry(2, program.at("pred - y"), np.zeros((50, 50)), "subtract", "elementwise", (pred, y))
    values: list[Any] = [Array(pred), Array(y)] if recognised else [pred.array, y.array]
    with recognising(ArrayLibrary()):
        finding = diagnose_broadcast(difference, values, (pred.shape, y.shape), lambda: site_at(difference.location))
    assert finding is not None
    assert finding.problem.code == "GT101"
    assert finding.problem.spans[0].place == "train.py:2"
    assert operands(finding.problem) == [("pred", (50, 1)), ("y", (50,))]
    assert "pred[:, 0] - y" in finding.problem.fixes


def test_an_axis_that_was_written_is_left_alone(tmp_path: Path) -> None:
    """All pairs are meant where the source adds the axis."""
    program = Program(tmp_path, "loss = ((pred[:, None] - y) ** 2).mean()\n")
    pred = Entry(1, program.at("pred[:, None]"), np.zeros((50, 1)), "getitem", params={"index": (slice(None), None)})
    y = Entry(0, program.at("y"), np.zeros(50), is_tracked=False)
    difference = Entry(2, program.at("pred[:, None] - y"), np.zeros((50, 50)), "subtract", "elementwise", (pred, y))
    site = site_at(difference.location)
    assert diagnose_broadcast(difference, [pred.array, y.array], (pred.shape, y.shape), lambda: site) is None


def test_a_cut_is_found_on_the_path(tmp_path: Path) -> None:
    """`.item()` between a parameter and the loss is named, with its line and what to write instead."""
    program = Program(tmp_path, "scale = w.item()\nloss = (scale * x).sum()\n")
    w = Entry(1, program.at("w"), np.ones(()))
    x = Entry(2, program.at("x"), np.ones(3))
    left = Entry(3, program.at("w.item()"), np.ones(()), reason=".item()", sources=(w,), is_tracked=False)
    product = Entry(4, program.at("scale * x"), np.ones(3), "multiply", "elementwise", (left, x))
    loss = Entry(5, program.at("(scale * x).sum()"), np.ones(()), "sum", "linear", (product,))
    route = paths.route_back(loss, w, None)
    assert route == [loss, product, left, w]
    answer = explain_cut_path(route, Graph())
    assert answer.code == "GT208"
    assert [(span.place, span.text) for span in answer.problem.spans] == [("train.py:1", "w.item()")]
    assert answer.problem.fixes == ("w",)
    assert not answer.flows


def test_the_logarithm_of_zero_is_found(tmp_path: Path) -> None:
    """The operation that made an infinity is named with its operand; the edit was tried with the library's rules."""
    program = Program(tmp_path, "p = softmax(z)\nloss = np.log(p).sum()\n")
    z = Entry(1, program.at("z"), np.array([800.0, 0.0]))
    p = Entry(2, program.at("softmax(z)"), np.array([1.0, 0.0]), "softmax", "general", (z,))
    logarithm = Entry(3, program.at("np.log(p)"), np.array([0.0, -np.inf]), "log", "elementwise", (p,))
    loss = Entry(4, program.at("np.log(p).sum()"), np.array(-np.inf), "sum", "linear", (logarithm,))
    (problem,) = reported(explain_nonfinite, Run(loss), [], [loss.array])
    assert problem.code == "GT401"
    assert problem.title == "np.log(p) is -inf at [1], where p is 0"
    assert problem.spans[0].place == "train.py:2"
    assert operands(problem) == [("p", (2,))]
    assert problem.fixes[0] == "np.log(p + 1e-12)"
    assert problem.fixes[0].checked


@pytest.mark.parametrize(("axis", "codes"), [(0, ["GT501"]), (1, [])])
def test_a_softmax_over_the_wrong_axis_is_found(tmp_path: Path, axis: int, codes: list[str]) -> None:
    """The labels pick one class for each example, so the classes are what has to sum to 1."""
    program = Program(tmp_path, f"p = softmax(z, axis={axis})\nloss = p[np.arange(4), y].sum()\n")
    z = Entry(1, program.at("z"), np.zeros((4, 3)))
    p = Entry(
        2, program.at(f"softmax(z, axis={axis})"), np.full((4, 3), 0.25), "softmax", "general", (z,), {"axis": (axis,)}
    )
    index = (np.arange(4), np.array([0, 2, 1, 0]))
    picked = Entry(3, program.at("p[np.arange(4), y]"), np.full(4, 0.25), "getitem", "linear", (p,), {"index": index})
    loss = Entry(4, program.at("p[np.arange(4), y].sum()"), np.ones(()), "sum", "linear", (picked,), {"axis": None})
    found = reported(judge_softmax, p, Run(loss))
    assert [problem.code for problem in found] == codes
    for problem in found:
        assert [span.place for span in problem.spans] == ["train.py:1", "train.py:2"]
        assert problem.fixes == ("softmax(z, axis=1)",)
