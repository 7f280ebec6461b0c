"""The table of codes: title, default severity, error and warning class, and a summary of each."""

from __future__ import annotations

from dataclasses import dataclass

from gradtape import errors
from gradtape.errors import (
    BroadcastWarning,
    GradientWarning,
    GradTapeError,
    JitWarning,
    NumericsError,
    NumericsWarning,
)

SEVERITIES = ("raise", "warn", "note", "off")


@dataclass(frozen=True)
class Code:
    """One row of the table. `severity` is the default; "raise" is an error that nothing can go on after, and is fixed.

    >>> from gradtape.explain.model.codes import CODES
    >>> CODES["GT110"].title, CODES["GT110"].error.__name__
    ('shapes do not fit', 'ShapeError')
    """

    code: str
    title: str
    severity: str
    error: type[GradTapeError]
    warning: type[GradientWarning | JitWarning]
    summary: str

    @property
    def is_fixed(self) -> bool:
        """Whether this is always an error, so that no other severity can be chosen."""
        return self.severity == "raise"


CODES: dict[str, Code] = {}


def _add_error(code: str, title: str, error: type[GradTapeError], summary: str) -> None:
    CODES[code] = Code(code, title, "raise", error, GradientWarning, summary)


def _add(
    code: str,
    title: str,
    severity: str,
    summary: str,
    error: type[GradTapeError] = GradTapeError,
    warning: type[GradientWarning | JitWarning] = GradientWarning,
) -> None:
    CODES[code] = Code(code, title, severity, error, warning, summary)


# -- 1xx: shapes

_add(
    "GT101",
    "accidental outer broadcast",
    "warn",
    "A column against a row: (n, 1) and (n,) are stretched to (n, n), so that every element of one meets every element "
    "of the other. The loss is a plausible number and its gradient has the right shape, but the wrong value.",
    errors.ShapeError,
    BroadcastWarning,
)
_add(
    "GT102",
    "one-sided residual",
    "warn",
    "A prediction is stretched along an axis of length 1 by the target it is compared with, and the result is summed "
    "up: one prediction is compared with many targets, which is rarely what was meant.",
    errors.ShapeError,
    BroadcastWarning,
)
_add(
    "GT103",
    "reduced without keepdims",
    "warn",
    "The sum or mean of each row meets the columns of the square array it was taken of: x - x.mean(axis=1). It fits by "
    "its length only, and every element is centred or scaled by the number of another row.",
    errors.ShapeError,
    BroadcastWarning,
)
_add_error(
    "GT110",
    "shapes do not fit",
    errors.ShapeError,
    "An elementwise operation needs shapes that broadcast: aligned at the last axis, lengths are equal or one of them "
    "is 1. Here two lengths differ.",
)
_add_error(
    "GT111",
    "shapes do not fit in a matrix product or decomposition",
    errors.ShapeError,
    "A product sums over the last axis of the left operand and the last but one of the right, which must have the same "
    "length; decompositions and solvers want square matrices, or stacks of them.",
)
_add_error(
    "GT112",
    "einsum subscripts do not fit",
    errors.ShapeError,
    "Every operand has a letter for each axis, a letter stands for one length everywhere, and the result names letters "
    "that occur.",
)
_add_error(
    "GT113",
    "arrays that cannot be joined",
    errors.ShapeError,
    "`concatenate` joins along an axis that all have, the other lengths being equal; `stack` wants equal shapes and "
    "adds an axis.",
)
_add_error(
    "GT114",
    "reshaped to a different size",
    errors.ShapeError,
    "A reshape keeps all elements: the lengths of the new shape multiply to the number of elements. One of them may be "
    "-1, and is then computed.",
)
_add_error(
    "GT115",
    "an index that is not there",
    errors.IndexingError,
    "An index is out of range, there are more indices than axes, or an index is neither an integer nor a slice, None, "
    "an Ellipsis or an array of integers or booleans.",
)
_add_error(
    "GT116",
    "operands of a layer do not fit",
    errors.ShapeError,
    "Convolutions, poolings and normalisations give each axis a meaning (examples, channels, space); the number of "
    "channels of the data and of the kernel must agree.",
)
_add_error(
    "GT117",
    "an axis that is not there",
    errors.AxisError,
    "An array of n axes has the axes 0 to n - 1, or -n to -1 counted from the end, each of which may be named once.",
)
_add_error(
    "GT118",
    "labels and logits do not match",
    errors.ShapeError,
    "A classification loss takes logits with an axis of classes, and labels that are either class numbers without that "
    "axis or probabilities of the same shape.",
)

