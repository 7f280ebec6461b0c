"""Peaks: their places are whole numbers, found in the numbers; heights, prominences and widths are differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal

from gradtape.extend import concrete
from gradtape.ops.elementwise import maximum, where
from gradtape.scipy.arraylike import as_array, as_floating, is_tensor
from gradtape.scipy.signal.mirrored import original


def _numbers(value: Any) -> Any:
    """A tensor, or a pair of limits with tensors among them, as SciPy takes it."""
    if isinstance(value, list | tuple):
        return type(value)([_numbers(element) for element in value])
    return concrete(value) if is_tensor(value) else value


def _prominences(x: Any, peaks: Any, left_bases: Any, right_bases: Any) -> Any:
    return x[peaks] - maximum(x[left_bases], x[right_bases])


def _widths(x: Any, peaks: Any, prominences: Any, rel_height: Any, left: Any, right: Any) -> tuple[Any, Any, Any, Any]:
    """Widths, their heights and the two ends; `left` and `right` are the numbers of the ends.

    An end lies between samples i and j: i + (h - x[i]) / (x[j] - x[i]) with the height h, or is a sample.
    """
    height = x[peaks] - prominences * rel_height
    before, after = np.floor(left).astype(int), np.ceil(right).astype(int)
    ends = []
    for outer, step, is_between in ((before, 1, left > before), (after, -1, right < after)):
        inner = np.where(is_between, outer + step, outer)
        slope = where(is_between, x[inner] - x[outer], 1.0)
        ends.append(outer + step * where(is_between, (height - x[outer]) / slope, 0.0))
    return ends[1] - ends[0], height, ends[0], ends[1]


@original.differentiated
def find_peaks(
    x: Any,
    height: Any = None,
    threshold: Any = None,
    distance: Any = None,
    prominence: Any = None,
    width: Any = None,
    wlen: Any = None,
    rel_height: Any = 0.5,
    plateau_size: Any = None,
) -> Any:
    """The places of the peaks, and their properties, which are differentiated by `x`.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import find_peaks
    >>> gt.grad(lambda x: find_peaks(x, prominence=0.5)[1]["prominences"].sum())(gt.tensor([0.0, 2.0, 1.0, 1.5]))
    Tensor([ 0.,  1., -1.,  0.])
    """
    x = as_floating(x)
    limits = [_numbers(each) for each in (height, threshold, distance, prominence, width, wlen)]
    peaks, found = scipy.signal.find_peaks(_numbers(x), *limits, _numbers(rel_height), _numbers(plateau_size))
    properties = dict(found)
    if "peak_heights" in found:
        properties["peak_heights"] = x[peaks]
    if "left_thresholds" in found:
        properties["left_thresholds"] = x[peaks] - x[peaks - 1]
        properties["right_thresholds"] = x[peaks] - x[peaks + 1]
    if "prominences" in found:
        properties["prominences"] = _prominences(x, peaks, found["left_bases"], found["right_bases"])
    if "widths" in found:
        names = ("widths", "width_heights", "left_ips", "right_ips")
        ends = found["left_ips"], found["right_ips"]
        properties.update(zip(names, _widths(x, peaks, properties["prominences"], rel_height, *ends), strict=True))
    return peaks, properties


@original.differentiated
def peak_prominences(x: Any, peaks: Any, wlen: Any = None) -> Any:
    """The prominences of peaks, which are differentiated, and the places of their bases.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import peak_prominences
    >>> peak_prominences(gt.tensor([0.0, 2.0, 1.0, 1.5, 0.5]), [3])[0]
    Tensor([0.5])
    """
    x, peaks = as_floating(x), _numbers(as_array(peaks))
    _, left, right = scipy.signal.peak_prominences(_numbers(x), peaks, _numbers(wlen))
    return _prominences(x, peaks, left, right), left, right


@original.differentiated
def peak_widths(x: Any, peaks: Any, rel_height: Any = 0.5, prominence_data: Any = None, wlen: Any = None) -> Any:
    """Widths of peaks, the heights at which they are measured, and where they begin and end.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import peak_widths
    >>> peak_widths(gt.tensor([0.0, 2.0, 0.0]), [1])[0]
    Tensor([1.])
    """
    x, peaks = as_floating(x), _numbers(as_array(peaks))
    if prominence_data is None:
        prominence_data = peak_prominences(x, peaks, wlen)
    ends = scipy.signal.peak_widths(_numbers(x), peaks, _numbers(rel_height), _numbers(tuple(prominence_data)))[2:]
    return _widths(x, peaks, prominence_data[0], rel_height, *ends)
