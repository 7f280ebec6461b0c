import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
image, label = torch.rand(4, 6), torch.randint(0, 3, (4,))
attacked = image.clone().requires_grad_()
for step in range(5):
    loss = nn.functional.cross_entropy(model(attacked), label)
    loss.backward()
    attacked = (attacked + 0.02 * attacked.grad.sign()).detach().requires_grad_()
assert (attacked - image).abs().max() > 0
