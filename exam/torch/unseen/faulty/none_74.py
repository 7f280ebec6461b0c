# expect: GT201 or GT305 because GT209 or GT207
# cause: the loss counts the pairs in the wrong order, and a comparison has no derivative
# wrong: raises RuntimeError
# cure: wrong_order = (scores[i] < scores[j]).float() -> wrong_order = torch.nn.functional.softplus(scores[j] - scores[i])
import itertools

import torch

torch.manual_seed(0)
documents = torch.randn(9, 5)
relevance = torch.tensor([3, 1, 0, 2, 2, 0, 1, 3, 0])
ranker = torch.nn.Linear(5, 1, bias=False)
opt = torch.optim.Adagrad(ranker.parameters(), lr=0.1)
pairs = [(a, b) for a, b in itertools.permutations(range(9), 2) if relevance[a] > relevance[b]]
i, j = torch.tensor(pairs).T
for epoch in range(3):
    scores = ranker(documents).squeeze(1)
    wrong_order = (scores[i] < scores[j]).float()  # <- here
    loss = wrong_order.mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
