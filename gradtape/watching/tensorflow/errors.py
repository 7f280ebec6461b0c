"""Explanations of the errors that TensorFlow and Keras raise. The error itself is never replaced: a note is added.

An operation that fails is explained where it fails, as its operands are known there. Keras makes a new error on the
way out, and TensorFlow shortens tracebacks: the explanation is found again by the words of the error.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from tensorflow.python.framework import errors_impl

from gradtape.core.location import is_library
from gradtape.errors import ShapeError
from gradtape.explain.detectors.shape_mismatch import axis_problem, explain_numpy_error, seed_shape_problem
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, Span, source_edit
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import SourceFile, one_line
from gradtape.watching.tensorflow import keras_shapes, program_errors
from gradtape.watching.tensorflow.keras_shapes import lengths_of, text_of
from gradtape.watching.tensorflow.merged_operations import constant_of
from gradtape.watching.tensorflow.operations import ELEMENTWISE_PAIRS, TABLE
from gradtape.watching.tensorflow.recorder import TensorFlowRecorder
from gradtape.watching.tensorflow.request_errors import examples_problem, source_problem, spent_problem, target_problem
from gradtape.watching.tensorflow.tapes import TapeWatch
from gradtape.watching.tensorflow.values import is_eager, is_symbolic

RECENT_AT_MOST = 16
WORDS_SHOWN = 160
_WORDS = 60  # how much of a message has to be found in that of another error

REDUCTIONS = ("Sum", "Mean", "Prod", "Max", "Min", "All", "Any", "EuclideanNorm")
_OPERANDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(ELEMENTWISE_PAIRS, ("x", "y")),
    "MatMul": ("a", "b"),
    "BatchMatMul": ("x", "y"),
    "BatchMatMulV2": ("x", "y"),
    "BatchMatMulV3": ("x", "y"),
    "BiasAdd": ("value", "bias"),
    **dict.fromkeys(REDUCTIONS, ("input", "axis")),
    "Reshape": ("tensor", "shape"),
    "ConcatV2": ("values", "axis"),
    "Pack": ("values", "axis"),
    "Einsum": ("inputs", "equation"),
    "BroadcastTo": ("input", "shape"),
    "SparseSoftmaxCrossEntropyWithLogits": ("features", "labels"),
    "SoftmaxCrossEntropyWithLogits": ("features", "labels"),
}
"""The parameters of TensorFlow's functions that are looked at when one has failed."""
FUNCTIONS = {
    **{re.sub(r"(?<!^)(?=[A-Z])", "_", kind).lower(): kind for kind in _OPERANDS},
    **{f"_{name.lower()}": name for name in REDUCTIONS},
}
"""The operations by the names of TensorFlow's generated functions."""


