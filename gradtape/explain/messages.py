"""The words of the kernel's errors: one function a situation, which returns the error to raise.

Each says what was given, where (the user's line), what is accepted, and a fix. The kernel decides, this file words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.location import Location
from gradtape.errors import (
    AxisError,
    DetachError,
    DtypeError,
    GradTapeError,
    MutationError,
    OperandError,
    RuleError,
    ShapeError,
    StructureError,
    TapeError,
    UntrackedError,
    family,
)

if TYPE_CHECKING:
    from gradtape.core.graph import Node

Shape = tuple[int, ...]


def _here() -> str:
    return Location.here().show()


# -- operations


def refused_operands(error: Exception, name: str, inputs: Sequence[Any]) -> Exception:
    """NumPy refused: its class and words, and the user's line and operands."""
    ours = family(error)
    if isinstance(error, GradTapeError) or ours is None:
        return error
    where = Location.here()
    return ours(f"{name}: {error}\n{where.show()}\n{_operands(inputs, where.operands)}")


def _operands(inputs: Sequence[Any], names: Sequence[str]) -> str:
    """One line an operand: its name in the user's code, shape, dtype, and the line it came from."""
    rows = []
    for index, x in enumerate(inputs):
        name = names[index] if index < len(names) == len(inputs) else f"argument {index}"
        if not hasattr(x, "shape"):
            rows.append(f"    {name}: {type(x).__name__} {np.shape(x) if isinstance(x, list | tuple) else x!r}")
            continue
        row = f"    {name}: shape {x.shape}, {x.dtype}"
        node = getattr(x, "_node", None)
        if node is not None and node.code is not None and node.op is not None:
            row += f", from {node.location}"
        rows.append(row)
    return "\n".join(rows)


def no_such_axis(axis: Any, ndim: int) -> AxisError:
    has = f"axes 0 to {ndim - 1} (or -{ndim} to -1)" if ndim else "no axes"
    return AxisError(f"axis={axis!r} is out of bounds: an array of {ndim} dimensions has {has}.\n{_here()}")


def repeated_axis(axis: Any, ndim: int) -> ShapeError:
    return ShapeError(f"axis={axis!r} names the same axis of {ndim} twice.\n{_here()}\n  fix: name each axis once")


# -- tensors and their values


def no_derivative_of_dtype(what: str, dtype: Any, shape: Shape) -> DtypeError:
    return DtypeError(
        f"{what}: a tensor of dtype {dtype} (shape {shape}) has no gradient; only real and complex floating point "
        f"numbers do.\n{_here()}\n"
        f"  fix: write the numbers with a point (1.0), or x.astype(float) before"
    )


def ragged(data: Any, error: Exception) -> ShapeError:
    return ShapeError(
        f"{type(data).__name__} does not make an array: {error}.\n{_here()}\n"
        f"  fix: give numbers of one shape; gt.stack and gt.concatenate join tensors"
    )


def not_numbers(data: Any, dtype: Any) -> DtypeError:
    return DtypeError(
        f"a tensor holds numbers; {type(data).__name__} gives an array of dtype {dtype}.\n{_here()}\n"
        f"  fix: pass numbers or booleans of one shape; gt.stack joins tensors"
    )


def no_length() -> OperandError:
    return OperandError(
        f"len() of a tensor of shape (), which has no first axis.\n{_here()}\n  fix: x.size, or x[None]"
    )


def not_one_element(how: str, shape: Shape) -> ShapeError:
    return ShapeError(
        f"{how} needs one element; this tensor has shape {shape}.\n{_here()}\n"
        f"  fix: reduce it first (.sum(), .mean(), .max()) or pick one element (x[0])"
    )


def no_single_truth(shape: Shape) -> ShapeError:
    return ShapeError(
        f"the truth of a tensor of shape {shape} is not one answer.\n{_here()}\n"
        f"  fix: (condition).any() or (condition).all() for one answer,\n"
        f"       gt.where(condition, a, b) for one for each element"
    )


