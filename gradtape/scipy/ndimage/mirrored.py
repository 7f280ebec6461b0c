"""The module that `gradtape.scipy.ndimage` mirrors, and how its functions read their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import one_axis
from gradtape.mirror import Original
from gradtape.scipy.arraylike import as_array, is_tensor, refusal

original = Original("scipy.ndimage")


def as_image(name: str, input: Any, *others: Any) -> Any:
    """`input` as an array; one of whole numbers is refused if other arguments are tensors, as the result would be."""
    image = as_array(input)
    if image.dtype.kind not in "fc" and is_tensor(*others):
        raise refusal(
            f"{name}: input is of {image.dtype}, so that the result would be of whole numbers, without a gradient.",
            "input.astype(float)",
        )
    return image


def as_output(name: str, output: Any, result: Any, dtype: Any) -> Any:
    """The result in the dtype that `output` asks for, or in that of the input."""
    if isinstance(output, np.ndarray) or is_tensor(output):
        raise refusal(
            f"{name}: output is an array; with tensors only None and dtypes are accepted.",
            f"result = {name}(...), which is a tensor",
        )
    wanted = np.dtype(dtype if output is None else output)
    if wanted.kind not in "fc":
        result = result.astype(wanted) if output is None else np.trunc(result).astype(wanted)
    return result if result.dtype == wanted else result.astype(wanted)


def chosen_axes(axes: Any, ndim: int) -> list[int]:
    """The axes to filter along; all of them for None."""
    if axes is None:
        return list(range(ndim))
    several: Any = (axes,) if isinstance(axes, int | np.integer) else axes
    return [one_axis(axis, ndim) for axis in several]


def for_each(value: Any, count: int, called: str) -> list[Any]:
    """A value for each of the axes, from one for all or a sequence."""
    if isinstance(value, str) or value is None or (not isinstance(value, list | tuple) and np.ndim(value) == 0):
        return [value] * count
    values = [value[k] for k in range(len(value))]
    if len(values) != count:
        raise refusal(f"{called}: {len(values)} values for {count} axes.", f"one, or {count}", ShapeError)
    return values
