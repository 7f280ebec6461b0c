"""`tf.debugging`: assertions that say what they found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.conversion import integers, value_of
from gradtape_standins.tensorflow.errors import explained, invalid
from gradtape_standins.tensorflow.tensor import TensorLike, documented, wrap


def _array(x: Any) -> Any:
    return np.asarray(concrete(value_of(x)))


def _failed(condition: str, message: Any, places: Any, *arrays: Any) -> Exception:
    """The error for an assertion that does not hold at `places`; it shows the first one."""
    text = f"{message}: " if message else ""
    count = int(np.count_nonzero(places))
    first = tuple(int(i) for i in np.argwhere(np.atleast_1d(places))[0]) if np.ndim(places) else ()
    shown = ", ".join(
        f"{name} = {np.broadcast_to(array, np.shape(places))[first]}" for name, array in zip("xy", arrays)
    )
    return invalid(f"{text}Condition {condition} did not hold at {count} of {np.size(places)} places; first: {shown}")


def _comparison(name: str, sign: str, holds: Callable[..., Any]) -> Callable[..., Any]:
    def check(x: Any, y: Any, message: Any = None, summarize: Any = None, name: str | None = None) -> None:
        one, other = _array(x), _array(y)
        if not np.all(good := holds(one, other)):
            raise _failed(f"x {sign} y", message, ~np.asarray(good), one, other)

    return documented(check, name, f"Raise InvalidArgumentError unless x {sign} y everywhere.", "")


def _sign(name: str, sign: str, holds: Callable[..., Any]) -> Callable[..., Any]:
    def check(x: Any, message: Any = None, summarize: Any = None, name: str | None = None) -> None:
        one = _array(x)
        if not np.all(good := holds(one, 0)):
            raise _failed(f"x {sign} 0", message, ~np.asarray(good), one)

    return documented(check, name, f"Raise InvalidArgumentError unless x {sign} 0 everywhere.", "")


assert_equal = _comparison("assert_equal", "==", np.equal)
assert_none_equal = _comparison("assert_none_equal", "!=", np.not_equal)
assert_less = _comparison("assert_less", "<", np.less)
assert_less_equal = _comparison("assert_less_equal", "<=", np.less_equal)
assert_greater = _comparison("assert_greater", ">", np.greater)
assert_greater_equal = _comparison("assert_greater_equal", ">=", np.greater_equal)
assert_positive = _sign("assert_positive", ">", np.greater)
assert_negative = _sign("assert_negative", "<", np.less)
assert_non_negative = _sign("assert_non_negative", ">=", np.greater_equal)
assert_non_positive = _sign("assert_non_positive", "<=", np.less_equal)


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: Any = None,
    summarize: Any = None,
    name: str | None = None,
) -> None:
    """Raise InvalidArgumentError unless x and y are near each other everywhere."""
    one, other = _array(x), _array(y)
    unit = 10 * np.finfo(one.dtype if one.dtype.kind == "f" else np.float32).eps
    bound = (unit if atol is None else _array(atol)) + (unit if rtol is None else _array(rtol)) * np.abs(other)
    good = np.abs(one - other) <= bound
    if not np.all(good):
        raise _failed("x near y", message, ~np.asarray(good), one, other)


def Assert(condition: Any, data: Any, summarize: Any = None, name: str | None = None) -> None:
    """Raise InvalidArgumentError unless `condition` is true."""
    if not np.all(_array(condition)):
        shapes = ", ".join(str(np.shape(_array(part))) for part in data)
        raise invalid(f"Expected the condition to be true. Data of shapes: {shapes}")


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """`tensor`, which must be finite everywhere."""
    value = value_of(tensor)
    array = concrete(value)
    for what, found in (("NaN", np.isnan(array)), ("Inf", np.isinf(array))):
        if np.any(found):
            raise invalid(f"{message} : Tensor had {what} values ({int(np.count_nonzero(found))} of {array.size})")
    return wrap(gt.identity(value))


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """`x`, which must be finite everywhere."""
    return check_numerics(x, message)


def assert_shapes(
    shapes: Any, data: Any = None, summarize: Any = None, message: Any = None, name: str | None = None
) -> None:
    """Raise ValueError unless each tensor has its shape; the same letter stands for the same length everywhere."""
    sizes: dict[str, int] = {}
    for tensor, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        found = value_of(tensor.deref() if hasattr(tensor, "deref") else tensor).shape
        wanted = list(wanted)
        if len(found) != len(wanted):
            raise ValueError(explained(f"{message or 'assert_shapes'}: the shape is {found}; {wanted} is wanted"))
        for length, symbol in zip(found, wanted):
            expected = sizes.setdefault(symbol, length) if isinstance(symbol, str) else symbol
            if expected is not None and expected != length:
                raise ValueError(explained(f"{message or 'assert_shapes'}: the shape is {found}; {wanted} is wanted"))


def assert_rank(x: Any, rank: Any, message: Any = None, name: str | None = None) -> None:
    """Raise ValueError unless `x` has `rank` axes."""
    shape = value_of(x).shape
    if len(shape) != integers(rank):
        raise ValueError(explained(f"{message or 'assert_rank'}: {integers(rank)} axes wanted; the shape is {shape}"))


def assert_rank_at_least(x: Any, rank: Any, message: Any = None, name: str | None = None) -> None:
    """Raise ValueError unless `x` has at least `rank` axes."""
    shape = value_of(x).shape
    if len(shape) < integers(rank):
        raise ValueError(
            explained(
                f"{message or 'assert_rank_at_least'}: at least {integers(rank)} axes wanted; the shape is {shape}"
            )
        )


def assert_type(tensor: Any, tf_type: Any, message: Any = None, name: str | None = None) -> None:
    """Raise TypeError unless `tensor` has this dtype."""
    if dtypes.as_dtype(value_of(tensor).dtype) != tf_type:
        raise TypeError(explained(f"{message or 'assert_type'}: {tf_type!r} wanted; this is {tensor.dtype!r}"))


def assert_integer(x: Any, message: Any = None, name: str | None = None) -> None:
    """Raise TypeError unless `x` holds integers."""
    if value_of(x).dtype.kind not in "iu":
        raise TypeError(explained(f"{message or 'assert_integer'}: integers wanted; this is {value_of(x).dtype}"))


def assert_scalar(tensor: Any, message: Any = None, name: str | None = None) -> None:
    """Raise ValueError unless `tensor` is one number."""
    assert_rank(tensor, 0, message or "assert_scalar")


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """Raise ValueError unless all tensors have one floating dtype, which is returned."""
    found = {dtypes.as_dtype(value_of(t).dtype) for t in tensors or ()} | ({dtypes.as_dtype(dtype)} if dtype else set())
    if len(found) > 1 or any(not d.is_floating for d in found):
        raise ValueError(explained(f"one floating dtype is wanted; got {', '.join(sorted(d.name for d in found))}"))
    return next(iter(found), dtypes.float32)


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a tensor of numbers."""
    return isinstance(tensor, TensorLike) and tensor._value.dtype.kind in "fciu"


def enable_check_numerics(*args: Any, **kwargs: Any) -> None:
    """Not there: gradtape has it as a block."""
    raise NotImplementedError(
        explained(
            "tf.debugging.enable_check_numerics is not in this stand-in",
            "import gradtape as gt; with gt.check_numerics(): ... raises at the operation that made a NaN",
        )
    )


__all__ = ["Assert", "assert_all_finite", "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer"]
__all__ += ["assert_less", "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative"]
__all__ += ["assert_non_positive", "assert_none_equal", "assert_positive", "assert_rank", "assert_rank_at_least"]
__all__ += ["assert_same_float_dtype", "assert_scalar", "assert_shapes", "assert_type", "check_numerics"]
__all__ += ["enable_check_numerics", "is_numeric_tensor"]
__getattr__ = missing(__name__)
