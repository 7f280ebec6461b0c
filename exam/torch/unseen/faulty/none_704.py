# expect: GT512 or GT513 or GT201 or GT202
# cause: the outer loss is computed from a deep copy of the learner, so the gradients land in the copy
# wrong: all(p.grad is None for p in learner.parameters())
# cure: meta_optimizer.step() -> for p, q in zip(learner.parameters(), fast.parameters()):\n        p.grad = q.grad\n    meta_optimizer.step()
import copy

import torch
from torch import nn

torch.manual_seed(0)
learner = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
meta_optimizer = torch.optim.Adam(learner.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for episode in range(4):
    fast = copy.deepcopy(learner)  # <- here
    inner = torch.optim.SGD(fast.parameters(), lr=0.05)
    x, y = torch.randn(20, 2), torch.randint(0, 2, (20,))
    for _ in range(3):
        loss = criterion(fast(x[:10]), y[:10])
        inner.zero_grad()
        loss.backward()
        inner.step()
    query_loss = criterion(fast(x[10:]), y[10:])  # <- here
    inner.zero_grad()
    meta_optimizer.zero_grad()
    query_loss.backward()  # <- asked
    meta_optimizer.step()  # <- here