def silent_detach(shape: Shape) -> DetachError:
    return DetachError(
        f"NumPy asked for the bare array of a tracked tensor of shape {shape}; its gradient would be lost in silence.\n"
        f"{_here()}\n"
        f"  fix: to join tensors, gt.stack([x, y]) or gt.concatenate; to write into an array, gt.at(array)[i].set(x);\n"
        f"       if the gradient is not wanted, say so: x.numpy() or gt.stop_gradient(x)"
    )


def stored_while_tracked(how: str, shape: Shape) -> DetachError:
    return DetachError(
        f"{how} of a tracked intermediate tensor of shape {shape} would lose its gradient in silence.\n{_here()}\n"
        f"  fix: {how} of x.detach(), or of the leaves it was computed from"
    )


def one_of_a_batch(size: int, shape: Shape) -> DetachError:
    return DetachError(
        f"inside vmap this tensor stands for {size} examples at once (each of shape {shape}): it has no single value "
        f"to print, branch on or convert.\n{_here()}\n"
        f"  fix: gt.where(condition, a, b) instead of if; return the value instead of converting it"
    )


def frozen_intermediate(node: Node) -> OperandError:
    return OperandError(
        f"requires_grad_(False) on a computed tensor.\n{node.location.show()}\n"
        f"  fix: x.detach() is the same value without the graph"
    )


def wrong_grad_shape(shape: Shape, given: Shape) -> ShapeError:
    return ShapeError(
        f".grad of a tensor of shape {shape} was set to an array of shape {given}.\n{_here()}\n"
        f"  fix: a gradient has its tensor's shape, {shape}"
    )


# -- writing


def wrong_assigned_shape(name: str | None, shape: Shape, given: Shape) -> ShapeError:
    return ShapeError(
        f"assign: the variable{f' {name!r}' if name else ''} has shape {shape}, the new value {given}.\n{_here()}\n"
        f"  fix: give a value of shape {shape}"
    )


def wrong_assigned_dtype(dtype: Any, given: Any) -> DtypeError:
    return DtypeError(
        f"assign: a value of dtype {given} into a variable of dtype {dtype}.\n{_here()}\n"
        f"  fix: value.astype({str(dtype)!r}) if that loss is meant"
    )


def does_not_fit_in_place(how: str, shape: Shape, dtype: Any, given: Shape, given_dtype: Any) -> ShapeError:
    return ShapeError(
        f"{how}: the result has shape {given} and dtype {given_dtype}; the tensor it is written into has shape {shape} "
        f"and dtype {dtype}.\n{_here()}\n  fix: x = x + y instead of x += y"
    )


def leaf_written(how: str, shape: Shape) -> MutationError:
    return MutationError(
        f"{how}: this tensor of shape {shape} is a leaf that gradients are asked for; written in place it would no "
        f"longer be what the tape started from.\n{_here()}\n"
        f"  fix: write a copy (y = x.copy(); y[i] = v), y = gt.at(x)[i].set(v), or update it under gt.no_grad()"
    )


def viewed_while_written(how: str, shape: Shape) -> MutationError:
    return MutationError(
        f"{how}: another live tensor is a view of this one (shape {shape}) and would have to change too.\n{_here()}\n"
        f"  fix: y = gt.at(x)[i].set(v), gt.where or gt.stack make a new tensor; or write a copy: x = x.copy()"
    )


def saved_array_changed(node: Node, shape: Shape) -> MutationError:
    name = "" if node.op is None else f" by {node.op.name!r}"
    return MutationError(
        f"an array of shape {shape} was changed after the tape had saved it{name}.\n"
        f"  saved at\n{node.location.show()}\n"
        f"  it was written through a view, so the writing line is not known: look between that line and\n{_here()}\n"
        f"  fix: give the operation a copy (array.copy()), or write after the gradient has been taken"
    )


LOCKED_NOTE = (
    "gradtape: an array that a tape has saved is locked until its gradient has been taken.\n"
    "  fix: compute with a copy (array.copy()), or write after tape.gradient(...)"
)


