# expect: GT401
# cause: the partition sum is taken as log(exp(...).sum()), and scores of more than 88 overflow
# wrong: not bool(torch.isfinite(crf.grad).all())
# cure: torch.log(torch.exp(alpha[:, None] + crf).sum(0)) -> torch.logsumexp(alpha[:, None] + crf, 0)
import torch

torch.manual_seed(0)
crf = (torch.randn(4, 4) * 0.1).requires_grad_()
emission = torch.randn(30, 4) + 6


def partition(crf):
    alpha = emission[0]
    for e in emission[1:]:
        alpha = torch.log(torch.exp(alpha[:, None] + crf).sum(0)) + e  # <- here
    return alpha.logsumexp(0)


path = emission.argmax(1)
gold = emission.max(1).values.sum() + crf[path[:-1], path[1:]].sum()
loss = partition(crf) - gold
loss.backward()  # <- asked
