"""Soft targets: distillation with kl_div on log-probabilities, and cross entropy with smoothed probabilities."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
teacher, student = nn.Linear(8, 4), nn.Linear(8, 4)
optimizer = torch.optim.SGD(student.parameters(), lr=0.5)
x, labels = torch.randn(30, 8), torch.randint(0, 4, (30,))
temperature = 2.0
soft_labels = 0.9 * F.one_hot(labels, 4).float() + 0.1 / 4
losses = []
for step in range(10):
    with torch.no_grad():
        teacher_probs = F.softmax(teacher(x) / temperature, dim=1)
    logits = student(x)
    distil = F.kl_div(F.log_softmax(logits / temperature, dim=1), teacher_probs, reduction="batchmean")
    loss = temperature**2 * distil + 0.1 * F.cross_entropy(logits, soft_labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
