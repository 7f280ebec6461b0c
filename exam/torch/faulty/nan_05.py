# expect: GT401
# cause: after some steps sigma has become negative, and its logarithm is NaN
# wrong: any(value != value for value in losses)
# cure: nll(mu, sigma, heights) -> nll(mu, torch.nn.functional.softplus(sigma), heights)
import torch


def nll(mu, sigma, x):
    log_density = -torch.log(sigma) - 0.5 * ((x - mu) / sigma) ** 2  # <- here
    return -log_density.mean()


torch.manual_seed(0)
heights = 1.7 + 0.08 * torch.randn(200)
mu = torch.tensor(1.6, requires_grad=True)
sigma = torch.tensor(1.0, requires_grad=True)
optimizer = torch.optim.SGD([mu, sigma], lr=0.05)
losses = []
for step in range(40):
    optimizer.zero_grad()
    loss = nll(mu, sigma, heights)
    loss.backward()  # <- asked
    optimizer.step()
    losses.append(loss.item())
print(losses)