class ErrorExplainer:
    """Explains errors, and finds the explanation again when Keras has made a new error."""

    def __init__(self, recorder: TensorFlowRecorder) -> None:
        self._recorder = recorder
        self._recent: deque[tuple[str, Problem]] = deque(maxlen=RECENT_AT_MOST)

    def attach(self, error: BaseException, found: Problem) -> Problem:
        """Add an explanation to an error, and remember it."""
        self._recent.append((_plain(error)[:_WORDS], found))
        if getattr(error, "problem", None) is None:
            error.problem = found  # type: ignore[attr-defined]
            error.add_note(str(found))
        return found

    def explain(self, error: BaseException) -> Problem | None:
        """The explanation of an error that leaves the program."""
        known = getattr(error, "problem", None)
        if isinstance(known, Problem):
            return known
        words = _plain(error)
        for text, found in reversed(self._recent):
            if text and text in words:
                return self.attach(error, found)
        site = raising_expression(error.__traceback__)
        if site is None:
            return None
        for pattern, explain in _PATTERNS:
            match = re.search(pattern, words, re.DOTALL)
            if match is not None:
                read = explain(site, match, words)
                if read is not None:
                    return self.attach(error, read)
        return self.attach(error, refused_problem(site, words)) if is_raised_by_library(error) else None

    # -- operations

    def explain_operation(self, error: BaseException, kind: str, given: Mapping[str, Any]) -> None:
        """Explain an operation that refused its operands, at the user's present expression."""
        names = _OPERANDS.get(kind)
        if names is None or not all(name in given for name in names) or getattr(error, "problem", None) is not None:
            return
        found = self._operation_problem(kind, [given[name] for name in names], given, _plain(error))
        if found is not None:
            self.attach(error, found)

    def _operation_problem(
        self, kind: str, values: Sequence[Any], given: Mapping[str, Any], words: str
    ) -> Problem | None:
        if kind.endswith("CrossEntropyWithLogits"):
            return labels_problem(UserExpression.present(), _shape(values[1]), _shape(values[0]), words)
        if "was expected to be a" in words or "that does not match type" in words:
            return dtype_problem(values)
        row = TABLE.get(kind)
        name = "add" if row is None else row.name
        params: dict[str, Any] = {}
        joins = kind in ("ConcatV2", "Pack", "Einsum")
        inputs = [self._known(value) for value in (values[0] if joins else values)]
        if kind in REDUCTIONS:
            shape = _shape(values[0]) or ()
            axes = np.atleast_1d(np.asarray(_number(values[1]))).tolist()
            outside = next((axis for axis in axes if not -len(shape) <= axis < len(shape)), None)
            return None if outside is None else axis_problem(outside, len(shape), shape)
        if kind in ("Reshape", "BroadcastTo"):
            wanted = np.atleast_1d(np.asarray(_numbers(values[1])))
            inputs, params, words = inputs[:1], {"shape": tuple(int(n) for n in wanted)}, f"cannot reshape: {words}"
        elif kind in ("ConcatV2", "Pack"):
            params = {"axis": int(np.asarray(_number(values[1])))}
        elif kind == "Einsum":
            params = {"subscripts": values[1]}
        elif name == "matmul":
            flags = [given.get(flag) for flag in ("transpose_a", "transpose_b", "adj_x", "adj_y")]
            if any(flags):
                turned = [bool(flags[0] or flags[2]), bool(flags[1] or flags[3])]
                inputs = [_transposed(x) if turn else x for x, turn in zip(inputs, turned)]
        if any(not hasattr(x, "shape") for x in inputs):
            return None
        made, _ = explain_numpy_error(ValueError(words), name, "elementwise", inputs, params, ShapeError)
        found: Problem | None = made.problem
        if found is None or found.code not in ("GT110", "GT111", "GT112", "GT113", "GT114", "GT117"):
            return None
        if words[:30] in found.title:  # nothing is known but what TensorFlow says itself
            return None
        details = {key: value for key, value in found.details.items() if key != "numpy"}
        return found.with_(details=details)

    def _known(self, value: Any) -> Any:
        """An operand with known lengths: of a graph's tensor whose own are not all known, an array like it."""
        if is_symbolic(value) and (value.shape.rank is None or None in value.shape.as_list()):
            shape, dtype = self._recorder.spec_of(value)
            return np.broadcast_to(np.zeros((), dtype if dtype.kind in "fciub" else float), shape)
        if isinstance(value, (list, tuple)):
            return np.asarray(_numbers(value))
        return np.asarray(value) if isinstance(value, (int, float)) else value

    # -- requests for gradients

    def explain_request(
        self,
        error: BaseException,
        watch: TapeWatch | None,
        targets: Sequence[Any],
        seeds: Sequence[Any] | None,
        sources: Sequence[Any] = (),
        per_example: bool = False,
    ) -> None:
        """Explain an error of `tape.gradient`, or of `batch_jacobian`, which is `per_example`."""
        words = _plain(error)
        found: Problem | None = None
        if isinstance(error, RuntimeError) and "non-persistent GradientTape" in words:
            found = spent_problem(watch)
        elif isinstance(error, AttributeError | TypeError) and (refused := target_problem(targets, self._recorder)):
            found = refused
        elif isinstance(error, AttributeError | TypeError | ValueError) and (other := source_problem(sources)):
            found = other
        elif isinstance(error, ValueError) and per_example:
            found = examples_problem(targets, sources)
        elif seeds is not None:
            for target, seed in zip(targets, seeds):
                given = None if seed is None else _shape(seed)
                wanted = _shape(target)
                if given is not None and wanted is not None and given != wanted:
                    found = seed_shape_problem("output_gradients", given, wanted, target)
                    break
        if found is not None:
            self.attach(error, found)