# -- 2xx: a gradient that is None

_add(
    "GT201",
    "every gradient asked for is None",
    "warn",
    "No path leads from the target back to any of the sources. The reason is one of GT202 to GT212 and is named; "
    '`unconnected_gradients="none"` or "zero" says that it was meant.',
    errors.UntrackedError,
)
_CAUSES = {
    "GT202": ("never used", "The target was not computed from the source, or from what the source's name stands for."),
    "GT203": (
        "used but not watched",
        "The target was computed from the source, but the tape was not told to watch it: it counts as a constant.",
    ),
    "GT204": (
        "watched too late",
        "The source was watched, or required a gradient, only after the target had been computed from it.",
    ),
    "GT205": (
        "the name was bound to a new tensor",
        "`x = x + 1` makes a new tensor with the old name. The target was computed from the other one.",
    ),
    "GT206": (
        "assigned",
        "The value went into a variable by `assign`. Gradients do not flow through an assignment.",
    ),
    "GT207": (
        "integers have no gradient",
        "The value became an integer or boolean on the way, or the source is one. Only floating point numbers move in "
        "arbitrarily small steps.",
    ),
    "GT208": (
        "taken off the tape",
        "stop_gradient, detach, no_grad or stop_recording took the value off the tape, as it is meant to.",
    ),
    "GT209": (
        "an operation without a derivative",
        "argmax, round, sign, comparisons and the like are steps: their derivative is zero wherever there is one.",
    ),
    "GT211": (
        "recorded elsewhere",
        "The value was computed after the tape had closed, before it was opened, or on another tape.",
    ),
    "GT212": ("frozen", "The source is a variable with trainable=False, or the tape does not watch variables."),
}
for _code, (_title, _summary) in _CAUSES.items():
    _add(_code, _title, "warn", _summary, errors.UntrackedError)
_add(
    "GT210",
    "left as a number and came back",
    "warn",
    "A value left the tape as a plain number or array (float(x), math.exp(x), array[0] = x) and entered the "
    "computation again, as a constant. The gradient through it is lost.",
    errors.DetachError,
)
CODES = dict(sorted(CODES.items()))

# -- 3xx: used in a way that cannot work

