"""Explanations of the errors that Keras raises when it puts layers together: it infers shapes before anything is run.

They are known by their words: the pattern of a message, and the function that makes a problem of what it says.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from gradtape.explain.detectors.shape_mismatch import shape_table
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, source_edit
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line

Lengths = tuple[int, ...]
UNKNOWN = -1


def lengths_of(text: str) -> Lengths:
    """The lengths in the text of a shape, without its brackets; -1 for one that is not known."""
    return tuple(UNKNOWN if part in ("None", "?") else int(part) for part in re.findall(r"None|\?|-?\d+", text))


def text_of(shape: Sequence[int]) -> str:
    """The text of a shape, as Keras writes it."""
    return str(tuple(shape)).replace("-1", "None")


def _shapes_in(text: str) -> list[Lengths]:
    return [lengths_of(found) for found in re.findall(r"[(\[]([\d, None?]+)[)\]]", text)]


def _differing(shapes: Sequence[Lengths]) -> list[int]:
    """The axes along which shapes of the same number of axes have different lengths, none of them unknown."""
    if len({len(shape) for shape in shapes}) != 1:
        return []
    known = [{shape[k] for shape in shapes} - {UNKNOWN} for k in range(len(shapes[0]))]
    return [k for k, lengths in enumerate(known) if len(lengths) > 1]


def _names(site: UserExpression, count: int) -> list[str]:
    """The user's names for the inputs of a layer that was called with a list, or of a function of several arguments."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    parts: list[Any] = []
    if isinstance(call, ast.Call) and call.args:
        first = call.args[0]
        parts = first.elts if isinstance(first, ast.List | ast.Tuple) else call.args
    elif isinstance(call, ast.BinOp):
        parts = [call.left, call.right]
    if len(parts) != count:
        return [f"input {k}" for k in range(count)]
    return [one_line(site.source.text(part)) for part in parts]


def _table(names: Sequence[str], shapes: Sequence[Lengths]) -> dict[str, Any]:
    table, _ = shape_table(names, [tuple(abs(n) for n in shape) for shape in shapes])  # unknown ones clash with none
    for (_, texts), shape in zip(table["rows"], shapes):
        texts[len(texts) - len(shape) :] = ["None" if n == UNKNOWN else str(n) for n in shape]
    return table