def _plain(error: BaseException) -> str:
    """The message of an error without the codes that make it bold."""
    return re.sub(r"\x1b\[[0-9;]*m", "", str(error))


def _shape(value: Any) -> tuple[int, ...] | None:
    shape: Any = getattr(value, "shape", None)
    if shape is None:
        return tuple(int(n) for n in np.shape(value))
    if hasattr(shape, "as_list"):
        shape = None if shape.rank is None else shape.as_list()
    return None if shape is None else tuple(n if n is not None else -1 for n in shape)


def _number(value: Any) -> Any:
    return constant_of([value], 0) if is_eager(value) or is_symbolic(value) else value


def _numbers(value: Any) -> Any:
    """The number, or list of numbers, that a value is; -1 for a tensor of a graph whose number is not known."""
    if isinstance(value, (list, tuple)):
        return [_numbers(part) for part in value]
    found = _number(value)
    return -1 if found is None else found


def _transposed(value: Any) -> Any:
    shape = _shape(value) or ()
    return np.broadcast_to(np.zeros(()), (*shape[:-2], shape[-1], shape[-2]) if len(shape) > 1 else shape)


def raising_expression(trace: TracebackType | None) -> UserExpression | None:
    """The innermost expression of the user's code that an error passed through."""
    found = None
    while trace is not None:
        if not is_library(trace.tb_frame.f_code.co_filename):
            found = UserExpression(trace.tb_frame, trace.tb_lasti)
        trace = trace.tb_next
    return found


def is_raised_by_library(error: BaseException) -> bool:
    """Whether an error comes from inside of TensorFlow or Keras, and not from the program's own code."""
    if not isinstance(error, (ValueError, TypeError, errors_impl.OpError)):
        return False
    trace = error.__traceback__
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    return is_library(trace.tb_frame.f_code.co_filename)


def refused_problem(site: UserExpression, words: str) -> Problem:
    """Arguments that a function of the library refused, for a reason that is known by its own words only."""
    said = one_line(words.strip().partition("\n")[0])
    is_shape = re.search(r"shape|dimension|\brank\b|\bsize\b", said, re.IGNORECASE) is not None
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    name = one_line(site.source.text(call.func)) if isinstance(call, ast.Call) else one_line(site.span.text)
    shown = said if len(said) <= WORDS_SHOWN else f"{said[:WORDS_SHOWN]}..."
    return problem(
        "GT110" if is_shape else "GT314",
        f"{name} refuses what it is given: {shown}",
        spans=[site.span],
        operands=site.arrays(),
        fixes="compare the shapes of its arguments with what it takes"
        if is_shape
        else "compare the kinds of its arguments with what it takes",
    )


# -- dtypes


def dtype_problem(values: Sequence[Any]) -> Problem | None:
    """Operands of different dtypes, which TensorFlow does not convert."""
    if len(values) != 2 or any(not hasattr(value, "dtype") for value in values):
        return None
    site = UserExpression.present()
    operands = site.operands(values)
    names = [str(operand.dtype) for operand in operands]
    if names[0] == names[1]:
        return None
    wanted = next((name for name in ("float32", "float16", "bfloat16", "float64") if name in names), names[0])
    index = 1 if names[0] == wanted else 0
    part = operands[index].span
    offered: list[str] = []
    if part is not None:
        tensorflow = next((name for name, module in site.source.imports.items() if module == "tensorflow"), "tf")
        offered = [source_edit(f"{tensorflow}.cast({one_line(part.text)}, {tensorflow}.{wanted})", part)]
    return problem(
        "GT314",
        f"{operands[0].name} is {names[0]} and {operands[1].name} is {names[1]}: TensorFlow does not convert dtypes",
        spans=[site.span],
        operands=operands,
        fixes=[*offered, f'data.astype("{wanted}") where it is made: NumPy makes float64'],
    )


