"""A ranking loss over all pairs: a column minus a row, both written with an index of None."""

import torch

torch.manual_seed(0)
scorer = torch.nn.Linear(6, 1)
docs, grade = torch.randn(18, 6), torch.randint(0, 4, (18,))
opt = torch.optim.Adam(scorer.parameters(), lr=0.05)
better = (grade[:, None] > grade[None, :]).float()
first = last = None
for _ in range(20):
    s = scorer(docs).view(-1)
    gap = s[:, None] - s[None, :]
    loss = (better * torch.nn.functional.softplus(-gap)).sum() / better.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    first = loss.item() if first is None else first
    last = loss.item()
assert last < first
