"""An embedding with sparse gradients and SparseAdam beside a dense optimiser."""

import torch
from torch import nn

torch.manual_seed(0)
table, head = nn.Embedding(50, 4, sparse=True), nn.Linear(4, 1)
sparse, dense = torch.optim.SparseAdam(table.parameters(), lr=1e-2), torch.optim.Adam(head.parameters(), lr=1e-2)
for _ in range(10):
    words = torch.randint(0, 50, (16,))
    loss = (head(table(words)) - 1).square().mean()
    sparse.zero_grad()
    dense.zero_grad()
    loss.backward()
    sparse.step()
    dense.step()
assert loss.isfinite()
