"""The surface for packages that are built on the engine: the chapters of gradtape itself, the stand-ins, and yours.

A package on top of gradtape imports `gradtape`, its public chapters (`gradtape.nn`, `gradtape.errors`, ...) and this
module, and touches no attribute of a tensor that begins with an underscore. The names below change only with an entry
in the changelog; everything else behind them (`gradtape.core`, `gradtape.explain`, ...) may change at any time.

An operation is a NumPy kernel and its derivative. Both modes, second derivatives and `vmap` follow from it, and `jit`
compiles it as one instruction:

>>> import numpy as np
>>> import gradtape as gt
>>> from gradtape.extend import argument_error, as_value, elementwise
>>> _cosh_power = elementwise(lambda x, y: np.cosh(x) ** y, lambda x, y, out: y * np.tanh(x) * out, None)
>>> def cosh_power(x, power):
...     if power < 0:
...         raise argument_error(gt.OperandError, f"cosh_power: power={power!r} is negative.", "power=2.0")
...     return _cosh_power(as_value(x), power)
>>> gt.grad(lambda x: cosh_power(x, 2.0).sum())(np.array([0.0, 1.0])).round(4)
array([0.    , 3.6269])

docs/extending.md shows more: containers, operations with several results, explanations.

Tensors and their arrays

Tensor, Variable, tensor      `Tensor(array, node)` is a tensor with this very array at a node; `tensor` copies
array_of(x)                   the array of a tensor itself; not for tensors of an interpreter (`Lifted`)
node_of(x)                    the node of a tensor
tensor_at(value, node)        an array, or a tensor of an interpreter, or a tuple of them, as tensors at a node
concrete(x)                   the numbers of a tensor as an array; leaves no trace on a tape
plain(value)                  the same, and anything that is no tensor as it is
leave_tape(x, how)            the numbers of a tensor, and a note of where and how they left the tape, for explanations
off_tape(value)               the array of a tensor, or the same tensor of an interpreter on no tape
numbers_if_known(value)       the numbers behind a value; of a batch those of all examples; None while `jit` traces
write_result_into(out, f, x)  out, with what f(x) returns written into it
as_value(x)                   tensors as they are, the rest as arrays of numbers; refuses arrays of objects
hand_out(value, as_numpy, seen)  a result for the user: no memory of the graph's, plain NumPy if that is what came in
is_tracked(x)                 whether an operation on a tensor would be recorded now
is_recorded(value)            the same for any value, and for what a tensor of a batch holds
is_number(x)                  whether a tensor is a number, as an element of an array is, and no array without axes
is_followed(value)            whether a value is recorded, or stands for one example of a batch or for a trace
check_differentiable(dtype, what, shape)  raises unless numbers of this dtype have derivatives
override_write(function)      have `function(tensor, new, how)` do what writing to a tensor in place does
override_rebinding(decide)    have `decide()` say whether `array += tensor` makes the name a tensor
plain_array_types             subclasses of `numpy.ndarray` that are taken for the numbers that they hold
foreign_operators             for classes of other libraries, what stands for the operators of a tensor and an instance
defer_operators(function)     have a function of another library that converts operands hand operations back to tensors
hide_frame(function)          have operations count as called by the caller of a function that only hands calls on
operates_in_place(frame), writes_element(frame)  whether a frame is about to compute `x += y`, or to store `x[i] = y`

The graph

Node                          one recorded operation, or a leaf: `op`, `parents`, `inputs`, `out`, `bits`, `location`
AMBIENT, FLAGS                the bit of the graph behind `.backward()`; the bits below those of the tapes
READ, ADDED                   what has become of an accumulated gradient: `node.extra.use`
saved_inputs(node)            what a node has saved of its inputs
walk(seeds, mask, ...)        the backward pass from nodes with their cotangents; the gradients of the sources
push_tangents(nodes, ...)     the forward pass: the tangents of nodes, from those of sources
for_each_row(function, rows, widest)  a function of a batch of rows, in chunks that fit into memory
backward_of, gradients_of     `.backward()` and `gt.gradients` of several targets
last_backward                 a context variable: where `.backward()` was called last
release_saved(nodes, freed)   free what nodes have saved, as `.backward()` does
keeps_saved_values()          whether saved values are kept until what came of them has been checked
check_seed(seed, target, what)  a cotangent of a target: ones for None; raises if the shape does not fit
unbroadcast(gradient, shape)  the sum over the axes along which an array of `shape` was stretched
nodes_behind(output, bit)     the recorded nodes from the sources of a tape to an output, parents first
next_order()                  the order number of what is recorded next: nodes with smaller ones were there before
nodes_before_run(targets, start, mask)  the nodes from before an order number that these results were computed from
can_push(nodes)               whether all these operations have a forward rule
note_parameter_change(extra)  before a parameter changes: warns if its gradient contains that of an earlier step
note_missing_gradients(...)   warns of a step of an optimiser none of whose parameters has a gradient

Recording

current_recording()           which tapes record now: an immutable state with `.bits`, `.without(tape)`, ...
may_record()                  whether what is computed now may come to depend on a value that is followed
bind_state(function)          a function that runs again later, with what it reads besides its arguments as it is now
running_now(function)         have such a function run on the present state in a block: for the first time
use_recording(state)          such a state for the length of a `with` block
TapeType                      the metaclass of tapes
is_tracing(values)            whether `jit` traces a program that values belong to, and not a batch of one
Attempts                      a loop of steps that may be rejected: its condition, a step, and what it begins with
trace_attempts(attempts, rows)  such a loop as one loop of that program, or None
scan_in_trace(f, init, xs, recompute)  `gt.scan` as one loop of that program, or None
trace_callback(title, function, samples)  a function that a solver calls, as a program on numbers
is_in_callback()              whether such a function, or the body of a loop, is being traced now
pull_callback(function, x, read, cotangent)  the cotangents of the tensors that such a function reads
number_in_trace(value)        the number that a value has in the call that is traced, without a guard
set_tangent(accumulator, x, tangent)  have a `gt.ForwardAccumulator` push this tangent along from a tensor
record_call(function, args, kwargs, numbers)  run a function with the arguments of these numbers on a tape of its own
RecordedCall                  what it returns: `result`, `sources`, `pull_back`, `push`
check_argnums(what, argnums)  raise unless these are numbers of arguments
choose_arguments(function, args, argnums)  the numbers of the chosen arguments, and whether it is a single one
as_scalar(output, name)       what a function returned, if it is one number; raises if not

Operations

elementwise, linear, multilinear, general, constant  declare an operation; see docs/adding-an-operation.md
Op                            one operation: kernel, rules and batching rule
apply(op, inputs, params)     run an operation and record it where a tape is on
Lifted                        the class of tensors that belong to an interpreter: `vmap`, `jit`
BatchTensor                   the one of `vmap`: `.value` holds all examples
batch_elementwise             the batching rule of elementwise operations
repeat_for_batch(value, size) a value that is the same for all examples, as a batch
one_axis(axis, ndim)          an axis as a non-negative integer
as_shape(shape)               a shape as a tuple: of one length, or of a sequence of them
integers_for_axes(...)        an integer for each axis, from one for all or a sequence of them
padding_widths(...)           how much `padding=` of a convolution adds before and behind, along each axis
reduce_losses(name, losses, reduction)  losses as they are, their sum, or their mean

Nested structures

leaves, rebuild               the leaves of a structure; a structure like it with other leaves
children                      the parts of a container; None for a leaf
aligned                       the leaves of a structure in the order of another's; raises where the two part
map_structure                 a function of each leaf
unshared(value)               a value that does not change if what it was is written to
named_leaves, leaf_paths      the leaves with names for messages; the names as they are written in Python
lists_as_arrays               a structure in which lists of numbers are arrays

Locations

Location                      a place in the user's code: `Location.here()`, `.show()`, `.line`
user_frame(depth)             the innermost frame that is the user's
register_own_package(name, folder)  have messages and jit treat an import package as gradtape's own code
register_parameter_container(kind, parts)  have reports name parameters by their paths in instances of a class
observe_training_step(loss, before, after)  tell reports of a step of a training loop, with parameters by name
is_library(filename)          whether a file is of a library, so that messages name the line that called it
definition_of(function), function_name(function)  where a function is defined, and the name that it goes by
span_of(location, label)      the range of source of a location, for a `Problem`
returned_span(code, label)    the expression that a function returns

Errors and explanations

argument_error(kind, what, fix)  the error for an argument that cannot be taken, at the user's line
solver_error(kind, what, fix, code)  the same for solvers, where the code may be chosen
WRONG_VALUE                   the code of an argument whose value makes no sense
messages                      the errors of the engine: one function for each situation, which returns the error
problem(code, title, ...)     a `Problem` at the user's line; the classes of `gradtape.errors` take one
Problem, Fix, Span            what an error or a warning says, as data: an edit of it, a place in the source
problem_from_text(text, kind) the problem that a text of the form "title, place, notes, fix" describes
report(problem)               raise, warn once per place, or keep a note, by the severity of the code
notify(problem)               hand a problem to the listeners only
configure(GT401="note")       the severity of codes, for a block
withhold(*codes)              collect problems of these codes instead of reporting them
collect_reports()             collect all that is no error, for another process to report
allow_nonfinite_trial()       a block in which NaN is only a note, as a line search recovers from it
feature_count_fixes(x, wanted)  edits after which an input has as many features as a layer takes
respell(text, imports)        advice in the names of the library that a file imports

Rules of the user's (`custom_vjp` and the like, as data)

CustomRule                    the rule of one call, in flat form: `run`, and `pull` or `push`
RuleCall, ResultForm, KeptValues  the call; what it returned without the arrays; what is kept for the derivative
FunctionRule, BatchedRule     the rule of a function of arguments; one for a whole batch
apply_rule(rule, arrays)      the result of the call, recorded as one operation
transpose_linear(linear, at, weights)  what the transpose of a linear function makes of `weights`
Arrays                        a list of arrays, or of tensors where something records
is_array(value)               whether a value can carry a derivative
split_arrays(tree, is_array)  the arrays of a structure, and the rest of it, which can be filled again
split_results(out)            the same for what a function returned, with shapes and dtypes

Solvers (implicit differentiation)

Packing                       how a structure of arrays is laid out in a vector
ValuePacking                  the values of a function as a vector, as long in every call
as_vector(value, name)        all numbers that a function returned, as a vector
describe_elements(guilty)     a few words for the elements that `Packing.guilty` found
call_outside(name, function, inputs)  run a function of plain arrays, whatever tensors the inputs are
ImplicitCondition             a function that is zero at the solution, for one set of arguments
closed_over_error(title)      the error for a function that reads tracked tensors which are not its arguments

jit

Compiled                      the class of compiled functions
JitWarning                    what is warned with where a function cannot be compiled
Untraceable                   raise it where a traced value cannot be handled: the call runs uncompiled then
Literal                       a Python object among the operands of an instruction

Files, processes, other libraries

write_atomically(path, content), PathLike  write a file completely or not at all
fork_safe(lock)               a lock that is free in a child process
cached_property               that of functools, with a lock that is free there, too
after_fork_in_child(function) have a function called in each child process
import_library(name, function)  another library, or an error that says how to install it
torch_to_array(x)             the numbers of a PyTorch tensor as an array of our own
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradtape.core.backprop import keep_saved as _keep_saved
from gradtape.core.backprop import release_saved, walk
from gradtape.core.backward import backward_of, gradients_of, last_backward
from gradtape.core.batch import BatchTensor, batch_elementwise, for_each_row, repeat_for_batch
from gradtape.core.explain_hooks import register_parameter_container
from gradtape.core.explain_hooks import step_observers as _step_observers
from gradtape.core.forward import push_tangents
from gradtape.core.graph import ADDED, AMBIENT, FLAGS, READ, Node, next_order
from gradtape.core.graph import with_numbers as _with_numbers
from gradtape.core.location import Location, is_library, register_own_package, user_frame
from gradtape.core.location import hidden_frames as _hidden_frames
from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.operation import attach as tensor_at
from gradtape.core.pytree import aligned, children, leaves, map_structure, named_leaves, rebuild
from gradtape.core.recording import Recorder as _Recorder
from gradtape.core.recording import current as current_recording
from gradtape.core.recording import during as use_recording
from gradtape.core.recording import may_record
from gradtape.core.rules import constant, elementwise, general, linear, multilinear
from gradtape.core.saved_arrays import LockedArray as _LockedArray
from gradtape.core.shapes import unbroadcast
from gradtape.core.tape import TapeType, check_seed
from gradtape.core.tensor import Tensor, Variable, check_differentiable, is_number, is_tracked, plain, tensor
from gradtape.core.tensor import deferring as _deferring
from gradtape.core.tensor import watch_node as _watch_node
from gradtape.explain import messages
from gradtape.forking import after_fork_in_child, cached_property, fork_safe
from gradtape.numpy_dispatch import protocols as _protocols
from gradtape.numpy_dispatch.protocols import foreign_operators, plain_array_types
from gradtape.ops.arguments import argument_error, as_shape, as_value, one_axis, write_result_into
from gradtape.ops.indexed_update import operates_in_place, writes_element
from gradtape.transforms.gradients import (
    RecordedCall,
    as_scalar,
    check_argnums,
    choose_arguments,
    hand_out,
    record_call,
)

if TYPE_CHECKING:
    from gradtape.atomic_write import PathLike, write_atomically
    from gradtape.core.kept_state import bind_state, running_now
    from gradtape.core.unshared import unshared
    from gradtape.errors import JitWarning
    from gradtape.explain.detectors.accumulated_grad import note_missing_gradients
    from gradtape.explain.emit.listeners import notify
    from gradtape.explain.emit.policy import report
    from gradtape.explain.emit.severity import configure
    from gradtape.explain.emit.withhold import collect_reports, withhold
    from gradtape.explain.fixes.reshape_edits import feature_count_fixes
    from gradtape.explain.kernel.accumulated_grad import note_parameter_change
    from gradtape.explain.kernel.check_numerics import allow_nonfinite_trial
    from gradtape.explain.messages.build import problem
    from gradtape.explain.messages.from_text import problem_from_text
    from gradtape.explain.model.problem import Fix, Problem, Span
    from gradtape.explain.render.spelling import respell
    from gradtape.explain.source.files import returned_span, span_of
    from gradtape.jit.api import Compiled
    from gradtape.jit.callbacks import is_in_callback, pull_callback, trace_callback
    from gradtape.jit.errors import Untraceable
    from gradtape.jit.ir.program import Literal
    from gradtape.loops.scan import scan_in_trace
    from gradtape.loops.while_loop import Attempts, is_tracing, number_in_trace, trace_attempts
    from gradtape.numpy_dispatch.interchange import import_library, torch_to_array
    from gradtape.ops.convolution import integers_for_axes, padding_widths
    from gradtape.ops.cross_entropy import reduce_losses
    from gradtape.transforms.custom.arrays import Arrays, is_array, is_recorded, split_arrays
    from gradtape.transforms.custom.errors import RuleCall, definition_of, function_name
    from gradtape.transforms.custom.frontier import nodes_before_run
    from gradtape.transforms.custom.functions import FunctionRule, split_results
    from gradtape.transforms.custom.rules import (
        BatchedRule,
        CustomRule,
        KeptValues,
        ResultForm,
        apply_rule,
        transpose_linear,
    )
    from gradtape.transforms.implicit.outside_tape import call_outside, is_followed, numbers_if_known, off_tape
    from gradtape.transforms.implicit.packing import (
        Packing,
        ValuePacking,
        as_vector,
        describe_elements,
        leaf_paths,
        lists_as_arrays,
    )
    from gradtape.transforms.implicit.refusal import WRONG_VALUE, solver_error
    from gradtape.transforms.implicit.theorem import ImplicitCondition, closed_over_error
    from gradtape.transforms.sparse.pattern import can_push, nodes_behind

_LATER = {
    "gradtape.atomic_write": "PathLike write_atomically",
    "gradtape.explain.detectors.accumulated_grad": "note_missing_gradients",
    "gradtape.explain.kernel.accumulated_grad": "note_parameter_change",
    "gradtape.explain.kernel.check_numerics": "allow_nonfinite_trial",
    "gradtape.explain.emit.listeners": "notify",
    "gradtape.explain.emit.policy": "report",
    "gradtape.explain.emit.severity": "configure",
    "gradtape.explain.emit.withhold": "collect_reports withhold",
    "gradtape.explain.fixes.reshape_edits": "feature_count_fixes",
    "gradtape.explain.messages.build": "problem",
    "gradtape.explain.messages.from_text": "problem_from_text",
    "gradtape.explain.model.problem": "Fix Problem Span",
    "gradtape.explain.render.spelling": "respell",
    "gradtape.explain.source.files": "returned_span span_of",
    "gradtape.jit.api": "Compiled",
    "gradtape.core.kept_state": "bind_state running_now",
    "gradtape.core.unshared": "unshared",
    "gradtape.errors": "JitWarning",
    "gradtape.jit.errors": "Untraceable",
    "gradtape.jit.ir.program": "Literal",
    "gradtape.jit.callbacks": "is_in_callback pull_callback trace_callback",
    "gradtape.loops.scan": "scan_in_trace",
    "gradtape.loops.while_loop": "Attempts is_tracing number_in_trace trace_attempts",
    "gradtape.numpy_dispatch.interchange": "import_library torch_to_array",
    "gradtape.ops.convolution": "integers_for_axes padding_widths",
    "gradtape.ops.cross_entropy": "reduce_losses",
    "gradtape.transforms.custom.arrays": "Arrays is_array is_recorded split_arrays",
    "gradtape.transforms.custom.errors": "RuleCall definition_of function_name",
    "gradtape.transforms.custom.frontier": "nodes_before_run",
    "gradtape.transforms.custom.functions": "FunctionRule split_results",
    "gradtape.transforms.custom.rules": "BatchedRule ResultForm KeptValues CustomRule apply_rule transpose_linear",
    "gradtape.transforms.implicit.outside_tape": "numbers_if_known is_followed off_tape call_outside",
    "gradtape.transforms.implicit.packing": "Packing ValuePacking leaf_paths describe_elements "
    "as_vector lists_as_arrays",
    "gradtape.transforms.implicit.refusal": "WRONG_VALUE solver_error",
    "gradtape.transforms.implicit.theorem": "ImplicitCondition closed_over_error",
    "gradtape.transforms.sparse.pattern": "can_push nodes_behind",
}
"""Modules that are imported when one of these names is first used."""

_HOMES = {name: module for module, names in _LATER.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A name of `_LATER`, kept here from then on."""
    if name not in _HOMES:
        raise AttributeError(f"gradtape.extend has no name {name!r}; all names are in gradtape.extend.__all__")
    globals()[name] = value = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


