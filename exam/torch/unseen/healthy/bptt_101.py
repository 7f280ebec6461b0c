"""A character model whose hidden state is carried over many chunks, detached at each."""

import torch
from torch import nn

torch.manual_seed(0)
rnn, head = nn.GRU(3, 6, batch_first=True), nn.Linear(6, 3)
opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=1e-2)
text = torch.randn(2, 200, 3)
state = None
for start in range(0, 190, 10):
    x, y = text[:, start : start + 10], text[:, start + 1 : start + 11]
    out, state = rnn(x, state)
    loss = (head(out) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    state = state.detach()
assert loss.isfinite()
