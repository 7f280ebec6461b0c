# expect: GT401
# cause: together the padding mask and the local attention mask leave some queries no key at all, whose softmax is NaN
# wrong: bool(loss.isnan())
# cure: blocked | padded[:, None, :], float("-inf")) -> blocked | padded[:, None, :], -1e9)
import torch
from torch import nn


class LocalAttention(nn.Module):
    def __init__(self, width=8, reach=2):
        super().__init__()
        self.qk, self.v, self.reach = nn.Linear(width, 2 * width), nn.Linear(width, width), reach

    def forward(self, x, padded):
        q, k = self.qk(x).chunk(2, dim=-1)
        place = torch.arange(x.shape[1])
        blocked = (place[:, None] - place[None, :]).abs() > self.reach
        scores = q @ k.mT / 8**0.5
        scores = scores.masked_fill(blocked | padded[:, None, :], float("-inf"))  # <- here
        return torch.softmax(scores, dim=-1) @ self.v(x)  # <- here


torch.manual_seed(0)
attention, head = LocalAttention(), nn.Linear(8, 3)
optimizer = torch.optim.Adam([*attention.parameters(), *head.parameters()], lr=1e-3)
lengths = torch.tensor([12, 10, 6, 4])
padded = torch.arange(12)[None, :] >= lengths[:, None]
for step in range(2):
    x, tags = torch.randn(4, 12, 8), torch.randint(0, 3, (4, 12))
    loss = nn.functional.cross_entropy(head(attention(x, padded)).flatten(0, 1), tags.flatten())
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
