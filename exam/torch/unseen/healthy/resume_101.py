"""Training goes on from a saved state with a new optimiser, in a second loop of the same function."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(30, 4), torch.randn(30, 1)


def train(model, steps):
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        loss = (model(x) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


model = nn.Linear(4, 1)
first = train(model, 12)
state = copy.deepcopy(model.state_dict())
again = nn.Linear(4, 1)
again.load_state_dict(state)
assert train(again, 12) <= first
