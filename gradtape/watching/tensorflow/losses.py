"""What losses are given: probabilities where logits are expected and the reverse, predictions of another shape.

The functions of TensorFlow and Keras that compute losses are recognised by their frames, while an operation inside of
them is recorded. Each is looked at twice for each place in the program.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import numpy as np
from tensorflow.python.ops import nn_impl, nn_ops

from gradtape.explain.detectors.broadcast import group_digits
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, Span, source_edit
from gradtape.explain.model.record import Record, Shape
from gradtape.explain.source.axes import stretched_axes
from gradtape.explain.source.expression import UserExpression, site_at
from gradtape.explain.source.files import SourceFile, one_line
from gradtape.watching.record import OperationRecord
from gradtape.watching.tensorflow.recorder import TensorFlowRecorder
from gradtape.watching.tensorflow.values import array_in, is_eager

TIMES_JUDGED = 2
_PASSING_ON = frozenset({"reshape", "copy", "astype"})
_LAYERS = frozenset({"matmul", "linear", "convolution", "einsum"})
_RESIDUAL_LOSSES = (
    "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_logarithmic_error",
    "huber", "log_cosh",
)  # fmt: skip
_ENTROPIES = ("binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy")
_BELOW_ZERO = {
    "log_softmax": "logarithms of probabilities",
    "tanh": "numbers between -1 and 1",
    **dict.fromkeys(("elu", "selu", "leaky_relu"), "numbers of any size"),
}
"""Operations whose results are never all probabilities."""
_CLASSES = {
    "binary_crossentropy": "BinaryCrossentropy",
    "categorical_crossentropy": "CategoricalCrossentropy",
    "sparse_categorical_crossentropy": "SparseCategoricalCrossentropy",
}
Judge = Callable[[FrameType, Any, UserExpression], Problem | None]


class LossJudge:
    """Knows the losses of TensorFlow and Keras by their code, and judges what they are given."""

    def __init__(self, recorder: TensorFlowRecorder) -> None:
        self._recorder = recorder
        self._seen: dict[tuple[Any, ...], int] = {}
        self.codes: dict[CodeType, Judge] = {}
        for function in (
            nn_impl.sigmoid_cross_entropy_with_logits_v2,
            getattr(nn_impl, "sigmoid_cross_entropy_with_logits", None),
            getattr(nn_impl, "weighted_cross_entropy_with_logits_v2", None),
            getattr(nn_impl, "weighted_cross_entropy_with_logits", None),
        ):
            self._add(function, self._judge_sigmoid)
        for name in (
            "softmax_cross_entropy_with_logits_v2_helper",
            "sparse_softmax_cross_entropy_with_logits",
            "_sparse_softmax_cross_entropy_with_rank_2_logits",
        ):
            self._add(getattr(nn_ops, name, None), self._judge_softmax)

    def add_keras(self, losses: Any, backend: Any) -> None:
        """Know the losses of Keras, whose modules these are."""
        for name in _ENTROPIES:
            self._add(getattr(backend, name, None), self._judge_probabilities)
        for name in _RESIDUAL_LOSSES:
            self._add(getattr(losses, name, None), self._judge_residual)
        self._add(getattr(losses, "mean_squared_logarithmic_error", None), self._judge_logarithms)
        self._add(getattr(losses, "kl_divergence", None), self._judge_divergence)
        for name in ("categorical_crossentropy", "sparse_categorical_crossentropy"):
            self._add(getattr(losses, name, None), self._judge_axis)
        self._add(getattr(losses, "binary_crossentropy", None), self._judge_told)

    def _add(self, function: Any, judge: Judge) -> None:
        if function is not None:
            self.codes[inspect.unwrap(function).__code__] = judge

    def judge(self, frame: FrameType, location: Any) -> None:
        """Judge what the loss that runs in `frame`, called at the user's `location`, was given."""
        key = frame.f_code, id(location.code), location.offset
        count = self._seen.get(key, 0)
        if count >= TIMES_JUDGED:
            return
        self._seen[key] = count + 1
        found = self.codes[frame.f_code](frame, location, UserExpression.present())
        if found is not None and is_due(found.code, *found.place[1:]):
            self._seen[key] = TIMES_JUDGED
            report(found)

    # -- probabilities and logits

    def _producer(self, value: Any) -> OperationRecord | None:
        """The operation that made a value, before changes of its shape."""
        record = self._recorder.record_of(value)
        while isinstance(record, OperationRecord) and record.operation in _PASSING_ON:
            tracked = [parent for parent in record.parents if parent.is_tracked]
            if len(tracked) != 1:
                break
            record = tracked[0]
        return record if isinstance(record, OperationRecord) else None

    def _judge_sigmoid(self, frame: FrameType, location: Any, site: UserExpression) -> Problem | None:
        made = self._producer(frame.f_locals.get("logits"))
        if made is not None and made.operation == "softmax":
            return _softmax_before_sigmoid(site, made)
        return _applied_twice(site, made, "sigmoid") if made is not None and made.operation == "sigmoid" else None

    def _judge_softmax(self, frame: FrameType, location: Any, site: UserExpression) -> Problem | None:
        stretched = self._judge_stretched_labels(frame, site)
        if stretched is not None:
            return stretched
        made = self._producer(frame.f_locals.get("logits"))
        return _applied_twice(site, made, "softmax") if made is not None and made.operation == "softmax" else None

    def _judge_stretched_labels(self, frame: FrameType, site: UserExpression) -> Problem | None:
        """Labels with an axis of one class, which `softmax_cross_entropy_with_logits` repeats for all classes."""
        labels, logits = (frame.f_locals.get(name) for name in ("labels", "logits"))
        if not all(self._recorder.is_tensor(x) and self._recorder.has_known_shape(x) for x in (labels, logits)):
            return None
        given, wanted = self._recorder.spec_of(labels)[0], self._recorder.spec_of(logits)[0]
        if len(given) != len(wanted) or not given or given[-1] != 1 or wanted[-1] < 2:
            return None
        return _one_class_problem(site, given, wanted)

    def _judge_swapped(self, frame: FrameType, location: Any, site: UserExpression) -> Problem | None:
        """A loss of Keras whose first argument, the labels, depends on variables, and whose second does not."""
        given = frame.f_locals
        names = ("y_true", "y_pred") if "y_true" in given else ("target", "output")
        labels, prediction = (self._recorder.record_of(given.get(name)) for name in names)
        if labels is None or prediction is None or prediction.is_tracked or prediction.is_cut:
            return None
        if not isinstance(labels, OperationRecord) or not labels.is_tracked:
            return None
        call = site.node.value if isinstance(site.node, ast.Expr) else site.node
        if not isinstance(call, ast.Call) or len(call.args) != 2 or call.keywords:
            return None
        first, second = (site.source.span(part) for part in call.args)
        function = one_line(site.source.text(call.func))
        text = f"{function}({one_line(second.text)}, {one_line(first.text)})"
        return problem(
            "GT509",
            f"the arguments are swapped: {function} takes the labels first, and its first argument is what is learned",
            spans=[site.span],
            consequence="the loss of the labels by the predictions has another gradient",
            fixes=[source_edit(text, site.source.span(call)), "loss(labels, predictions)"],
            intent="gt.explain.configure(GT509='off')",
        )

    def _judge_probabilities(self, frame: FrameType, location: Any, site: UserExpression) -> Problem | None:
        """A loss of Keras with from_logits=False, of what was not made by a sigmoid or softmax."""
        swapped = self._judge_swapped(frame, location, site)
        if swapped is not None:
            return swapped
        given = frame.f_locals
        if given.get("from_logits"):
            return None
        output = given.get("output")
        made = self._producer(output)
        if made is not None and made.operation in _BELOW_ZERO:
            return _without_activation_problem(site, frame.f_code.co_name, made, _BELOW_ZERO[made.operation])
        if made is None or not (_is_linear_layer(made) or made.operation == "relu"):
            return None
        array = array_in(output) if is_eager(output) else None
        if array is not None and not (np.any(array < 0) or np.any(array > 1)):
            return None
        if made.operation == "relu":
            return _relu_problem(site, frame.f_code.co_name)
        return _without_activation_problem(site, frame.f_code.co_name, made)

    def _judge_axis(self, frame: FrameType, location: Any, site: UserExpression) -> Problem | None:
        """A loss of Keras, of a softmax over another axis than that of the classes."""
        given = frame.f_locals
        told = self._judge_told(frame, location, site)
        if told is not None:
            return told
        made = self._producer(given.get("y_pred"))
        if made is None or made.operation != "softmax" or made.shape != self._recorder.spec_of(given["y_pred"])[0]:
            return None
        return _axis_problem(site, made, given.get("axis", -1))

    def _judge_told(self, frame: FrameType, location: Any, site: UserExpression) -> Problem | None:
        """A loss of Keras with from_logits=True, of the result of a softmax or sigmoid."""
        if frame.f_locals.get("from_logits") is not True:
            return None
        made = self._producer(frame.f_locals.get("y_pred"))
        name = "sigmoid" if frame.f_code.co_name.startswith("binary") else "softmax"
        if made is None or made.operation != name:
            return None
        return _applied_twice(site, made, name).with_(
            title=f"this loss is told that it gets logits, and is given the result of a {name}",
            consequence=f"Keras takes what the {name} was given instead where it can see that, with a warning of its "
            f"own; elsewhere {name} is applied twice, and the loss stays far from zero",
        )

    def _judge_divergence(self, frame: FrameType, location: Any, site: UserExpression) -> Problem | None:
        """The divergence of two distributions, of what is negative or exceeds 1."""
        for name in ("y_pred", "y_true"):
            value = frame.f_locals.get(name)
            made = self._producer(value)
            array = array_in(value) if is_eager(value) else None
            if made is None or not (_is_linear_layer(made) or made.operation in _BELOW_ZERO):
                continue
            if array is not None and not (np.any(array < 0) or np.any(array > 1)):
                continue
            return _divergence_problem(site, "first" if name == "y_true" else "second", made)
        return None

    def _judge_logarithms(self, frame: FrameType, location: Any, site: UserExpression) -> Problem | None:
        """The loss of logarithms of predictions, all of which are negative: each is cut off at zero."""
        prediction = frame.f_locals.get("y_pred")
        record = self._recorder.record_of(prediction) if self._recorder.is_tensor(prediction) else None
        array = array_in(prediction) if is_eager(prediction) else None
        if record is None or not record.is_tracked or array is None or not array.size or not np.all(array <= 0):
            return self._judge_residual(frame, location, site)
        return problem(
            "GT404",
            f"the gradient is zero everywhere: {frame.f_code.co_name} cuts predictions off at 0, and all "
            f"{array.size} are negative",
            spans=[site.span],
            notes=[f"they are between {array.min():.3g} and {array.max():.3g}"],
            consequence="no variable that the predictions are computed from gets a gradient other than zero",
            fixes='a last layer with positive outputs: activation="softplus" or "exponential"; or another loss',
            intent="gt.explain.configure(GT404='off')",
        )

    # -- shapes

    def _judge_residual(self, frame: FrameType, location: Any, site: UserExpression) -> Problem | None:
        """A loss of Keras in which a prediction is stretched along an axis of length 1."""
        given = frame.f_locals
        prediction, target = given.get("y_pred"), given.get("y_true")
        if not self._recorder.is_tensor(prediction) or not self._recorder.is_tensor(target):
            return None
        record = self._recorder.record_of(prediction)
        if record is None or not record.is_tracked or not self._recorder.has_known_shape(prediction):
            return None
        if not self._recorder.has_known_shape(target):
            return None
        shapes = self._recorder.spec_of(prediction)[0], self._recorder.spec_of(target)[0]
        whole = record.parents[0].shape if record.operation == "reshape" else shapes[0]
        if whole == (*shapes[0], 1):  # Keras has brought both to the same number of axes
            return _repeated_problem(site, frame.f_code.co_name, whole, shapes[1])
        if len(shapes[0]) != len(shapes[1]):
            return _repeated_problem(site, frame.f_code.co_name, *shapes)
        if shapes[0] == shapes[1] or not stretched_axes(*shapes)[0]:
            return None
        return _stretched_problem(site, frame.f_code.co_name, *shapes, record)


