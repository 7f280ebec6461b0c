"""`scipy.stats.mstats` with gradients: of tensors, which have no mask, the functions of `gradtape.scipy.stats`.

>>> import gradtape as gt
>>> from gradtape.scipy.stats import mstats
>>> gt.grad(lambda x: mstats.winsorize(x, limits=(0.25, 0.25)).sum())(gt.tensor([1.0, 9.0, 3.0, 2.0]))
Tensor([0., 0., 2., 2.])
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from gradtape.errors import OperandError
from gradtape.extend import argument_error
from gradtape.mirror import Original
from gradtape.scipy.stats.common import original as unmasked
from gradtape.scipy.stats.samples import read_sample

original = Original("scipy.stats.mstats")

SAME = (
    *("f_oneway", "gmean", "hmean", "kurtosis", "linregress", "pearsonr", "sem", "siegelslopes", "skew", "theilslopes"),
    *("tmax", "tmean", "tmin", "tsem", "ttest_1samp", "ttest_ind", "ttest_rel", "variation", "zmap", "zscore"),
)
"""Functions that give for arrays without a mask what those of `scipy.stats` with the same name give."""


def _delegated(name: str) -> Any:
    theirs, ours = inspect.signature(getattr(original.contents, name)), unmasked.functions[name]

    def function(*args: Any, **kwargs: Any) -> Any:
        given = theirs.bind(*args, **kwargs).arguments
        if any(theirs.parameters[key].kind is inspect.Parameter.VAR_POSITIONAL for key in given):
            return ours(*args, **kwargs)
        return ours(**given)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`scipy.stats.{name}`, of tensors without a mask."
    return original.differentiated(function)


for _name in SAME:
    globals()[_name] = _delegated(_name)


@original.differentiated
def winsorize(
    a: Any,
    limits: Any = None,
    inclusive: tuple[bool, bool] = (True, True),
    inplace: bool = False,
    axis: int | None = None,
    nan_policy: str = "propagate",
) -> Any:
    """A sample whose smallest and largest numbers are replaced by those next to them; limits are shares of it."""
    sample = read_sample("mstats.winsorize", a, nan_policy)
    if inplace:
        raise argument_error(
            OperandError, "mstats.winsorize: inplace=True of a tensor.", "x = mstats.winsorize(x, ...)"
        )
    if limits is None:
        return sample
    low, high = limits if isinstance(limits, list | tuple) else (limits, limits)
    moved = sample.reshape(-1) if axis is None else np.moveaxis(sample, axis, -1)
    count = moved.shape[-1]
    cut = [
        0 if share is None else int(share * count) if whole else int(np.round(share * count))
        for share, whole in zip((low, high), inclusive, strict=True)
    ]
    order = np.argsort(moved, axis=-1)
    kept = np.clip(np.arange(count), cut[0], count - cut[1] - 1)
    ordered = np.take_along_axis(moved, order, -1)[..., kept]
    found = np.take_along_axis(ordered, np.argsort(order, axis=-1), -1)
    return found.reshape(sample.shape) if axis is None else np.moveaxis(found, -1, axis)


REASONS = {
    "is of masked arrays, and has no derivative here; what scipy.stats has under the same name may have one": " ".join(
        name for name in original.contents.__all__ if name not in original.functions
    )
}

__getattr__, __dir__, __test__ = original.module(globals(), REASONS)