# -- tapes


def entered_twice() -> TapeError:
    return TapeError(
        f"this tape is already recording: it was entered a second time.\n{_here()}\n"
        f"  fix: use another gt.GradientTape() for the inner block"
    )


def not_recording(what: str) -> TapeError:
    return TapeError(f"{what} on a tape that is not recording.\n{_here()}\n  fix: call it inside the with block")


def spent(first: Location) -> TapeError:
    return TapeError(
        f"this tape has given its gradient already; what it had recorded was freed by\n{first.show()}\n"
        f"  asked again at\n{_here()}\n"
        f"  fix: ask for all gradients in one call, tape.gradient(target, [a, b]);\n"
        f"       or keep the recording: gt.GradientTape(persistent=True)"
    )


def source_not_tensor(source: Any) -> OperandError:
    shape = f" of shape {source.shape}" if isinstance(source, np.ndarray) else ""
    return OperandError(
        f"sources: a {type(source).__name__}{shape} is not a tensor, so nothing was recorded for it.\n{_here()}\n"
        f"  fix: x = tape.watch(x) inside the with block, compute with that x, and ask for that x"
    )


def target_not_tensor(target: Any) -> UntrackedError:
    return UntrackedError(
        f"target: a {type(target).__name__} is not a tensor, so there is no record of how it was computed.\n{_here()}\n"
        f"  fix: pass the tensor itself; float(), .item() and .numpy() give values without a history"
    )


def not_one_target(what: str, target: Any) -> OperandError:
    return OperandError(
        f"{what}: target must be one tensor; got a {type(target).__name__}.\n{_here()}\n"
        f"  fix: call it once for each target (on a persistent tape), or gt.concatenate them"
    )


def wrong_seed_shape(what: str, given: Shape, shape: Shape) -> ShapeError:
    try:
        fits = np.broadcast_shapes(given, shape) == shape
    except ValueError:
        fits = False
    offer = f"np.broadcast_to(seed, {shape}) makes it fit" if fits else f"give an array of shape {shape}"
    return ShapeError(
        f"{what}: the seed has shape {given}, the target it weighs has shape {shape}.\n{_here()}\n"
        f"  a seed of the wrong shape is not stretched: it would surface later, in an innocent reshape\n  fix: {offer}"
    )


def wrong_seed_dtype(what: str, given: Any, dtype: Any) -> DtypeError:
    return DtypeError(
        f"{what}: a seed of dtype {given} for a target of dtype {dtype}.\n{_here()}\n"
        f"  fix: seed.real, or seed.astype({str(dtype)!r})"
    )


def wrong_unconnected(value: Any) -> OperandError:
    return OperandError(f'unconnected_gradients must be "none" or "zero"; got {value!r}.\n{_here()}')


def no_shared_batch(target: Shape, source: Shape) -> ShapeError:
    return ShapeError(
        f"batch_jacobian: target and source must share their first axis, the batch; the target has shape {target}, the "
        f"source {source}.\n{_here()}\n  fix: tape.jacobian(target, source) makes no such demand"
    )


def dependent_examples(target: Shape, source: Shape) -> ShapeError:
    return ShapeError(
        f"batch_jacobian: the examples are not independent: rows of the target (shape {target}) depend on other rows "
        f"of the source (shape {source}).\n{_here()}\n"
        f"  fix: tape.jacobian(target, source) is the whole dependence; or find the operation that mixes examples\n"
        f"       (a mean over the batch, a normalisation, a matmul along axis 0)"
    )


def hessian_of_many(shape: Shape) -> ShapeError:
    return ShapeError(
        f"hessian: the target must have one element; it has shape {shape}.\n{_here()}\n"
        f"  fix: reduce it first (.sum(), .mean()), or take tape.jacobian of a gradient"
    )


# -- rules and hooks