_add_error(
    "GT301",
    "a seed that does not fit",
    errors.ShapeError,
    "A seed (output_gradients, the gradient given to backward, a cotangent, a tangent) weighs every element of what it "
    "belongs to, so it has its shape and its kind of number. It is not stretched.",
)
_add_error(
    "GT302",
    "a rule returned the wrong shape",
    errors.RuleError,
    "A gradient has the shape of what it is the gradient of. A custom rule or a hook returned another, which elsewhere "
    "would surface later, in an innocent reshape.",
)
_add_error(
    "GT303",
    "a rule returned the wrong dtype",
    errors.RuleError,
    "A gradient has the dtype of what it is the gradient of, so that float32 stays float32 all the way.",
)
_add_error(
    "GT304",
    "a rule returned the wrong number of gradients",
    errors.RuleError,
    "A rule returns one gradient (or None) for each argument that can have one, in the structure of the arguments.",
)
_add_error(
    "GT305",
    "the target was never recorded",
    errors.UntrackedError,
    "A gradient was asked of something that no tape recorded: a number, an array, or a tensor that was computed from "
    "constants only.",
)
_add_error(
    "GT306",
    "structures do not match",
    errors.StructureError,
    "Nested lists, tuples and dicts that belong together must have the same nesting, lengths and keys.",
)
_add_error(
    "GT307",
    "a gradient of many elements",
    errors.ShapeError,
    "A gradient is of one number. Of a tensor with many, say which is meant: their mean or sum, a weight for each, or "
    "the Jacobian.",
)
_add_error(
    "GT308",
    "asked a second time",
    errors.TapeError,
    "A tape that is not persistent, and a graph without retain_graph, are freed by the first gradient that is taken.",
)
_add_error(
    "GT309",
    "changed in place",
    errors.MutationError,
    "An array that a gradient rule needs was written to, or a tensor was that others are a view of.",
)
_add_error(
    "GT310",
    "an integer source",
    errors.DtypeError,
    "Only real and complex floating point numbers have gradients.",
)
_add_error(
    "GT311",
    "a function that returned no number",
    errors.OperandError,
    "The function to be differentiated returned None, text, or something else that has no derivative.",
)
_add_error(
    "GT312",
    "a gradient would be lost in silence",
    errors.DetachError,
    "NumPy was about to turn a tracked tensor into a plain array. `.numpy()`, `.item()`, `float()` and "
    "`gt.stop_gradient` say that this is meant.",
)
_add_error(
    "GT313",
    "a function without a rule",
    errors.UnsupportedError,
    "NumPy or SciPy has this function and gradtape has no gradient for it.",
)
_add_error(
    "GT314",
    "an argument is missing or of the wrong kind",
    errors.OperandError,
    "An argument has a value, a type or a number that the function does not take.",
)
_add_error(
    "GT315",
    "a tape used out of order",
    errors.TapeError,
    "A tape was entered while it was recording, or told to stop while it was not.",
)

_add_error(
    "GT316",
    "a file that cannot be used",
    GradTapeError,
    "A file of stored numbers is missing, cut off or damaged, is of another model, or cannot be written where it is "
    "wanted. Nothing was loaded: everything is as it was.",
)

_add(
    "GT317",
    "the real library was imported before its stand-in",
    "warn",
    "Modules that have imported TensorFlow, PyTorch or autograd keep the real one when the stand-in takes its name, so "
    "that a test-suite may test the real library, or both.",
)

_add(
    "GT320",
    "a rule that is not the derivative",
    "warn",
    "The gradient that a rule of the user's returns is not the derivative of the function that it belongs to, compared "
    "with finite differences.",
    errors.RuleError,
)

# -- 4xx: numbers

_NUMERIC = (NumericsError, NumericsWarning)
_add(
    "GT401",
    "NaN or infinity in the forward pass",
    "warn",
    "An operation turned finite numbers into NaN or infinity: a logarithm of zero, zero divided by zero, an overflow.",
    *_NUMERIC,
)
_add(
    "GT402",
    "NaN or infinity in the backward pass",
    "warn",
    "The values are finite, but the gradient is not: the slope is infinite at this point, or zero times infinity.",
    *_NUMERIC,
)
_add(
    "GT403",
    "NaN from the branch of where that was not taken",
    "warn",
    "`where` chooses values, but both branches are computed and differentiated. Where the branch not taken has an "
    "infinite slope behind a product of matrices, a cumulative sum and the like, zero times infinity is NaN.",
    *_NUMERIC,
)
_add(
    "GT404",
    "zero everywhere",
    "warn",
    "The gradient is connected and exactly zero: a step function, an underflow or a factor of zero is on the way.",
    *_NUMERIC,
)
_add_error(
    "GT405",
    "the derivative does not exist here",
    errors.LinearAlgebraError,
    "The function has a value at this point and no derivative: a singular matrix, equal eigenvalues, a norm at zero.",
)

_add(
    "GT406",
    "a solution that does not satisfy its condition",
    "warn",
    "A derivative by the implicit function theorem is that of the condition. Where the solution does not satisfy it, "
    "it is the derivative of something else.",
    *_NUMERIC,
)

# -- 5xx: silent mistakes and the health of training

