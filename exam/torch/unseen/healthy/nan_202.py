import torch
from torch import nn

torch.manual_seed(0)
tokens = torch.randn(4, 6, 8)
mask = torch.ones(4, 1, 6)
mask[:, :, 4:] = 0
query, key = nn.Linear(8, 8), nn.Linear(8, 8)
opt = torch.optim.Adam([*query.parameters(), *key.parameters()], lr=1e-3)
for _ in range(2):
    scores = query(tokens) @ key(tokens).transpose(1, 2)
    scores = scores.masked_fill(mask == 0, float("-inf"))
    loss = (torch.softmax(scores, dim=-1) @ tokens).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.isfinite(loss)