def wrong_rule_shape(node: Node, index: int, given: Shape, shape: Shape) -> RuleError:
    assert node.op is not None
    return RuleError(
        f"the gradient rule of {node.op.name!r} returned shape {given} for argument {index}, which has shape {shape}.\n"
        f"{node.location.show()}\n"
        f"  a gradient has the shape of what it is the gradient of; it is never summed or stretched into place\n"
        f"  fix: make the rule return shape {shape} for argument {index}"
    )


def wrong_rule_dtype(node: Node, index: int, given: Any, dtype: Any) -> RuleError:
    assert node.op is not None
    return RuleError(
        f"the gradient rule of {node.op.name!r} returned dtype {given} for argument {index}, which has dtype {dtype}.\n"
        f"{node.location.show()}\n  fix: return gradient.astype({str(dtype)!r})"
    )


def wrong_hook_shape(node: Node, given: Shape) -> RuleError:
    return RuleError(
        f"a hook returned a gradient of shape {given} for a tensor of shape {node.shape}.\n{node.location.show()}\n"
        f"  fix: return None to leave the gradient as it is, or a gradient of shape {node.shape}"
    )


def nan_made(node: Node) -> str:
    assert node.op is not None
    return (
        f"the gradient became NaN in the rule of {node.op.name!r}: zero times an infinite slope, or inf - inf.\n"
        f"{node.location.show()}\n"
        f"  this happens where gt.where does not take a branch whose slope is infinite\n"
        f"  fix: keep its argument away from there, too: gt.where(ok, f(gt.where(ok, x, 1.0)), other)"
    )


# -- backward


def freed_twice(node: Node, first: Location) -> TapeError:
    assert node.op is not None
    return TapeError(
        f"this graph was freed by an earlier backward.\n"
        f"  first walked and freed by\n{first.show()}\n"
        f"  walked again by\n{_here()}\n"
        f"  shared by both: the result of {node.op.name!r}, made at\n{node.location.show()}\n"
        f"  fix: if the shared part was made outside the loop, make it inside (or .detach() it);\n"
        f"       to walk the same graph again, pass retain_graph=True to the first call"
    )


def nothing_requires_grad(what: str, shape: Shape, where: Location, reason: str) -> UntrackedError:
    return UntrackedError(
        f"{what}: nothing that this tensor (shape {shape}) was computed from requires a gradient.\n{where.show()}\n"
        f"  {reason}\n"
        f"  fix: gt.tensor(data, requires_grad=True) for what you want the gradient of, and compute from it"
    )


def many_elements(what: str, shape: Shape, size: int, made: Location) -> ShapeError:
    return ShapeError(
        f"{what} on a tensor of shape {shape} ({size} elements), made at\n{made.show()}\n"
        f"  a gradient is created implicitly for one element only; of several, say which weight each has:\n"
        f"  fix: .mean() or .sum() before, or\n"
        f"       .backward(gradient) with a gradient of shape {shape} (ones give the gradient of the sum), or\n"
        f"       gt.jacobian for the derivative of every element"
    )


def unused_input(index: int, shape: Shape, where: Location, reason: str) -> UntrackedError:
    return UntrackedError(
        f"inputs[{index}] (shape {shape}) was not used to compute the outputs.\n{where.show()}\n  {reason}\n"
        f"  fix: leave it out of inputs, or pass allow_unused=True to get None for it"
    )


def input_without_grad(value: Any) -> OperandError:
    kind = f"a tensor of shape {value.shape}" if hasattr(value, "_node") else f"a {type(value).__name__}"
    return OperandError(
        f"inputs: {kind} does not require a gradient.\n{_here()}\n"
        f"  fix: make it with gt.tensor(data, requires_grad=True)"
    )


def no_gradient_will_arrive(what: str) -> UntrackedError:
    return UntrackedError(
        f"{what} on a tensor that is not tracked: no gradient will arrive at it.\n{_here()}\n"
        f"  fix: gt.tensor(data, requires_grad=True), or tape.watch(x), before"
    )


# -- forward mode


def primal_not_tensor(primal: Any) -> OperandError:
    return OperandError(
        f"ForwardAccumulator: primals are tensors; got a {type(primal).__name__}.\n{_here()}\n"
        f"  fix: x = gt.tensor(x) before, and compute with that x"
    )


