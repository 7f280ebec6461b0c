"""A hidden state that is detached in place before each chunk, and gradients cut by a constant mask."""

import torch
from torch import nn


class Stream(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(3, 8), nn.Linear(8, 1)

    def forward(self, chunk, state):
        outputs = []
        for x in chunk:
            state = self.cell(x, state)
            outputs.append(self.out(state[0]))
        return torch.stack(outputs), state


torch.manual_seed(0)
model = Stream()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
state = (torch.zeros(4, 8), torch.zeros(4, 8))
for chunk in torch.randn(5, 6, 4, 3):
    for s in state:
        s.detach_()
    predicted, state = model(chunk, state)
    begins = (torch.rand(4, 1) < 0.2).float()
    loss = (predicted - chunk.cumsum(dim=0)[..., :1]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    state = tuple(s * (1 - begins) for s in state)
assert model.cell.weight_hh.grad is not None
