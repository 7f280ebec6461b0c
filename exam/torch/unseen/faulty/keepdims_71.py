# expect: GT103 or GT101
# cause: the transition matrix is divided by its row sums without keepdim, so that its columns are scaled instead of its rows
# wrong: not torch.allclose(transition().sum(-1), torch.ones(6))
# cure: weights.sum(-1) -> weights.sum(-1, keepdim=True)
import torch

torch.manual_seed(1)
raw = torch.randn(6, 6, requires_grad=True)
start = torch.full((6,), 1 / 6)
seen = torch.tensor([0, 3, 3, 5, 1, 2, 0, 4])


def transition():
    weights = raw.exp()
    return weights / weights.sum(-1)  # <- here


opt = torch.optim.Adam([raw], lr=0.05)
for step in range(5):
    A = transition()
    nll = -A[seen[:-1], seen[1:]].log().sum()
    opt.zero_grad()
    nll.backward()
    opt.step()