def wrong_tangent_shape(given: Shape, shape: Shape) -> ShapeError:
    return ShapeError(
        f"a tangent of shape {given} for a primal of shape {shape}.\n{_here()}\n"
        f"  fix: a direction has the shape of what moves: {shape}"
    )


# -- structures


def different_structures(name: str, other_name: str, path: str, kind: str, other_kind: str) -> StructureError:
    return StructureError(
        f"{name} and {other_name} have different structures{f' at {path}' if path else ''}: "
        f"{kind} against {other_kind}.\n{_here()}\n"
        f"  fix: give {other_name} the same nesting, lengths and keys as {name}"
    )


# -- transforms


def wrong_argnums(argnums: Any, name: str, count: int) -> OperandError:
    return OperandError(
        f"argnums={argnums!r}: {name} was called with {count} positional argument{'s' * (count != 1)}.\n{_here()}\n"
        f"  fix: pass what is differentiated by position, and give argnums from 0 to {max(count - 1, 0)}"
    )


def not_a_pair(name: str, result: Any) -> OperandError:
    return OperandError(
        f"has_aux=True: {name} must return a pair (value, aux); it returned a {type(result).__name__}.\n{_here()}\n"
        f"  fix: return value, aux; or leave has_aux out"
    )


def returned_none(name: str) -> OperandError:
    return OperandError(
        f"{name} returned None; there is nothing to differentiate.\n{_here()}\n  fix: is a return statement missing?"
    )


def returned_no_number(name: str, output: Any) -> OperandError:
    return OperandError(
        f"{name} must return one number; it returned a {type(output).__name__}.\n{_here()}\n"
        f"  fix: return the number that is to be differentiated; other results with has_aux=True"
    )


def returned_many(name: str, output: Any) -> ShapeError:
    node = getattr(output, "_node", None)
    made = _here() if node is None else node.location.show()
    return ShapeError(
        f"{name} returned shape {output.shape} ({output.size} elements); a gradient is of one number.\n{made}\n"
        f"  fix: .mean() or .sum() before returning, gt.vjp to weigh the elements, or gt.jacobian for all of them"
    )


def not_tuples(primals: Any, tangents: Any) -> OperandError:
    return OperandError(
        f"jvp: primals and tangents are tuples with one entry for each argument; got a {type(primals).__name__} and "
        f"a {type(tangents).__name__}.\n{_here()}\n  fix: gt.jvp(f, (x,), (v,))"
    )


# -- vmap


def differs_between_examples(size: int) -> ShapeError:
    return ShapeError(
        f"out_axes=None for a result that differs between the {size} examples.\n{_here()}\n"
        f"  fix: give it an axis, out_axes=0"
    )


def wrong_axes(what: str, axes: Any, count: int | None) -> OperandError:
    return OperandError(
        f"{what}={axes!r} does not match the structure it describes: "
        f"{'one value' if count is None else f'{count} entries'} here.\n{_here()}\n"
        f"  fix: one integer for all, or a tuple with an entry (an integer or None) for each"
    )


def no_axis_to_map(index: int, shape: Shape, axis: int) -> ShapeError:
    return ShapeError(
        f"vmap: argument {index} has shape {shape}, which has no axis {axis} to run over.\n{_here()}\n"
        f"  fix: in_axes=None for arguments that are the same for all examples"
    )


def nothing_to_map() -> OperandError:
    return OperandError(f"vmap: in_axes is None for every argument.\n{_here()}\n  fix: give one of them an axis")


def different_batches(arguments: Sequence[tuple[int, Shape, int, int]]) -> ShapeError:
    rows = "\n".join(
        f"    argument {index}: shape {shape}, {count} examples along axis {axis}"
        for index, shape, axis, count in arguments
    )
    return ShapeError(
        f"vmap: arguments with different numbers of examples.\n{_here()}\n{rows}\n"
        f"  fix: in_axes=None for those that are the same for all examples"
    )
