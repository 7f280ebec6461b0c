"""A leaf that was made of a view: written under no_grad it stays a leaf, and an optimiser trains it."""

import torch
import torch.nn.functional as F

base = torch.sin(torch.arange(18.0))
image = base.reshape(1, 2, 3, 3).requires_grad_(True)
print(image.is_leaf, image.requires_grad, base.requires_grad)
optimizer = torch.optim.Adam([image], lr=0.1)


def gram(x):
    features = x.view(2, 9)
    return torch.mm(features, features.t()).div(18)


for _ in range(3):
    with torch.no_grad():
        image.clamp_(0, 1)
    optimizer.zero_grad()
    loss = F.mse_loss(gram(image), torch.eye(2))
    loss.backward()
    optimizer.step()
    print(loss)
print(image, image.is_leaf)
print(torch.equal(base.reshape(image.shape), image.detach()))
try:
    image.add_(1)
except RuntimeError as error:
    print(type(error).__name__)
