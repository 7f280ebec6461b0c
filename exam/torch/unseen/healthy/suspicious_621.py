import torch
from torch import nn


class Memory:
    """Hidden states that are written in place into a buffer under no_grad, for analysis."""

    def __init__(self, steps, batch, width):
        self.store = torch.zeros(steps, batch, width)

    def write(self, t, h):
        with torch.no_grad():
            self.store[t] = h


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(2, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x, memory):
        h = c = x.new_zeros(x.shape[1], 8)
        outputs = x.new_zeros(x.shape[0], x.shape[1])
        for t, now in enumerate(x):
            h, c = self.cell(now, (h, c))
            memory.write(t, h)
            outputs[t] = self.out(h).squeeze(-1)
        return outputs


torch.manual_seed(0)
model = Recurrent()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(9, 5, 2)
    memory = Memory(9, 5, 8)
    loss = (model(x, memory) - x.sum(dim=-1).cumsum(dim=0)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert memory.store.any()
assert model.cell.weight_hh.grad.any()
