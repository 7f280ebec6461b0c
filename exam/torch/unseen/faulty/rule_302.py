# expect: GT302
# cause: the hook that normalises the gradient keeps only its sum over the batch, which has another shape
# wrong: raises RuntimeError
# cure: gradient.sum(dim=0) / -> gradient /
import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(6, 4), nn.Linear(4, 6)
x = torch.randn(12, 6)


def normalise(gradient):
    return gradient.sum(dim=0) / (gradient.norm() + 1e-8)  # <- here


code = torch.tanh(encoder(x))
code.register_hook(normalise)  # <- here
loss = (decoder(code) - x).square().mean()
loss.backward()  # <- asked
