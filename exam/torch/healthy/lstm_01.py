"""Sequences of different length, packed for an LSTM that classifies by its last hidden state."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

torch.manual_seed(0)
lengths = torch.tensor([7, 5, 4, 2])
sequences = pad_sequence([torch.randn(n, 3) for n in lengths.tolist()], batch_first=True)
labels = torch.tensor([0, 1, 1, 0])

lstm, classify = nn.LSTM(3, 10, batch_first=True), nn.Linear(10, 2)
optimizer = torch.optim.Adam([*lstm.parameters(), *classify.parameters()], lr=0.02)
losses = []
for epoch in range(10):
    packed = pack_padded_sequence(sequences, lengths, batch_first=True)
    _, (hidden, _) = lstm(packed)
    loss = nn.functional.cross_entropy(classify(hidden[-1]), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
