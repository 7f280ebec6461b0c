# expect: GT401
# cause: the mask is multiplied by minus infinity, and zero times infinity is NaN where nothing is masked
# wrong: not torch.isfinite(loss)
# cure: scores + (1 - mask) * float("-inf") -> scores.masked_fill(mask == 0, float("-inf"))
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
    scores = scores + (1 - mask) * float("-inf")  # <- here
    loss = (torch.softmax(scores, dim=-1) @ tokens).square().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