# -- labels and logits


def labels_problem(
    site: UserExpression, labels: tuple[int, ...] | None, logits: tuple[int, ...] | None, words: str
) -> Problem | None:
    """Labels and logits that do not fit each other."""
    if labels is None or logits is None:
        return None
    outside = re.search(r"label value of (-?\d+) which is outside the valid range of \[0, (\d+)\)", words)
    title = f"labels {text_of(labels)} and logits {text_of(logits)} do not match"
    offered: list[str] = []
    notes: list[str] = []
    source = site.source
    if outside is not None:
        number, classes = int(outside[1]), int(outside[2])
        title = f"the label {number} is not one of the {classes} classes, 0 to {classes - 1}, that the logits have"
        notes = ["class numbers start at 0"] if number == classes else []
        offered = _units_fix(source, classes, number + 1) if number >= classes else []
        if number < 0:
            offered = [
                f"SparseCategoricalCrossentropy(ignore_class={number}) leaves such labels out; or take them out by a "
                "mask, and give the loss tf.maximum(labels, 0)"
            ]
    elif len(labels) == len(logits) and labels[:-1] == logits[:-1] and labels[-1] == logits[-1]:
        title += ": one-hot labels, and this loss takes class numbers"
        offered = _rename_loss(site, "sparse_", "")
    elif labels in ((*logits[:-1], 1), logits[:-1]) and logits[-1] > 1:
        title += f": class numbers, and this loss takes one-hot labels of {logits[-1]} classes"
        offered = _rename_loss(site, "", "sparse_")
    elif {len(labels), len(logits)} == {1, 2} and (*min(labels, logits, key=len), 1) == max(labels, logits, key=len):
        title += ": one is a column, the other a vector"
        offered = _column_fix(site, "logits" if len(logits) == 2 else "labels")
    elif len(labels) == len(logits) and labels[-1] != logits[-1]:
        title += f": {labels[-1]} classes in the labels, {logits[-1]} outputs of the model"
        offered = _units_fix(source, logits[-1], labels[-1])
    elif len(labels) + 1 == len(logits) and labels[:1] != logits[:1]:
        title += f": {labels[0]} labels for {logits[0]} rows of logits"
    return problem(
        "GT118",
        title,
        spans=[site.span],
        notes=notes,
        fixes=offered or ["class numbers go with the sparse losses, one-hot labels with the others"],
    )


