"""Graphs of nodes of any class, made from the program that `gt.jit` records of a run."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.extend import Literal, children, leaves, rebuild
from gradtape.jit import jit
from gradtape_standins.autograd.box_conversion import settled_structure
from gradtape_standins.autograd.core import JVPNode, Traced, VJPNode, make_jvp

Function = Callable[..., Any]


def traced(start_node: Any, fun: Function, x: Any) -> tuple[Any, Any]:
    """The value of `fun(x)` and the node of it; None if it does not depend on `x`."""
    if isinstance(start_node, VJPNode):
        run = Traced(fun, x)
        return run.value, VJPNode.at(run) if run.followed else None
    if isinstance(start_node, JVPNode):
        value, tangent = make_jvp(fun, x)(start_node.g)
        return value, JVPNode.new_root(tangent)
    return _by_program(start_node, fun, x)


def _by_program(start_node: Any, fun: Function, x: Any) -> tuple[Any, Any]:
    make = type(start_node)
    arrays = [np.asarray(leaf) if isinstance(leaf, float | complex) else leaf for leaf in leaves(x)]
    compiled = jit(fun)
    result = settled_structure(compiled(rebuild(x, arrays)))
    program = compiled.traced
    values: dict[Any, Any] = {constant.value: constant.array for constant in program.constants}
    nodes: dict[Any, Any] = {}
    for number, (given, array) in enumerate(zip(program.inputs, arrays, strict=True)):
        values[given] = array
        is_whole = children(x) is None
        nodes[given] = start_node if is_whole else make(array, take, (x, number), {}, (0,), (start_node,))
    for instruction in program.instructions:
        args = tuple(o.value if isinstance(o, Literal) else values[o] for o in instruction.operands)
        if not instruction.results:
            continue
        out = instruction.op.kernel(*args, **instruction.params)
        numbers = tuple(n for n, operand in enumerate(instruction.operands) if operand in nodes)
        outs = out if instruction.op.outputs else (out,)
        values.update(zip(instruction.results, outs, strict=True))
        if numbers:
            parents = tuple(nodes[instruction.operands[n]] for n in numbers)
            node = make(out, instruction.op, args, instruction.params, numbers, parents)
            for place, value in enumerate(instruction.results):
                several = instruction.op.outputs
                nodes[value] = make(outs[place], take, (out, place), {}, (0,), (node,)) if several else node
    end = [nodes.get(value) for value in program.outputs]
    if not any(node is not None for node in end):
        warnings.warn("Output seems independent of input.", stacklevel=4)
        return result, None
    return result, end[0] if len(end) == 1 else make(result, gather, tuple(leaves(result)), {}, range(len(end)), end)


def take(container: Any, number: int) -> Any:
    """One of the leaves of a container."""
    return leaves(container)[number]


def gather(*entries: Any) -> tuple[Any, ...]:
    """Several results as one."""
    return entries