def _is_linear_layer(made: OperationRecord) -> bool:
    """Whether a value is a product with weights, with or without a bias."""
    if made.operation == "add":
        return any(parent.operation in _LAYERS for parent in made.parents)
    return made.operation in _LAYERS


def _applied_twice(site: UserExpression, made: Record, name: str) -> Problem:
    """A sigmoid or softmax before a loss that applies one itself."""
    keyword = _only_keyword(site.source, "from_logits", True)
    offered: list[str] = list(_without_call(made, name))
    if keyword is not None and not offered:
        offered.append(source_edit("False", keyword))
    spans = [site.span]
    if made.location.is_known:
        there = site_at(made.location).span
        if there.place != site.span.place:
            spans.append(there.labelled("made here"))
    if keyword is not None and keyword.line not in [span.line for span in spans]:
        spans.append(keyword.labelled("the loss is told to expect logits here"))
    limits = "sigmoid of what lies between 0 and 1 lies between 0.5 and 0.73: " if name == "sigmoid" else ""
    return problem(
        "GT509",
        f"this loss takes logits, and is given the result of a {name}: {name} is applied twice",
        spans=spans,
        consequence=f"{limits}the loss stays far from zero however sure the model is, and its gradient is small",
        fixes=[
            *offered,
            f"give it the numbers as they are before the {name}: a last layer without activation; or from_logits=False",
        ],
        intent="gt.explain.configure(GT509='off')",
    )


