# expect: GT101 or GT102
# cause: the network's mean is (N, 1) and the observations are (N,), so that log_prob is (N, N)
# wrong: log_likelihood.shape == (60, 60)
# cure: observed = inputs.sum(dim=1) + 0.1 * torch.randn(60) -> observed = inputs.sum(dim=1, keepdim=True) + 0.1 * torch.randn(60, 1)
import torch
from torch import nn
from torch.distributions import Normal


class MeanAndScale(nn.Module):
    """Predicts a normal distribution for each input."""

    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(3, 20), nn.ELU())
        self.mean, self.log_scale = nn.Linear(20, 1), nn.Linear(20, 1)

    def forward(self, x):
        h = self.shared(x)
        return Normal(self.mean(h), self.log_scale(h).exp())


torch.manual_seed(5)
inputs = torch.randn(60, 3)
observed = inputs.sum(dim=1) + 0.1 * torch.randn(60)
model = MeanAndScale()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(4):
    optimizer.zero_grad()
    log_likelihood = model(inputs).log_prob(observed)  # <- here
    nll = -log_likelihood.mean()
    nll.backward()
    optimizer.step()
