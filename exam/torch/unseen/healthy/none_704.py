import copy

import torch
from torch import nn

torch.manual_seed(0)
learner = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
meta_optimizer = torch.optim.Adam(learner.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for episode in range(4):
    fast = copy.deepcopy(learner)
    inner = torch.optim.SGD(fast.parameters(), lr=0.05)
    x, y = torch.randn(20, 2), torch.randint(0, 2, (20,))
    for _ in range(3):
        loss = criterion(fast(x[:10]), y[:10])
        inner.zero_grad()
        loss.backward()
        inner.step()
    query_loss = criterion(fast(x[10:]), y[10:])
    inner.zero_grad()
    meta_optimizer.zero_grad()
    query_loss.backward()
    for p, q in zip(learner.parameters(), fast.parameters()):
        p.grad = q.grad
    meta_optimizer.step()
assert all(p.grad is not None for p in learner.parameters())
