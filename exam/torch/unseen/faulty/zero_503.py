# expect: GT404 or GT209 or GT201
# cause: the mask is the sign of the scores, whose derivative is zero everywhere
# wrong: float(scores.grad.abs().max()) == 0.0
# cure: (torch.sign(scores) + 1) / 2 -> torch.sigmoid(scores)
import torch
import torch.nn.functional as F

torch.manual_seed(28)
weight = torch.randn(6, 4)
scores = torch.randn(6, 4, requires_grad=True)
optimizer = torch.optim.SGD([scores], lr=0.5)
x = torch.randn(30, 6)
y = torch.randint(0, 4, (30,))


def pruned_logits(batch):
    mask = (torch.sign(scores) + 1) / 2  # <- here
    return batch @ (weight * mask)


for _ in range(4):
    optimizer.zero_grad()
    loss = F.cross_entropy(pruned_logits(x), y)
    loss.backward()  # <- asked
    optimizer.step()
