"""`tf.strings`: the common functions of strings, which have no gradient. Strings are bytes, as in TensorFlow."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.arrays import convert_to_tensor
from gradtape_standins.tensorflow.conversion import Holder, integers, value_of
from gradtape_standins.tensorflow.errors import check_supported, invalid
from gradtape_standins.tensorflow.printing import written
from gradtape_standins.tensorflow.ragged import RaggedTensor
from gradtape_standins.tensorflow.tensor import wrap


def _bytes(x: Any, what: str) -> Any:
    array = np.asarray(concrete(value_of(x)))
    if array.dtype != object:
        raise invalid(
            f"strings.{what}: strings are wanted; this is {dtypes.as_dtype(array.dtype).name}", "tf.as_string(x)"
        )
    return array


def _each(x: Any, function: Callable[[bytes], Any], what: str, dtype: Any = object) -> Any:
    """`function` of each string."""
    array = _bytes(x, what)
    flat = np.empty(array.size, dtype)
    flat[:] = [function(one) for one in array.ravel().tolist()]
    return wrap(gt.Tensor(flat.reshape(array.shape)))


def lower(input: Any, encoding: str = "", name: Any = None) -> Any:
    """In small letters.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.strings.lower(["Ab", "C"]).numpy()
    array([b'ab', b'c'], dtype=object)
    """
    return _each(input, bytes.lower, "lower")


def upper(input: Any, encoding: str = "", name: Any = None) -> Any:
    """In capitals."""
    return _each(input, bytes.upper, "upper")


def strip(input: Any, name: Any = None) -> Any:
    """Without spaces at the ends."""
    return _each(input, bytes.strip, "strip")


def length(input: Any, unit: str = "BYTE", name: Any = None) -> Any:
    """The number of bytes or characters."""
    if unit == "UTF8_CHAR":
        return _each(input, lambda s: len(s.decode()), "length", np.int32)
    return _each(input, len, "length", np.int32)


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: Any = None) -> Any:
    """`len` bytes from `pos` on."""
    check_supported("tf.strings.substr", unit=(unit, "BYTE"))
    start, size = integers(pos), integers(len)
    return _each(input, lambda s: s[start : (start + size) or None] if start < 0 else s[start : start + size], "substr")


def regex_replace(input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: Any = None) -> Any:
    """Matches of a pattern replaced."""
    expression = re.compile(pattern.encode())
    return _each(input, lambda s: expression.sub(rewrite.encode(), s, 0 if replace_global else 1), "regex_replace")


def regex_full_match(input: Any, pattern: str, name: Any = None) -> Any:
    """Whether a pattern matches the whole string."""
    expression = re.compile(pattern.encode())
    return _each(input, lambda s: expression.fullmatch(s) is not None, "regex_full_match", bool)


def to_number(input: Any, out_type: Any = dtypes.float32, name: Any = None) -> Any:
    """Strings as numbers."""
    kind = dtypes.numpy_of(out_type)
    try:
        return _each(input, float if kind.kind == "f" else int, "to_number", kind)
    except ValueError:
        raise invalid("StringToNumberOp could not correctly convert string: there is one that is no number") from None


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: Any = None,
) -> Any:
    """Numbers as strings."""
    check_supported("tf.strings.as_string", scientific=(scientific, False), shortest=(shortest, False))
    check_supported("tf.strings.as_string", width=(width, -1), fill=(fill, ""))
    array = np.asarray(concrete(value_of(input)))
    digits = 6 if precision < 0 else precision

    def shown(x: Any) -> bytes:
        text = f"{x:.{digits}f}" if isinstance(x, float) else str(x).lower() if isinstance(x, bool) else str(x)
        return text.encode()

    flat = np.empty(array.size, object)
    flat[:] = [shown(x) for x in array.ravel().tolist()]
    return wrap(gt.Tensor(flat.reshape(array.shape)))


def join(inputs: Any, separator: str = "", name: Any = None) -> Any:
    """The strings of several tensors joined, place by place."""
    parts = np.broadcast_arrays(*(_bytes(convert_to_tensor(x), "join") for x in inputs))
    flat = np.empty(parts[0].size, object)
    flat[:] = [separator.encode().join(row) for row in zip(*(part.ravel().tolist() for part in parts))]
    return wrap(gt.Tensor(flat.reshape(parts[0].shape)))


def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: Any = None) -> Any:
    """All strings joined, or those along an axis."""
    array = _bytes(convert_to_tensor(inputs), "reduce_join")
    glue = separator.encode()
    if axis is None:
        joined = np.empty((), object)
        joined[()] = glue.join(array.ravel().tolist())
        return wrap(gt.Tensor(joined))
    moved = np.moveaxis(array, integers(axis), -1)
    flat = np.empty(int(np.prod(moved.shape[:-1])), object)
    flat[:] = [glue.join(row.tolist()) for row in moved.reshape(-1, moved.shape[-1])]
    made = flat.reshape(moved.shape[:-1])
    return wrap(gt.Tensor(np.expand_dims(made, integers(axis)) if keepdims else made))


def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: Any = None) -> Any:
    """A text with the values of tensors in it."""
    given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    text = template
    for one in given:
        text = text.replace(placeholder, written(one, summarize), 1)
    return convert_to_tensor(text)


def _pieces(input: Any, function: Callable[[bytes], list[bytes]], what: str) -> Any:
    """The pieces of one string, or rows of pieces of several."""
    array = _bytes(convert_to_tensor(input) if not isinstance(input, Holder) else input, what)
    rows = [function(one) for one in array.ravel().tolist()]
    flat = np.empty(sum(len(row) for row in rows), object)
    flat[:] = [piece for row in rows for piece in row]
    values = wrap(gt.Tensor(flat))
    return values if array.ndim == 0 else RaggedTensor.from_row_lengths(values, [len(row) for row in rows])


def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: Any = None) -> Any:
    """Parts between separators; a RaggedTensor for more than one string."""
    between = None if not sep else sep.encode()
    return _pieces(input, lambda s: s.split(between, maxsplit), "split")


def bytes_split(input: Any, name: Any = None) -> Any:
    """Single bytes; a RaggedTensor for more than one string."""
    return _pieces(input, lambda s: [s[n : n + 1] for n in range(len(s))], "bytes_split")


def unicode_split(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533, name: Any = None
) -> Any:
    """Single characters; a RaggedTensor for more than one string."""
    check_supported("tf.strings.unicode_split", input_encoding=(input_encoding, "UTF-8", "utf-8"))
    check_supported("tf.strings.unicode_split", replacement_char=(replacement_char, 65533))
    return _pieces(input, lambda s: [c.encode() for c in s.decode("utf-8", errors)], "unicode_split")


__all__ = ["as_string", "bytes_split", "format", "join", "length", "lower", "reduce_join", "regex_full_match"]
__all__ += ["regex_replace", "split", "strip", "substr", "to_number", "unicode_split", "upper"]
__getattr__ = missing(__name__)
