import torch
from torch import nn


def prepare(x):
    return x.float().div(255).requires_grad_()


torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(36, 3))
image = torch.rand(1, 1, 6, 6) * 255
image = prepare(image)
score = model(image)[0, 1]
score.backward()
saliency = image.grad.abs().amax(dim=1)
assert saliency.shape == (1, 6, 6)