def explain_concatenate(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """Inputs of a Concatenate layer that differ along another axis than the one they are joined along."""
    shapes = _shapes_in(match[1])
    if len(shapes) < 2:
        return None
    names = _names(site, len(shapes))
    listed = ", ".join(f"{name} {text_of(shape)}" for name, shape in zip(names, shapes))
    axes = [axis for axis in _differing(shapes) if axis != len(shapes[0]) - 1] or _differing(shapes)
    where = f" along axis {', '.join(map(str, axes))}" if axes else " in the number of their axes"
    offered: list[str] = []
    if len(axes) == 1 and len(_differing(shapes)) == 1:
        offered = [f"join them along the axis that differs: Concatenate(axis={axes[0]})"]
    elif len(shapes[0]) > 3:
        offered = ['padding="same" in the convolutions before keeps the size of a map; Cropping2D cuts the larger one']
    elif not axes:
        offered = ["give all the same number of axes first: Flatten, RepeatVector or Reshape"]
    return problem(
        "GT113",
        f"the inputs of Concatenate differ{where}: {listed}",
        spans=[site.span],
        table=_table(names, shapes),
        fixes=offered or ["make all axes but the joined one of equal length"],
    )


def explain_merge(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """Inputs of an Add, Multiply or other layer that works element by element, of shapes that do not broadcast."""
    shapes = [lengths_of(match[1]), lengths_of(match[2])]
    names = _names(site, 2)
    return problem(
        "GT110",
        f"{names[0]} {text_of(shapes[0])} and {names[1]} {text_of(shapes[1])} are combined element by element, and do "
        "not have the same shape",
        spans=[site.span],
        table=_table(names, shapes),
        fixes=["bring one to the shape of the other: a Dense or Conv2D layer of kernel size 1 in the shortcut"],
    )


def explain_product(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """A matrix product, or a Dot layer, of inputs whose lengths differ along the axis that is summed."""
    shapes = [lengths_of(match[1]), lengths_of(match[2])]
    names = _names(site, 2)
    offered: list[str] = []
    if len(shapes[1]) > 1 and shapes[0][-1] == shapes[1][-1] and "x1.shape" in words:
        offered = [f"{names[1]} transposed: keras.ops.swapaxes({names[1]}, -1, -2)"]
    return problem(
        "GT111",
        f"the product of {names[0]} {text_of(shapes[0])} and {names[1]} {text_of(shapes[1])}: the lengths of the axes "
        "that are summed differ",
        spans=[site.span],
        table=_table(names, shapes),
        fixes=offered or ["give both the same number of features before: a Dense layer"],
    )


def explain_reshape(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """A Reshape layer whose target has another number of elements."""
    before, after = lengths_of(match[1]), lengths_of(match[2])
    size, known = math.prod(n for n in before if n > 0), math.prod(n for n in after if n > 0)
    offered: list[str] = []
    if UNKNOWN not in after and len(after) > 1 and (rest := math.prod(after[:-1])) and size % rest == 0:
        wanted = (*after[:-1], size // rest)
        offered = [*_written_shape(site, after, wanted), f"a target of {size} elements: {text_of(wanted)}"]
    return problem(
        "GT114",
        f"an example of shape {text_of(before)} has {size} elements, and {text_of(after)} "
        f"{'takes multiples of ' if UNKNOWN in after else 'has '}{known}",
        spans=[site.span],
        fixes=offered or [f"a target of {size} elements, or -1 for one length that follows from the others"],
    )


def _written_shape(site: UserExpression, shape: Lengths, wanted: Lengths) -> list[Fix]:
    """An edit of the tuple of the source that has these lengths, if there is one such tuple."""
    source = site.source
    found = [
        node
        for node in ([] if source.tree is None else ast.walk(source.tree))
        if isinstance(node, ast.Tuple)
        and [getattr(part, "value", None) for part in node.elts] == [*shape]
        and isinstance(source.parents.get(node), ast.Call | ast.keyword)
    ]
    return [source_edit(str(tuple(wanted)), source.span(found[0]))] if len(found) == 1 else []


def explain_empty_map(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """A convolution or pooling whose window is larger than what it is moved over."""
    shape = lengths_of(match[1])
    kernel = re.search(r"`(?:kernel shape|pool_size)=[(\[]([\d, ]+)[)\]]", words)
    window = "" if kernel is None else f" with a window of {kernel[1].strip()}"
    return problem(
        "GT116",
        f"nothing is left of an input of shape {text_of(shape)}{window}: the output would have no elements",
        spans=[site.span],
        notes=["each convolution with padding='valid' takes kernel size - 1 off, each pooling halves the size"],
        fixes=['padding="same" keeps the size; or fewer layers of pooling, or smaller windows'],
    )


def explain_input_count(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """A model with several inputs that was given another number of them."""
    layer, wanted, given = match[1], int(match[2]), int(match[3])
    one = "a list of arrays, model([a, b])" if wanted > 1 else "one array"
    return problem(
        "GT116",
        f"{layer!r} takes {wanted} input{'s' if wanted > 1 else ''}, and gets {given}",
        spans=[site.span],
        fixes=[f"give it {one}, in the order of its inputs"],
    )


def explain_cardinality(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """Data and labels of different numbers of examples."""
    counts = re.findall(r"'(\w+)' sizes: ([\d, ]+)", words)
    listed = " and ".join(f"{count.strip()} in {name}" for name, count in counts)
    return problem(
        "GT118",
        f"fit gets different numbers of examples: {listed}",
        spans=[site.span],
        fixes=["split or slice data and labels together: x[:n], y[:n]"],
    )


def explain_new_variables(site: UserExpression, match: re.Match[str], words: str) -> Problem | None:
    """A variable, or a layer, that is made each time a traced function is called."""
    return problem(
        "GT513",
        "a variable is made in each call: a tf.function can only make variables when it is called for the first time",
        spans=[site.span],
        consequence="what is made anew in each call starts from its initial values each time, and never learns",
        fixes=["make layers and variables once, in __init__ or before the function, and call them here"],
    )


_SHAPE = r"[(\[]([^()\[\]]*)[)\]]"
PATTERNS: tuple[tuple[str, Callable[[UserExpression, re.Match[str], str], Problem | None]], ...] = (
    (r"`Concatenate` layer requires inputs with matching shapes.*?input_shape=(\[.*\])", explain_concatenate),
    (rf"Inputs have incompatible shapes\. Received shapes {_SHAPE} and {_SHAPE}", explain_merge),
    (rf"Cannot broadcast shape, the failure dim.*?Input shapes are: {_SHAPE} and {_SHAPE}", explain_merge),
    (rf"Inner dimensions .*?`?x1\.shape={_SHAPE}`? and `?x2\.shape={_SHAPE}", explain_product),
    (rf"Incompatible input shapes: axis values.*?Full input shapes: {_SHAPE}, {_SHAPE}", explain_product),
    (rf"total size of the tensor must be unchanged.*?input_shape={_SHAPE}, \w+={_SHAPE}", explain_reshape),
    (rf"Computed output size would be .*?`inputs[ .]shape={_SHAPE}", explain_empty_map),
    (r'Layer "([^"]+)" expects (\d+) (?:named )?input\(s\).*?but it received (\d+) input', explain_input_count),
    (r"Data cardinality is ambiguous", explain_cardinality),
    (r"tf\.function only supports singleton tf\.Variables created on the first call", explain_new_variables),
)
"""The messages of Keras, and who explains them."""


__all__ = ["PATTERNS", "UNKNOWN", "lengths_of", "text_of"]
