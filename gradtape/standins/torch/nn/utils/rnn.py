"""`torch.nn.utils.rnn`: sequences of different lengths in one tensor, and out of it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradtape as gt
from gradtape.standins.names import missing
from gradtape.standins.torch.errors import translating
from gradtape.standins.torch.tensor import Tensor, wrap

__all__ = ["pad_sequence", "unpad_sequence"]


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences beside each other, the shorter ones filled up.

    >>> from gradtape.standins import torch
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


__getattr__ = missing(
    __name__,
    reasons=dict.fromkeys(
        ("pack_padded_sequence", "pad_packed_sequence", "pack_sequence", "PackedSequence"),
        "recurrent layers take padded tensors here.\n  fix: pad_sequence, and a mask for the loss",
    ),
)
