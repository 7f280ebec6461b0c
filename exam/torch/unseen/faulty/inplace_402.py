# expect: GT309
# cause: the running mean is updated in place after the forward pass has saved it for the derivative of the product
# wrong: raises RuntimeError
# cure: self.mean.mul_(0.9).add_(0.1 * x.detach().mean(dim=0))  # <- here -> self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(dim=0)
import torch
from torch import nn


class Whitening(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.register_buffer("mean", torch.ones(width))

    def forward(self, x):
        y = x - self.mean * self.scale
        with torch.no_grad():
            self.mean.mul_(0.9).add_(0.1 * x.detach().mean(dim=0))  # <- here
        return y


torch.manual_seed(0)
layer = Whitening(5)
loss = layer(torch.randn(8, 5)).square().mean()
loss.backward()  # <- asked