def _column_fix(site: UserExpression, name: str) -> list[str]:
    """`logits=logits[:, 0]` where a loss is given a column for a vector."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    calls = [node for node in ([] if call is None else ast.walk(call)) if isinstance(node, ast.Call)]
    for node in calls:
        part = next((k.value for k in node.keywords if k.arg == name), None)
        if isinstance(part, ast.Name | ast.Call | ast.Attribute | ast.Subscript):
            return [source_edit(f"{one_line(site.source.text(part))}[:, 0]", site.source.span(part))]
    return [f"{name}[:, 0] takes the axis of length 1 off"]


def _rename_loss(site: UserExpression, old: str, new: str) -> list[str]:
    """The sparse form of a loss instead of the other, or the reverse, where the source names it once."""
    source = site.source
    kinds = ("softmax_cross_entropy_with_logits", "categorical_crossentropy", "CategoricalCrossentropy")
    found: list[Fix] = []
    for node in [] if source.tree is None else ast.walk(source.tree):
        for kind in kinds:
            camel = kind[0].isupper()
            before = (old.rstrip("_").capitalize() if camel else old) + kind
            after = (new.rstrip("_").capitalize() if camel else new) + kind
            if isinstance(node, ast.Constant) and node.value == before:
                span = source.span(node)
                found.append(source_edit(span.text.replace(before, after), span))
            elif (
                isinstance(node, ast.Attribute | ast.Name) and getattr(node, "attr", getattr(node, "id", "")) == before
            ):
                span = source.span(node)
                found.append(source_edit(span.text[: -len(before)] + after, span))
    return list(found) if len(found) == 1 else []


def _units_fix(source: SourceFile, units: int, wanted: int) -> list[str]:
    """The last `Dense(units)` of the file with as many units as there are classes."""
    calls = [
        node
        for node in ([] if source.tree is None else ast.walk(source.tree))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "Dense"
    ]
    numbers = [
        part
        for call in calls
        for part in [next((k.value for k in call.keywords if k.arg == "units"), call.args[0] if call.args else None)]
        if isinstance(part, ast.Constant) and part.value == units
    ]
    last = max(numbers, key=lambda part: (part.lineno, part.col_offset), default=None)
    return [] if last is None else [source_edit(str(wanted), source.span(last))]


# -- errors that are known by their words

_SHAPE = r"\(([^()]*)\)"


def _labels_by_words(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    return labels_problem(site, lengths_of(match[1]), lengths_of(match[2]), words)


def _logits_by_words(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    return labels_problem(site, lengths_of(match[2]), lengths_of(match[1]), words)


def _label_value(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    return labels_problem(site, (-1,), (-1, int(match[2])), words)


def _layer_rank(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    layer, relation, wanted, found, shape = match[1], match[2], int(match[3]), int(match[4]), lengths_of(match[5])
    data = _first_data(site, shape)
    offered: list[str] = []
    if wanted == found + 1 and data is not None and relation in ("min_ndim", "ndim"):
        name = one_line(site.source.text(data))
        is_channel = layer.startswith(("conv", "max_pooling", "average_pooling", "global", "up_sampling"))
        offered = [source_edit(f"{name}[..., None]" if is_channel else f"{name}[:, None]", site.source.span(data))]
        if not is_channel and not layer.startswith(("lstm", "gru", "simple_rnn", "bidirectional")):
            offered = [f"{name}[..., None] adds an axis of length 1 at the end"]
        elif not is_channel:
            offered = [source_edit(f"{name}[..., None]", site.source.span(data))]
    return problem(
        "GT116",
        f"layer {layer!r} takes {wanted} axes or more, and gets {found}: {text_of(shape)}"
        if relation == "min_ndim"
        else f"layer {layer!r} takes {wanted} axes, and gets {found}: {text_of(shape)}",
        spans=[site.span],
        notes=["convolutions take (examples, height, width, channels)"] if layer.startswith("conv2d") else [],
        fixes=offered or [f"give it an array of {wanted} axes"],
    )


def _first_data(site: UserExpression, shape: Sequence[int]) -> ast.expr | None:
    """The first argument of the user's call, if it is an expression that can be indexed."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call):
        return None
    part = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in ("x", "inputs")), None)
    return part if isinstance(part, ast.Name | ast.Attribute | ast.Subscript | ast.Call) else None


