# expect: GT201 or GT305 because GT208
# cause: both views are detached in the consistency loss, one of them must keep its history
# wrong: raises RuntimeError
# cure: first.detach(), second.detach() -> first, second.detach()
import torch
import torch.nn.functional as F


def noisy(x):
    return x + 0.1 * torch.randn_like(x)


def consistency(first, second):
    return 1 - F.cosine_similarity(first.detach(), second.detach(), dim=-1).mean()  # <- here


torch.manual_seed(0)
encoder = torch.nn.Sequential(torch.nn.Linear(12, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
opt = torch.optim.RMSprop(encoder.parameters(), lr=1e-3)
unlabelled = torch.randn(32, 12)
for _ in range(2):
    loss = consistency(encoder(noisy(unlabelled)), encoder(noisy(unlabelled)))
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