_add(
    "GT501",
    "softmax over the wrong axis",
    "warn",
    "The axis that was normalised is not the one that the loss picks from or sums over.",
    errors.ShapeError,
)
_add("GT502", "reduced twice", "note", "A loss that was already a mean is averaged again, over another axis.")
_add("GT503", "saturated", "note", "Most units of a sigmoid or tanh are where the slope is next to zero.")
_add("GT504", "dead units", "note", "Units of a relu that are zero for every example, and so get no gradient.")
_add("GT505", "vanishing gradient", "note", "The gradient shrinks from operation to operation on its way back.")
_add("GT506", "exploding gradient", "note", "The gradient grows from operation to operation on its way back.")
_add("GT507", "a sum where a mean was", "note", "The size of the gradient depends on the number of examples.")
_add(
    "GT508",
    "a bias along an ambiguous axis",
    "note",
    "A vector is added to a square array: it would have fitted along the other axis as well.",
    errors.ShapeError,
    BroadcastWarning,
)
_add(
    "GT509",
    "a loss of what it does not take",
    "warn",
    "A loss that takes logits was given probabilities, so that softmax or sigmoid is applied twice; or one that takes "
    "logarithms of probabilities was given something else.",
    errors.OperandError,
)
_add(
    "GT510",
    "reshaped where axes were to be swapped",
    "note",
    "The new shape is the old one with its lengths in another order. A reshape keeps the order of the elements, which "
    "mixes rows; a transposition moves axes.",
    errors.ShapeError,
)
_add(
    "GT511",
    "gradients that were not cleared",
    "warn",
    "A gradient was used for a step and not cleared, another was added to it, and the next step uses the sum of both.",
    errors.TapeError,
)
_add(
    "GT512",
    "an optimiser without gradients",
    "warn",
    "A step was made although none of the optimiser's parameters has a gradient, and backward() was called: they are "
    "not what the loss was computed from.",
    errors.UntrackedError,
)
_add(
    "GT513",
    "parameters that no optimiser has",
    "warn",
    "Parameters get a gradient and no optimiser changes them: they are in a plain list, were made after the optimiser, "
    "are no parameters of the module, or were not given to it.",
    errors.UntrackedError,
)
_add(
    "GT514",
    "units that stay equal",
    "warn",
    "All units of a layer have the same weights and get the same gradient, so that they stay copies of each other.",
    *_NUMERIC,
)

# -- 6xx: beyond one process

_add_error(
    "GT601",
    "a loss that is no sum or mean of rows",
    errors.OperandError,
    "A gradient over chunks of rows is put together from those of the chunks, which is right for a sum or a mean over "
    "the rows only. Of this loss, the value of all rows is neither the sum nor the mean of the values of its parts.",
)
_add_error(
    "GT602",
    "a task that failed",
    GradTapeError,
    "Tasks of gt.distributed.map raised an error, or ended the processes that ran them. All others are done, and their "
    "results are kept.",
)
_add(
    "GT603",
    "statistics of a chunk",
    "note",
    "A layer normalises by statistics of its batch, and training over chunks of rows gives it one chunk at a time: the "
    "statistics are those of a chunk, not of all chunks of a step.",
)

# -- 7xx: compiled functions that are slow

_add(
    "GT701",
    "traced again and again",
    "warn",
    "A compiled function is traced for each new shape, dtype and Python number, and for each value that it looks at. "
    "Each trace takes its time to compile; where every call has one of its own, that is all the time there is.",
    warning=JitWarning,
)
_add(
    "GT702",
    "a NumPy kernel in each step of a loop",
    "warn",
    "A loop is native code, but one of its operations has no native form: each step goes back to Python for it.",
    warning=JitWarning,
)
_add(
    "GT703",
    "a whole array is copied in each step of a loop",
    "warn",
    "A step of a compiled loop writes to a part of an array whose old version is needed later, so that all of the "
    "array is copied first, in each step.",
    warning=JitWarning,
)
_add(
    "GT704",
    "not compiled",
    "warn",
    "A function given to jit runs as it is, because something in it cannot be the same in each call, or has no traced "
    "form. The answer is right, and no faster than without jit.",
    warning=JitWarning,
)
