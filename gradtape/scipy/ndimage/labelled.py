"""Measurements of the parts of an image that labels mark: sums, means, variances, extremes, centres."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import concrete
from gradtape.ops.indexing import scatter
from gradtape.scipy.arraylike import as_array, as_constant, as_floating, is_tensor, refusal
from gradtape.scipy.ndimage.mirrored import original


class Parts:
    """The elements of an image that count, and which of the wanted parts each belongs to."""

    def __init__(self, name: str, input: Any, labels: Any, index: Any) -> None:
        image = as_floating(input)
        labels = None if labels is None else as_constant(labels, f"{name}: labels")
        index = None if index is None else as_constant(index, f"{name}: index")
        self.image = image
        self.is_single = labels is None or index is None or np.ndim(index) == 0
        self.shape: tuple[int, ...] = () if self.is_single else np.shape(index)
        if labels is None:
            if index is not None:
                raise refusal(f"{name}: index without labels.", "labels, or index=None")
            marks = np.zeros(image.shape, int)
        else:
            try:
                labels = np.broadcast_to(labels, image.shape)
            except ValueError:
                raise refusal(
                    f"{name}: labels of shape {np.shape(labels)} for an image of shape {image.shape}.",
                    "labels of the shape of the image",
                    ShapeError,
                ) from None
            if index is None:
                marks = np.where(labels > 0, 0, -1)
            else:
                wanted, places = np.unique(np.ravel(index), return_inverse=True)
                at = np.minimum(np.searchsorted(wanted, labels), len(wanted) - 1)
                marks = np.where(wanted[at] == labels, at, -1)
                self.places = places
        self.marks = marks.reshape(-1)
        self.used = np.nonzero(self.marks >= 0)[0]
        self.number = int(self.marks.max(initial=0)) + 1 if index is None or labels is None else len(wanted)
        self.counts = np.bincount(self.marks[self.used], minlength=self.number)

    @property
    def values(self) -> Any:
        """The elements that count, in a row."""
        return self.image.reshape((-1,))[self.used]

    def sums(self, values: Any) -> Any:
        """The sum of values, one for each element that counts, over each part."""
        return scatter(values, index=(self.marks[self.used],), shape=(self.number,))

    def arranged(self, found: Any) -> Any:
        """A number for each part, in the order and shape of `index`."""
        if self.is_single:
            return found[0]
        return found[self.places].reshape(self.shape)

    def members(self, part: int) -> Any:
        """The elements of a part."""
        return self.image.reshape((-1,))[np.nonzero(self.marks == part)[0]]


@original.differentiated
def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The sum of the elements of each part.

    >>> import gradtape as gt
    >>> from gradtape.scipy.ndimage import sum_labels
    >>> sum_labels(gt.tensor([1.0, 2.0, 4.0]), [1, 2, 1], index=[1, 2])
    Tensor([5., 2.])
    """
    parts = Parts("sum_labels", input, labels, index)
    return parts.arranged(parts.sums(parts.values))


@original.differentiated
def sum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The former name of `sum_labels`."""
    return sum_labels(input, labels, index)


def _means(parts: Parts) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        return parts.sums(parts.values) / parts.counts


def _variances(parts: Parts) -> Any:
    apart = parts.values - _means(parts)[parts.marks[parts.used]]
    with np.errstate(invalid="ignore", divide="ignore"):
        return parts.sums(np.real(apart * np.conj(apart))) / parts.counts


@original.differentiated
def mean(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The mean of the elements of each part."""
    parts = Parts("mean", input, labels, index)
    return parts.arranged(_means(parts))


@original.differentiated
def variance(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The variance of the elements of each part."""
    parts = Parts("variance", input, labels, index)
    return parts.arranged(_variances(parts))


@original.differentiated
def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The standard deviation of the elements of each part."""
    parts = Parts("standard_deviation", input, labels, index)
    return parts.arranged(np.sqrt(_variances(parts)))


def _chosen(name: str, choose: Any, input: Any, labels: Any, index: Any) -> Any:
    """One element of each part, or 0 for a part without elements."""
    parts = Parts(name, input, labels, index)
    found = [choose(parts.members(part)) if parts.counts[part] else np.zeros(()) for part in range(parts.number)]
    return parts.arranged(np.stack(found))


@original.differentiated
def minimum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The least element of each part."""
    return _chosen("minimum", np.min, input, labels, index)


@original.differentiated
def maximum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The greatest element of each part."""
    return _chosen("maximum", np.max, input, labels, index)


@original.differentiated
def median(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The median of each part."""
    return _chosen("median", np.median, input, labels, index)


@original.differentiated
def extrema(input: Any, labels: Any = None, index: Any = None) -> tuple[Any, Any, Any, Any]:
    """The least and the greatest element of each part, and their positions, which have no gradient."""
    least, greatest = minimum(input, labels, index), maximum(input, labels, index)
    numbers = concrete(input) if is_tensor(input) else concrete(as_array(input))
    return least, greatest, *original.contents.extrema(numbers, labels, index)[2:]


@original.differentiated
def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The centre of mass of each part: a tuple of coordinates, or a list of such tuples.

    >>> import gradtape as gt
    >>> from gradtape.scipy.ndimage import center_of_mass
    >>> center_of_mass(gt.tensor([[0.0, 0.0], [1.0, 3.0]]))
    (Tensor(1.), Tensor(0.75))
    """
    parts = Parts("center_of_mass", input, labels, index)
    shape = as_array(input).shape
    weights = parts.values
    total = parts.sums(weights)
    places = np.unravel_index(parts.used, shape)
    centres = [parts.arranged(parts.sums(weights * place) / total) for place in places]
    if parts.is_single:
        return tuple(centres)
    flat = [centre.reshape((-1,)) for centre in centres]
    return [tuple(centre[k] for centre in flat) for k in range(int(np.prod(parts.shape)))]
