"""Sequences of different lengths: packed, through recurrent layers, and filled up again."""

import torch
from torch import nn
from torch.nn.utils.rnn import (
    invert_permutation,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
)


def filled(module):
    """Numbers that do not depend on a generator."""
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            count = parameter.numel()
            parameter.copy_(torch.sin(torch.arange(count) + number).reshape(parameter.shape) * 0.5)
    return module


rows = [torch.arange(1.0, 5.0), torch.arange(1.0, 3.0), torch.arange(1.0, 4.0)]
padded, lengths = pad_sequence(rows, batch_first=True), torch.tensor([4, 2, 3])
packed = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
print(packed)
print(pad_packed_sequence(packed, batch_first=True))
print(pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=6)[0])
print([row.tolist() for row in unpack_sequence(packed)], invert_permutation(torch.tensor([2, 0, 1])))
batch = torch.sin(torch.arange(24.0)).reshape(3, 4, 2)
for kind in (nn.RNN, nn.GRU, nn.LSTM):
    layer = filled(kind(2, 3, batch_first=True))
    output, state = layer(pack_padded_sequence(batch, lengths, batch_first=True, enforce_sorted=False))
    print(pad_packed_sequence(output, batch_first=True)[0], state)
layer = filled(nn.LSTM(2, 3, num_layers=2, bidirectional=True))
output, (hidden, cell) = layer(pack_padded_sequence(batch.transpose(0, 1), lengths, enforce_sorted=False))
filled_up, _ = pad_packed_sequence(output)
print(filled_up.shape, filled_up[:, 1], hidden[:, 1], cell[:, 1])
filled_up.pow(2).sum().backward()
print(layer.weight_ih_l0.grad, layer.weight_hh_l1_reverse.grad[:2])
output, hidden = filled(nn.GRU(2, 3))(pack_sequence([batch[0], batch[1][:2]]), torch.ones(1, 2, 3))
print(output.data, output.batch_sizes, hidden)
for wrong in ([2, 4, 3], [4, 0, 2], [4, 2]):
    try:
        pack_padded_sequence(padded, torch.tensor(wrong), batch_first=True)
    except RuntimeError as error:
        print(type(error).__name__)
