# expect: GT201 because GT210 or GT208
# cause: the mixing coefficient becomes a float on its way into the mixture
# wrong: mix.alpha.grad is None
# cure: a = float(torch.sigmoid(self.alpha)) -> a = torch.sigmoid(self.alpha)
import torch
from torch import nn


class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.alpha = nn.Parameter(torch.zeros(()))
        self.slow, self.fast = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        a = float(torch.sigmoid(self.alpha))  # <- here
        return a * self.slow(x) + (1 - a) * self.fast(x)


torch.manual_seed(0)
mix = Mix()
optimizer = torch.optim.SGD(mix.parameters(), lr=0.1)
x = torch.randn(16, 3)
for step in range(4):
    optimizer.zero_grad()
    loss = (mix(x) - x.roll(1, dims=1)).pow(2).mean()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
