# expect: GT201 or GT202 or GT203
# cause: the helper makes a tensor that requires a gradient under its own name, and the caller's stays as it was
# wrong: raises AttributeError
# cure: prepare(image)  # <- here -> image = prepare(image)
# cure: x = x.float().div(255).requires_grad_()  # <- here -> return x.float().div(255).requires_grad_()
import torch
from torch import nn


def prepare(x):
    x = x.float().div(255).requires_grad_()  # <- here


torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(36, 3))
image = torch.rand(1, 1, 6, 6) * 255  # <- here
prepare(image)  # <- here
score = model(image)[0, 1]
score.backward()  # <- asked
saliency = image.grad.abs().amax(dim=1)  # <- here
