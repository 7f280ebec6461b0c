"""Truncated backpropagation with an LSTM whose pair of states is detached by a helper."""

import torch
from torch import nn


def forget_history(state):
    return tuple(s.detach() for s in state)


torch.manual_seed(0)
core, out = nn.LSTM(3, 9), nn.Linear(9, 3)
opt = torch.optim.RMSprop([*core.parameters(), *out.parameters()], lr=1e-3)
stream = torch.randn(24, 4, 3)
state = (torch.zeros(1, 4, 9), torch.zeros(1, 4, 9))
for chunk in stream.split(6):
    state = forget_history(state)
    h, state = core(chunk[:-1], state)
    loss = nn.functional.mse_loss(out(h), chunk[1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
assert not state[0].isnan().any()
