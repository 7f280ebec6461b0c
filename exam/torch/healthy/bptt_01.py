"""Truncated backpropagation through time: the hidden state is detached at the start of each chunk."""

import torch
from torch import nn

torch.manual_seed(0)
series = torch.sin(torch.linspace(0, 12, 81)).reshape(1, 81, 1)
rnn = nn.LSTM(1, 8, batch_first=True)
readout = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *readout.parameters()], lr=1e-2)

losses = []
for epoch in range(3):
    hidden = None
    for start in range(0, 80, 20):
        if hidden is not None:
            hidden = tuple(h.detach() for h in hidden)
        output, hidden = rnn(series[:, start : start + 20], hidden)
        loss = nn.functional.mse_loss(readout(output), series[:, start + 1 : start + 21])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
assert losses[-1] < losses[0]
assert all(p.grad is not None for p in rnn.parameters())
