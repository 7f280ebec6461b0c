"""Truncated backpropagation: the state is detached every ten steps, on purpose."""

import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.LSTMCell(2, 5), nn.Linear(5, 1)
opt = torch.optim.RMSprop([*cell.parameters(), *head.parameters()], lr=0.01)
x = torch.randn(30, 4, 2)
state = (torch.zeros(4, 5), torch.zeros(4, 5))
loss = 0.0
for t in range(30):
    state = cell(x[t], state)
    loss = loss + (head(state[0]) - x[t].sum(1, keepdim=True)).pow(2).mean()
    if t % 10 == 9:
        opt.zero_grad()
        loss.backward()
        opt.step()
        state = tuple(part.detach() for part in state)
        loss = 0.0
assert cell.weight_hh.grad.abs().sum() > 0
