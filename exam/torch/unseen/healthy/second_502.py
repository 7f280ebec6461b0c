"""A stateful LSTM that detaches its state."""

import torch
from torch import nn


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(2, 5, batch_first=True)
        self.head = nn.Linear(5, 1)
        self.state = None

    def forward(self, chunk):
        out, state = self.lstm(chunk, self.state)
        self.state = tuple(s.detach() for s in state)
        return self.head(out)


torch.manual_seed(48)
model = Stateful()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
signal = torch.randn(3, 24, 2)
for chunk in signal.split(8, dim=1):
    loss = (model(chunk).squeeze(-1) - chunk[..., 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
