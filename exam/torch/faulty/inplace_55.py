# expect: GT309
# cause: tanh has saved the candidate state, which is then scaled by the gate in place
# wrong: raises RuntimeError
# cure: candidate.mul_(1 - forget).add_(forget * state) -> candidate * (1 - forget) + forget * state
import torch
from torch import nn


class MinimalCell(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.forget = nn.Linear(n_in + n_hidden, n_hidden)
        self.candidate = nn.Linear(n_in + n_hidden, n_hidden)

    def forward(self, x, state):
        both = torch.cat([x, state], dim=1)
        forget = torch.sigmoid(self.forget(both))
        candidate = torch.tanh(self.candidate(both))
        return candidate.mul_(1 - forget).add_(forget * state)  # <- here


torch.manual_seed(0)
cell, readout = MinimalCell(2, 5), nn.Linear(5, 1)
series = torch.randn(7, 3, 2)
state = torch.zeros(3, 5)
for x in series:
    state = cell(x, state)
loss = readout(state).pow(2).mean()
loss.backward()  # <- asked
