"""A sequence classifier with both parts in the optimiser."""

import torch
from torch import nn

torch.manual_seed(19)
encoder = nn.LSTM(3, 8, batch_first=True)
head = nn.Linear(8, 2)
before = head.weight.detach().clone()
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-2)
sequences, labels = torch.randn(16, 7, 3), torch.randint(0, 2, (16,))


def classify(batch):
    states, _ = encoder(batch)
    return head(states[:, -1])


for epoch in range(5):
    loss = nn.functional.cross_entropy(classify(sequences), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (torch.equal(head.weight, before))
