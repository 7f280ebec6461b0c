"""A recurrent cell whose embedding is trained."""

import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 6)
        self.mix = nn.Linear(12, 6)
        self.out = nn.Linear(6, 11)

    def forward(self, token, state):
        inp = torch.tanh(self.embed(token))
        state = torch.tanh(self.mix(torch.cat([inp, state], dim=1)))
        return self.out(state), state


torch.manual_seed(9)
text = torch.randint(0, 11, (4, 9))
cell = Cell()
optimizer = torch.optim.RMSprop(cell.parameters(), lr=1e-3)
for epoch in range(3):
    state, loss = torch.zeros(4, 6), 0.0
    for i in range(8):
        logits, state = cell(text[:, i], state)
        loss = loss + nn.functional.cross_entropy(logits, text[:, i + 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert cell.embed.weight.grad is not None
