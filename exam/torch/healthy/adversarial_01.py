"""FGSM: the gradient of the loss with respect to the image; the model's own gradients are not used."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 3)).eval()


def fgsm(image, label, epsilon):
    image = image.clone().detach().requires_grad_(True)
    loss = F.cross_entropy(model(image), label)
    model.zero_grad()
    loss.backward()
    return (image + epsilon * image.grad.sign()).clamp(0, 1).detach()


images, labels = torch.rand(10, 4, 4), torch.randint(0, 3, (10,))
attacked = fgsm(images, labels, 0.1)
with torch.no_grad():
    before, after = F.cross_entropy(model(images), labels), F.cross_entropy(model(attacked), labels)
assert after > before
