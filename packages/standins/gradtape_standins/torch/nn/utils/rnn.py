"""`torch.nn.utils.rnn`: sequences of different lengths in one tensor, and out of it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.indexing import index_select
from gradtape_standins.torch.joining import cat
from gradtape_standins.torch.tensor import Tensor, wrap
from gradtape_standins.torch.wrapping import labelled

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences beside each other, the shorter ones filled up.

    >>> from gradtape_standins import torch
    >>> torch.nn.utils.rnn.pad_sequence([torch.ones(2), torch.ones(1)], batch_first=True)
    tensor([[1., 1.],
            [1., 0.]])
    """
    longest = max(len(sequence) for sequence in sequences)
    with translating():
        rows = []
        for sequence in sequences:
            missing_steps = longest - len(sequence)
            widths = [(0, missing_steps) if padding_side == "right" else (missing_steps, 0)]
            widths += [(0, 0)] * (sequence.ndim - 1)
            rows.append(gt.pad(sequence._value, widths, constant_values=padding_value))
        padded: Tensor = wrap(gt.stack(rows, axis=0 if batch_first else 1), "PadSequenceBackward0")
    return padded


def unpad_sequence(padded_sequences: Tensor, lengths: Any, batch_first: bool = False) -> list[Tensor]:
    """The sequences that `pad_sequence` has filled up."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(length)] for row, length in zip(rows, lengths, strict=True)]


class PackedSequence(NamedTuple):
    """Sequences of different lengths without what fills them up: the first elements of all, then the second ones ..."""

    data: Any
    batch_sizes: Any
    sorted_indices: Any = None
    unsorted_indices: Any = None

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """In another type."""
        return self._replace(data=self.data.to(*args, **kwargs))

    def cpu(self) -> PackedSequence:
        """The sequences themselves: they are on the CPU."""
        return self

    @property
    def is_cuda(self) -> bool:
        """False: they are on the CPU."""
        return False


def invert_permutation(permutation: Tensor | None) -> Any:
    """The order that undoes an order."""
    return None if permutation is None else wrap(np.argsort(permutation._numbers))


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Sequences that were filled up, without what fills them up."""
    known = np.asarray(lengths._numbers if isinstance(lengths, Tensor) else lengths).astype(np.int64)
    steps = input if not batch_first else input.transpose(0, 1)
    if known.shape != (steps.shape[1],) or not known.size:
        raise RuntimeError(
            f"pack_padded_sequence: {known.size} lengths for {steps.shape[1]} sequences; one for each is accepted.\n"
            "  fix: batch_first=True if sequences come first"
        )
    if known.min() <= 0:
        raise RuntimeError("pack_padded_sequence: lengths have to be above 0")
    order = None
    if not enforce_sorted:
        order = np.argsort(-known, kind="stable")
        known, steps = known[order], index_select(steps, 1, wrap(order))
    elif (np.diff(known) > 0).any():
        raise RuntimeError(
            "pack_padded_sequence: `lengths` has to be sorted in decreasing order when `enforce_sorted` is True.\n"
            "  fix: enforce_sorted=False"
        )
    sizes = np.array([(known > time).sum() for time in range(known.max())], np.int64)
    data = cat([steps[time, :size] for time, size in enumerate(sizes.tolist())])
    placed = None if order is None else wrap(order)
    return PackedSequence(
        labelled(data, "PackPaddedSequenceBackward0"), wrap(sizes), placed, invert_permutation(placed)
    )


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences of different lengths, packed."""
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def pack_again(padded: Tensor, like: PackedSequence, batch_first: bool) -> PackedSequence:
    """What was computed from packed sequences and filled up, packed in the same way."""
    lengths = _lengths(like)
    if like.unsorted_indices is not None:
        lengths = lengths[like.unsorted_indices._numbers]
    packed = pack_padded_sequence(padded, lengths, batch_first, enforce_sorted=False)
    return like._replace(data=packed.data)


def _lengths(packed: PackedSequence) -> Any:
    """The lengths of the sequences, in the order in which they are packed."""
    sizes = packed.batch_sizes._numbers
    return (sizes[:, None] > np.arange(sizes[0])).sum(axis=0)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Packed sequences filled up again, and their lengths."""
    sizes, lengths = sequence.batch_sizes._numbers, _lengths(sequence)
    if total_length is not None and total_length < len(sizes):
        raise ValueError(
            f"Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {len(sizes)}"
        )
    starts = np.cumsum(sizes) - sizes
    rows = [sequence.data[wrap(starts[:length] + place)] for place, length in enumerate(lengths)]
    if total_length is not None:
        rows = [*rows, sequence.data[:1].expand((total_length, *sequence.data.shape[1:]))]
    padded: Any = pad_sequence(rows, batch_first, padding_value)
    if total_length is not None:
        padded = padded[:-1] if batch_first else padded[:, :-1]
    if sequence.unsorted_indices is not None:
        back = sequence.unsorted_indices
        padded, lengths = index_select(padded, 0 if batch_first else 1, back), lengths[back._numbers]
    return padded, wrap(lengths)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


__getattr__ = missing(__name__)
