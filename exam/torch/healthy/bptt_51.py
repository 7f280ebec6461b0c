"""A stateful GRU module that keeps its hidden state as a buffer without history."""

import torch
from torch import nn


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(2, 5, batch_first=True)
        self.out = nn.Linear(5, 1)
        self.register_buffer("state", torch.zeros(1, 3, 5))

    def forward(self, x):
        h, state = self.gru(x, self.state)
        self.state = state.detach()
        return self.out(h).squeeze(-1)


torch.manual_seed(0)
model = Stateful()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    x = torch.randn(3, 6, 2)
    loss = nn.functional.mse_loss(model(x), x.sum(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model.state.any()
