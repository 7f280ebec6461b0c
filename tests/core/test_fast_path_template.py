"""The generated parts of the fast paths: the modules are up to date, and they record what `apply` records."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape import ops
from gradtape.core.fast_apply import is_plain
from gradtape.core.graph import Node
from gradtape.core.operation import NO_PARAMS, Op, apply
from gradtape.core.rules import TABLE
from gradtape.core.tensor import Tensor
from gradtape.jit.trace.loops.template import OpTemplate
from gradtape.jit.trace.tracers import TraceTensor
from tests.ops.cases import Case, cases

_path = Path(__file__).parents[2] / "tools" / "generate_fast_paths.py"
_spec = importlib.util.spec_from_file_location("generate_fast_paths", _path)
assert _spec is not None
assert _spec.loader is not None
tool = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tool)

SLOTS = sorted({*Node.__slots__} - {"__weakref__"})
TEMPLATES = [function for functions in tool.GENERATED.values() for function in functions.values()]


@pytest.mark.parametrize("module", tool.GENERATED)
def test_the_generated_lines_are_up_to_date(module: str) -> None:
    """The generator would not change the module; if it would, run `python tools/generate_fast_paths.py`."""
    assert tool.generate(module) == (tool.ROOT / module).read_text(encoding="utf-8")


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: str(template.__name__))
def test_every_slot_of_a_node_is_set(template: Callable[[], str]) -> None:
    """A slot that is added to `Node` must be added to the template too."""
    assert {*re.findall(r"node\.(\w+)(?:,.*)? = ", template())} | {"offset"} == {*SLOTS}


def fact(value: Any) -> Any:
    """A value of a slot as something that can be compared: arrays by their bytes, traced values by their number."""
    if isinstance(value, TraceTensor):
        return "traced", value.traced.id, value._node.bits
    if isinstance(value, tuple):
        return type(value), [fact(each) for each in value]
    if isinstance(value, Tensor | np.ndarray | np.generic | float):
        array = np.asarray(getattr(value, "_array", value))
        return array.dtype, array.shape, array.tobytes()
    return value


def facts(node: Node) -> dict[str, Any]:
    """All slots of a node but `order`, which is different for every node; the line instead of the instruction."""
    found = {slot: fact(getattr(node, slot)) for slot in SLOTS if slot not in ("order", "offset")}
    return {**found, "line": node.location.line}


def apply_here(op: Op, inputs: tuple[Any, ...]) -> Any:
    return apply(op, inputs, NO_PARAMS)  # which takes the location of its caller's caller


def call(function: Callable[..., Any], *inputs: Any) -> Any:
    return function(*inputs)  # as above


CASES = [
    case
    for name in sorted(TABLE)
    if is_plain(TABLE[name])
    for case in cases(TABLE[name])
    if not case.params and len(case.arrays) in (1, 2) and case.moving
]


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.op.name}-{'-'.join(str(np.shape(a)) for a in case.arrays)}"
)
def test_a_fast_path_records_the_node_that_apply_records(case: Case) -> None:
    """For every plain operation, whichever of its inputs are tracked, all slots are equal."""
    assert case.op.fast_unary is not None
    assert case.op.fast_binary is not None
    fast = case.op.fast_unary if len(case.arrays) == 1 else case.op.fast_binary
    for tracked in [*({index} for index in case.moving), {*case.moving}]:
        inputs = tuple([gt.tensor(a, requires_grad=i in tracked) for i, a in enumerate(case.arrays)])
        found, expected = call(fast, *inputs), apply_here(case.op, inputs)
        assert facts(found._node) == facts(expected._node)


def test_the_fast_path_of_traced_tensors_records_the_node_that_apply_records() -> None:
    """Inside a trace, operators and ufuncs record what the general path records."""
    compared: list[Any] = []

    def function(x: Any, y: Any) -> Any:
        first = y[:1]
        pairs = [(x * y, apply_here(ops.multiply, (x, y)))]
        pairs += [(x - 2.5, apply_here(ops.subtract, (x, 2.5)))]
        pairs += [(3 / x, apply_here(ops.divide, (3, x)))]
        pairs += [(-x, apply_here(ops.negative, (x,)))]
        pairs += [(np.sin(x), apply_here(ops.sin, (x,)))]
        pairs += [(np.exp(x), apply_here(ops.exp, (x,)))]
        pairs += [(np.maximum(x, first), apply_here(ops.maximum, (x, first)))]
        for found, expected in pairs:
            one, other = facts(found._node), facts(expected._node)
            compared.append((one, other))
            assert (one.pop("out") is None) == (other.pop("out") is None)  # the results are two values of the program
        return np.sum(x)

    gt.jit(gt.grad(function))(np.array([0.5, 1.5]), np.array([0.25, 2.0]))
    assert len(compared) == 7
    for one, other in compared:
        assert one == other


def test_an_iteration_that_equals_its_template_records_the_nodes_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The nodes of a loop's iterations differ in their parents and saved values only, by one iteration."""
    nodes: list[list[Node]] = []
    by_template: list[Node] = []
    record = OpTemplate._record

    def counted(*given: Any) -> Any:
        result = record(*given)
        by_template.append(result._node)
        return result

    def function(x: Any) -> Any:
        for _ in range(100):  # long enough to be searched for loops
            y = np.exp(x)
            x = np.sin(y * 0.5) * x
            nodes.append([x._node, *x._node.parents[:1], *x._node.parents[0].parents[:1], y._node])
        return np.sum(x)

    monkeypatch.setattr(OpTemplate, "_record", counted)
    gt.jit(gt.grad(function))(np.linspace(0.5, 1.5, 200))  # too large to be elided
    *_, before, last = nodes
    assert {*last} <= {*by_template}
    assert not {*nodes[0]} & {*by_template}
    for node, earlier, first in zip(last, before, nodes[0], strict=True):
        for other in (earlier, first):
            one, expected = facts(node), facts(other)
            for slot in ("inputs", "out", "parents"):
                del one[slot], expected[slot]
            assert one == expected
            assert [x is None for x in (node.out, *node.inputs)] == [x is None for x in (other.out, *other.inputs)]
    assert last[0].parents == (last[1], before[0])