keeps_saved_values: Callable[[], bool] = _keep_saved.get
"""Whether saved values are kept even where they are large, until what came of them has been checked."""


def observe_training_step(loss: float, before: Any, after: Any) -> None:
    """Tell the reports that are being collected of a step of a training loop: parameters before and after, by name.

    Parameters are nested structures of arrays. Nothing is done where no report is collected.

    >>> observe_training_step(0.5, {"w": 1.0}, {"w": 0.9})
    """
    if _step_observers:
        names = [name[1:-1].replace("][", ".").replace("'", "") for name, _ in named_leaves(before, "")]
        values = [[x._array if isinstance(x, Tensor) else x for x in leaves(tree)] for tree in (before, after)]
        for observer in tuple(_step_observers):
            observer(Location.here(), loss, names, *values)


def defer_operators(function: Callable[..., Any]) -> None:
    """Have a function of another library hand an operation back when it converts an operand that is a tensor.

    NumPy gives it an array of one object then, at the sight of which it is known to return `NotImplemented`.
    """
    _deferring.add(function.__code__)


def hide_frame(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have operations that a function calls count as called by its caller; for functions that only hand calls on."""
    _hidden_frames.add(function.__code__)
    return function


def array_of(x: Any) -> Any:
    """The array of a tensor itself, which is not to be written to.

    >>> import gradtape as gt
    >>> from gradtape.extend import array_of
    >>> array_of(gt.tensor([1.0, 2.0]) * 2.0)
    array([2., 4.])
    """
    return _with_numbers(x._array)


def node_of(x: Any) -> Node:
    """The node of a tensor.

    >>> import gradtape as gt
    >>> from gradtape.extend import node_of
    >>> node_of(gt.tensor([1.0, 2.0], requires_grad=True) * 2.0).op
    <operation multiply>
    """
    node: Node = x._node
    return node


def concrete(x: Any) -> Any:
    """The numbers of a tensor as an array, which is not to be written to.

    In `vmap`, where one example has no numbers of its own, this is an explained error; in `jit`, it adds a guard,
    because the program depends on the numbers from then on.

    >>> import gradtape as gt
    >>> from gradtape.extend import concrete
    >>> concrete(gt.tensor(2.0))
    array(2.)
    """
    return x._concrete()


def leave_tape(x: Tensor, how: str) -> Any:
    """The numbers of a tensor on their way off the tape: explanations name `how` and the line.

    >>> import gradtape as gt
    >>> from gradtape.extend import leave_tape
    >>> leave_tape(gt.tensor([1.0, 2.0]), "my_export()")
    array([1., 2.])
    """
    return x._leave(how)


def saved_inputs(node: Node) -> list[Any]:
    """What a node has saved of its inputs: arrays, and None for what no rule needs.

    >>> import gradtape as gt
    >>> from gradtape.extend import node_of, saved_inputs
    >>> x = gt.tensor([1.0, 2.0], requires_grad=True)
    >>> saved_inputs(node_of(x * 3.0))
    [None, array(3.)]
    """
    return [item.array if type(item) is _LockedArray else item for item in node.inputs]


def set_tangent(accumulator: _Recorder, x: Tensor, tangent: Any) -> None:
    """Have a `gt.ForwardAccumulator` push `tangent`, of the shape of `x`, along from `x`.

    >>> import gradtape as gt
    >>> from gradtape.extend import set_tangent
    >>> with gt.ForwardAccumulator([], []) as accumulator:
    ...     x = gt.tensor(3.0)
    ...     set_tangent(accumulator, x, gt.tensor(1.0))
    ...     y = x**2
    >>> accumulator.jvp(y)
    Tensor(6.)
    """
    node = _watch_node(x)
    node.bits |= accumulator.bit
    node.extras().tangents[accumulator.bit] = tangent
    accumulator._watched[node] = None


def override_write(function: Callable[[Any, Any, str], Any]) -> Callable[[Any, Any, str], Any]:
    """Have `function(tensor, new, how)` called for every write in place (`x += y`); what was called so far.

    The statement rebinds its name to what the function returns.
    """
    previous = Tensor._replace
    setattr(Tensor, "_replace", function)  # noqa: B010  (type checkers take no assignment to a method)
    return previous


def override_rebinding(decide: Callable[[], bool]) -> None:
    """Have `decide()` say whether `array += tensor`, in the present statement, gives the name a tensor."""
    _protocols.rebinds = decide


__all__ = [
    "ADDED",
    "AMBIENT",
    "FLAGS",
    "READ",
    "WRONG_VALUE",
    "Arrays",
    "Attempts",
    "BatchTensor",
    "BatchedRule",
    "Compiled",
    "CustomRule",
    "Fix",
    "FunctionRule",
    "ImplicitCondition",
    "JitWarning",
    "KeptValues",
    "Lifted",
    "Literal",
    "Location",
    "Node",
    "Op",
    "Packing",
    "PathLike",
    "Problem",
    "RecordedCall",
    "ResultForm",
    "RuleCall",
    "Span",
    "TapeType",
    "Tensor",
    "Untraceable",
    "ValuePacking",
    "Variable",
    "after_fork_in_child",
    "aligned",
    "allow_nonfinite_trial",
    "apply",
    "apply_rule",
    "argument_error",
    "array_of",
    "as_scalar",
    "as_shape",
    "as_value",
    "as_vector",
    "backward_of",
    "batch_elementwise",
    "bind_state",
    "cached_property",
    "call_outside",
    "can_push",
    "check_argnums",
    "check_differentiable",
    "check_seed",
    "children",
    "choose_arguments",
    "closed_over_error",
    "collect_reports",
    "concrete",
    "configure",
    "constant",
    "current_recording",
    "defer_operators",
    "definition_of",
    "describe_elements",
    "elementwise",
    "feature_count_fixes",
    "for_each_row",
    "foreign_operators",
    "fork_safe",
    "function_name",
    "general",
    "gradients_of",
    "hand_out",
    "hide_frame",
    "import_library",
    "integers_for_axes",
    "is_array",
    "is_followed",
    "is_in_callback",
    "is_library",
    "is_number",
    "is_recorded",
    "is_tracing",
    "is_tracked",
    "keeps_saved_values",
    "last_backward",
    "leaf_paths",
    "leave_tape",
    "leaves",
    "linear",
    "lists_as_arrays",
    "map_structure",
    "may_record",
    "messages",
    "multilinear",
    "named_leaves",
    "next_order",
    "node_of",
    "nodes_before_run",
    "nodes_behind",
    "note_missing_gradients",
    "note_parameter_change",
    "notify",
    "number_in_trace",
    "numbers_if_known",
    "observe_training_step",
    "off_tape",
    "one_axis",
    "operates_in_place",
    "override_rebinding",
    "override_write",
    "padding_widths",
    "plain",
    "plain_array_types",
    "problem",
    "problem_from_text",
    "pull_callback",
    "push_tangents",
    "rebuild",
    "record_call",
    "reduce_losses",
    "register_own_package",
    "register_parameter_container",
    "release_saved",
    "repeat_for_batch",
    "report",
    "respell",
    "returned_span",
    "running_now",
    "saved_inputs",
    "scan_in_trace",
    "set_tangent",
    "solver_error",
    "span_of",
    "split_arrays",
    "split_results",
    "tensor",
    "tensor_at",
    "torch_to_array",
    "trace_attempts",
    "trace_callback",
    "transpose_linear",
    "unbroadcast",
    "unshared",
    "use_recording",
    "user_frame",
    "walk",
    "withhold",
    "write_atomically",
    "write_result_into",
    "writes_element",
]
