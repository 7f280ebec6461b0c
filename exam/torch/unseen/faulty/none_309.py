# expect: GT201 or GT202 or GT203
# cause: the attack needs the gradient by the image, which was never told to require one
# wrong: raises AttributeError
# cure: images = torch.rand(10, 6)  # <- here -> images = torch.rand(10, 6, requires_grad=True)
import torch
from torch import nn


def fgsm(model, images, labels, epsilon):
    loss = nn.functional.cross_entropy(model(images), labels)
    model.zero_grad()
    loss.backward()  # <- asked
    return (images + epsilon * images.grad.sign()).detach()  # <- here


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
images = torch.rand(10, 6)  # <- here
labels = torch.randint(0, 3, (10,))
attacked = fgsm(model, images, labels, 0.1)  # <- asked