def _without_call(made: Record, name: str) -> list[Fix]:
    """`x` for the `tf.sigmoid(x)` that made a value; `Dense(3)` for `Dense(3, activation="softmax")`."""
    site = site_at(made.location)
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    function = getattr(call, "func", None)
    called = getattr(function, "attr", getattr(function, "id", ""))
    if isinstance(call, ast.Call) and called == name and len(call.args) == 1:
        inner = call.args[0]
        text = one_line(site.source.text(inner))
        is_atom = isinstance(inner, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
        is_whole = isinstance(site.source.parents.get(call), ast.Assign | ast.Return | ast.Call | ast.keyword)
        return [source_edit(text if is_atom or is_whole else f"({text})", site.source.span(call))]
    tree = site.source.tree
    layers = [
        node
        for node in ([] if tree is None else ast.walk(tree))
        if isinstance(node, ast.Call)
        and any(k.arg == "activation" and getattr(k.value, "value", "") == name for k in node.keywords)
    ]
    if len(layers) != 1:
        return []
    whole = site.source.span(layers[0])
    kept = [one_line(site.source.text(part)) for part in layers[0].args]
    kept += [f"{k.arg}={one_line(site.source.text(k.value))}" for k in layers[0].keywords if k.arg != "activation"]
    return [source_edit(f"{one_line(site.source.text(layers[0].func))}({', '.join(kept)})", whole)]


def _softmax_before_sigmoid(site: UserExpression, made: Record) -> Problem:
    """A softmax before a loss that applies a sigmoid to each class."""
    return _applied_twice(site, made, "softmax").with_(
        title="this loss takes logits, and is given the result of a softmax: a sigmoid is applied to probabilities",
        consequence="sigmoid of what lies between 0 and 1 lies between 0.5 and 0.73: the loss stays far from zero",
    )


def _one_class_problem(site: UserExpression, labels: Shape, logits: Shape) -> Problem:
    """Class numbers in a column, where a probability of each class is expected."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    source, offered = site.source, list[str]()
    given = {k.arg: one_line(source.text(k.value)) for k in getattr(call, "keywords", ())}
    if isinstance(call, ast.Call) and not call.args and {*given} == {"labels", "logits"}:
        function = one_line(source.text(call.func))
        prefix = function.rpartition(".")[0]
        tensorflow = prefix.partition(".")[0]
        if tensorflow and source.imports.get(tensorflow) == "tensorflow":
            text = f"labels={tensorflow}.cast({given['labels']}[..., 0], {tensorflow}.int32), logits={given['logits']}"
            offered = [source_edit(f"{prefix}.sparse_softmax_cross_entropy_with_logits({text})", source.span(call))]
    return problem(
        "GT509",
        f"the labels {labels} have one class and the logits {logits} have {logits[-1]}: one label is used for all",
        spans=[site.span],
        consequence="each class is trained towards the number of the class: the loss is a number, and wrong",
        fixes=[
            *offered,
            f"one-hot labels {logits}: tf.one_hot(labels[..., 0], {logits[-1]}); or "
            "tf.nn.sparse_softmax_cross_entropy_with_logits with the class numbers",
        ],
        intent="gt.explain.configure(GT509='off')",
    )


def _relu_problem(site: UserExpression, loss: str) -> Problem:
    """A loss that takes probabilities is given the result of a relu."""
    activation = "sigmoid" if loss.startswith("binary") else "softmax"
    values = [
        keyword.value
        for node in ([] if site.source.tree is None else ast.walk(site.source.tree))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "Dense"
        for keyword in node.keywords
        if keyword.arg == "activation" and getattr(keyword.value, "value", "") == "relu"
    ]
    last = max(values, key=lambda value: (value.lineno, value.col_offset), default=None)
    spans, offered = [site.span], list[str]()
    if last is not None:
        span = site.source.span(last)
        spans.append(span.labelled("the activation of the last layer"))
        offered = [source_edit(f'"{activation}"', span)]
    return problem(
        "GT509",
        f"{loss} takes probabilities, and is given the result of a relu, which is 0 or any larger number",
        spans=spans,
        consequence="it clips them to the range of probabilities: the gradient of those outside is zero, and so is "
        "that of the units that are 0",
        fixes=[*offered, f'activation="{activation}" in the last layer; or none there, and from_logits=True'],
        intent="gt.explain.configure(GT509='off')",
    )


def _only_keyword(source: SourceFile, name: str, value: Any) -> Span | None:
    """The value of the only keyword argument `name=value` of the file."""
    found = [
        keyword.value
        for node in ([] if source.tree is None else ast.walk(source.tree))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == name and getattr(keyword.value, "value", None) is value
    ]
    return source.span(found[0]) if len(found) == 1 else None


def _axis_problem(site: UserExpression, made: Record, wanted: Any) -> Problem | None:
    """Probabilities that were normalised over another axis than that of the classes, which a loss of Keras picks."""
    axes, count = made.params.get("axis"), len(made.shape)
    classes = wanted % count if isinstance(wanted, int) and count else None
    if not axes or classes is None or axes == (classes,):
        return None
    layers = [
        keyword.value
        for node in ([] if site.source.tree is None else ast.walk(site.source.tree))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")).lower() == "softmax"
        for keyword in node.keywords
        if keyword.arg == "axis"
    ]
    spans, offered = [site.span], list[str]()
    if len(layers) == 1:
        spans.insert(0, site.source.span(layers[0]).labelled("normalised over this axis"))
        offered = [source_edit("-1", site.source.span(layers[0]))]
    return problem(
        "GT501",
        f"the softmax is over axis {axes[0]} of {made.shape}, and the loss picks classes along axis {classes}",
        spans=spans,
        consequence="the probabilities of one prediction do not sum to 1: the loss falls without the classes competing",
        fixes=[*offered, f"softmax over axis {classes}, that of the classes"],
        intent="gt.explain.configure(GT501='off')",
    )


def _divergence_problem(site: UserExpression, which: str, made: Record) -> Problem:
    """`KLDivergence` of logits."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    source = site.source
    tensorflow = next((name for name, module in source.imports.items() if module == "tensorflow"), "")
    offered: list[str] = []
    if isinstance(call, ast.Call) and len(call.args) == 2 and not call.keywords and tensorflow:
        parts = [f"{tensorflow}.nn.softmax({one_line(source.text(part))})" for part in call.args]
        offered = [source_edit(f"{one_line(source.text(call.func))}({', '.join(parts)})", source.span(call))]
    return problem(
        "GT509",
        f"the divergence compares probabilities, and its {which} argument is the numbers of {made.operation}, which are"
        " not between 0 and 1",
        spans=[site.span],
        consequence="it clips them to the range of probabilities: the gradient of all that are outside is zero",
        fixes=[*offered, "softmax of the logits, of both arguments"],
        intent="gt.explain.configure(GT509='off')",
    )


def _without_activation_problem(
    site: UserExpression, loss: str, made: Record, given: str = "the numbers of a linear layer"
) -> Problem:
    """A loss that takes probabilities was given the numbers of a linear layer, or others outside of 0 and 1."""
    kind = _CLASSES[loss]
    source = site.source
    activation = "sigmoid" if loss.startswith("binary") else "softmax"
    made_by = [
        node
        for node in ([] if source.tree is None else ast.walk(source.tree))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == kind
    ]
    offered: list[str] = []
    spans = [site.span]
    if len(made_by) == 1:
        whole = source.span(made_by[0])
        text = one_line(whole.text)
        filled = ", " if made_by[0].args or made_by[0].keywords else ""
        false = next((k for k in made_by[0].keywords if k.arg == "from_logits"), None)
        if false is None:
            offered = [source_edit(f"{text[:-1]}{filled}from_logits=True)", whole)]
            if whole.line != site.span.line:
                spans.append(whole.labelled("made without from_logits=True here"))
    elif texts := [n for n in ([] if source.tree is None else ast.walk(source.tree)) if getattr(n, "value", 0) == loss]:
        name = _keras_name(source)
        whole = source.span(texts[0])  # type: ignore[arg-type]
        if len(texts) == 1 and name and isinstance(texts[0], ast.Constant):
            offered = [source_edit(f"{name}.losses.{kind}(from_logits=True)", whole)]
            if whole.line != site.span.line:
                spans.append(whole.labelled("the loss is named here"))
    return problem(
        "GT509",
        f"{loss} takes probabilities, and is given {given} ({made.operation}), which are not between 0 and 1",
        spans=spans,
        consequence="it clips them to the range of probabilities: the gradient of all that are outside is zero",
        fixes=[*offered, f'from_logits=True, or activation="{activation}" in the last layer'],
        intent="gt.explain.configure(GT509='off')",
    )


def _keras_name(source: SourceFile) -> str:
    """How a file calls Keras."""
    for name, module in source.imports.items():
        if module in ("keras", "tensorflow.keras"):
            return name
    tensorflow = next((name for name, module in source.imports.items() if module == "tensorflow"), "")
    return f"{tensorflow}.keras" if tensorflow else ""


def _stretched_problem(site: UserExpression, loss: str, prediction: Shape, target: Shape, made: Record) -> Problem:
    """One prediction is compared with many targets, inside a loss of Keras."""
    result = np.broadcast_shapes(prediction, target)
    axis = next(i for i in range(-1, -len(result) - 1, -1) if -i <= len(prediction) and prediction[i] != result[i])
    spans = [site.span]
    units = _units(site.source, prediction[-1]) if axis == -1 else None
    offered: list[str] = []
    if units is not None:
        offered = [source_edit(str(result[-1]), units)]
        spans.append(units.labelled("as many units as it has outputs"))
    return problem(
        "GT102",
        f"{loss} compares one element of the prediction {prediction} with {result[axis]} of the target {target}",
        spans=spans,
        notes=[f"{group_digits(math.prod(result))} differences of {group_digits(math.prod(prediction))} predictions"],
        consequence=f"the gradient pulls each prediction towards the mean of the {result[axis]}, not towards each",
        fixes=[*offered, f"make the model's output {result[axis]} long along axis {axis}, as the target is"],
        intent="say so in the code: tf.broadcast_to(prediction, tf.shape(target))",
    )


def _repeated_problem(site: UserExpression, loss: str, prediction: Shape, target: Shape) -> Problem | None:
    """One target for each example is compared with the predictions of all steps of a sequence, inside a loss of Keras.

    Keras takes off the last axis of the predictions, (n, steps, 1), and repeats the targets, (n, 1), for each step.
    """
    is_sequence = len(prediction) == 3 and prediction[2] == 1 and prediction[1] > 1
    if not is_sequence or len(target) != 2 or target[1] != 1 or target[0] != prediction[0]:
        return None
    returned = _only_keyword(site.source, "return_sequences", True)
    offered: list[str] = [] if returned is None else [source_edit("False", returned)]
    spans = [site.span, *([] if returned is None else [returned.labelled("gives an output for each step")])]
    return problem(
        "GT102",
        f"{loss} compares each target {target} with the predictions of all {prediction[1]} steps {prediction}",
        spans=spans,
        consequence=f"the gradient pulls the outputs of all {prediction[1]} steps towards the one target",
        fixes=[
            *offered,
            "return_sequences=False in the last recurrent layer, which then gives its last output only",
        ],
        intent="say so in the code: tf.repeat(target[:, None], steps, axis=1)",
    )


def _units(source: SourceFile, units: int) -> Span | None:
    """The number of units in the last `Dense(units)` of a file."""
    numbers = [
        node.args[0]
        for node in ([] if source.tree is None else ast.walk(source.tree))
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) == "Dense"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == units
    ]
    last = max(numbers, key=lambda part: (part.lineno, part.col_offset), default=None)
    return None if last is None else source.span(last)


__all__ = ["LossJudge"]