def _layer_axis(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    layer, axis, wanted, shape = match[1], int(match[2]), int(match[3]), lengths_of(match[4])
    length = shape[axis]
    return problem(
        "GT116",
        f"layer {layer!r} takes {wanted} features along axis {axis}, and gets {length}: {text_of(shape)}",
        spans=[site.span],
        fixes=[*_input_fix(site.source, wanted, length), f"give it {wanted} features, or build it for {length}"],
    )


def _layer_shape(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    layer, wanted, shape = match[1], lengths_of(match[2]), lengths_of(match[3])
    offered: list[str] = []
    differing = [k for k in range(min(len(wanted), len(shape))) if wanted[k] != -1 and wanted[k] != shape[k]]
    if len(wanted) == len(shape) and len(differing) == 1:
        offered = _input_fix(site.source, wanted[differing[0]], shape[differing[0]])
    return problem(
        "GT116",
        f"layer {layer!r} takes {text_of(wanted)}, and gets {text_of(shape)}",
        spans=[site.span],
        fixes=[*offered, f"give it an array of shape {text_of(wanted)}, or build it for {text_of(shape)}"],
    )


def _input_fix(source: SourceFile, wanted: int, length: int) -> list[str]:
    """The number of features in the `Input((10,))` or `input_shape=(10,)` that declares it, if there is one."""
    places: list[ast.AST] = []
    for node in [] if source.tree is None else ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in ("Input", "InputLayer"):
            places += [*node.args, *(k.value for k in node.keywords)]
        places += [k.value for k in node.keywords if k.arg in ("input_shape", "input_dim")]
    found = [
        part for place in places for part in ast.walk(place) if isinstance(part, ast.Constant) and part.value == wanted
    ]
    unique = list({(part.lineno, part.col_offset): part for part in found}.values())
    return [source_edit(str(length), source.span(unique[0]))] if len(unique) == 1 else []


def _unknown_variable(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    return problem(
        "GT513",
        f"the optimiser was built for other variables: it does not know {match[1]}",
        spans=[site.span, *_built_spans(site)],
        notes=[
            "an optimiser is built with the variables of its first step; a layer made or replaced later is new to it"
        ],
        fixes=[
            "make a new optimiser after the layer was replaced",
            "build it with all variables before the first step: optimizer.build(model.trainable_variables)",
        ],
    )


def _built_spans(site: UserExpression) -> list[Span]:
    """Where the optimiser that is asked for a step was built, or made."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    owner = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    if owner is None or site.source.tree is None:
        return []
    name = site.source.text(owner)
    built = [
        node
        for node in ast.walk(site.source.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "build"
        and site.source.text(node.func.value) == name
    ]
    spans = [site.source.span(node).labelled("built here, with the variables of that moment") for node in built[:1]]
    made = site.binding(owner)
    if made is not None and not made.label and not spans:
        spans.append(made.labelled("made here"))
    return spans


_LAYER = r"[Ll]ayer \"?'?([\w./]+)'?\"? is incompatible with the layer: "
_PATTERNS: tuple[tuple[str, Callable[[UserExpression, re.Match[str], str], Problem | None]], ...] = (
    (r"Unknown variable: <\w*Variable [^>]*?path=([^,>]+)", _unknown_variable),
    (rf"labels\.shape={_SHAPE}.*?logits\.shape={_SHAPE}", _labels_by_words),
    (rf"shape of labels \(received {_SHAPE}\).*?\(received {_SHAPE}\)", _labels_by_words),
    (rf"target\.shape={_SHAPE}.*?output\.shape={_SHAPE}", _labels_by_words),
    (rf"`?logits`? and `?labels`? must have the same shape.*?\({_SHAPE} vs {_SHAPE}\)", _logits_by_words),
    (rf"logits and labels must have the same shape, received {_SHAPE} vs {_SHAPE}", _logits_by_words),
    (r"label value of (-?\d+) which is outside the valid range of \[0, (\d+)\)", _label_value),
    (
        rf"{_LAYER}expected (min_ndim|ndim|max_ndim)=(\d+), found ndim=(\d+)\. Full shape received: {_SHAPE}",
        _layer_rank,
    ),
    (
        rf"{_LAYER}expected axis (-?\d+) of input shape to have value (\d+), but received input with shape {_SHAPE}",
        _layer_axis,
    ),
    (rf"{_LAYER}expected shape={_SHAPE}, found shape={_SHAPE}", _layer_shape),
    *keras_shapes.PATTERNS,
    *program_errors.PATTERNS,
)


__all__ = ["FUNCTIONS", "ErrorExplainer", "raising_expression"]
