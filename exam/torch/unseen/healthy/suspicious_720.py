"""A teacher with cross entropy of soft targets: probabilities are the target, logits the input; and a focal weight."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
teacher, student = nn.Linear(8, 5).requires_grad_(False), nn.Linear(8, 5)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(5, 8)
    logits = student(x)
    soft = torch.softmax(teacher(x) / 2, dim=-1)
    hard = soft.argmax(dim=1)
    log_p = logits.log_softmax(dim=-1)
    ce = F.nll_loss(log_p, hard, reduction="none")
    focal = ((1 - torch.exp(-ce)) ** 2 * ce).mean()
    loss = F.cross_entropy(logits, soft) + focal - 0.1 * (log_p.exp() * log_p).sum(dim=1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
