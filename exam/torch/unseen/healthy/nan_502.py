"""Mean pooling that divides by at least one."""

import torch
from torch import nn

torch.manual_seed(30)
table = nn.Embedding(20, 5, padding_idx=0)
head = nn.Linear(5, 2)
optimizer = torch.optim.Adam([*table.parameters(), *head.parameters()], lr=0.01)
sentences = torch.randint(1, 20, (8, 6))
sentences[:, 4:] = 0
sentences[3] = 0
labels = torch.randint(0, 2, (8,))


class MeanPool(nn.Module):
    def forward(self, ids):
        mask = (ids != 0).float()
        total = (table(ids) * mask.unsqueeze(-1)).sum(dim=1)
        return total / mask.sum(dim=1, keepdim=True).clamp_min(1)


pool = MeanPool()
for _ in range(3):
    loss = nn.functional.cross_entropy(head(pool(sentences)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.isfinite(table.weight).all()
