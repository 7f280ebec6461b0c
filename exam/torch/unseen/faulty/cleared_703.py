# expect: GT511
# cause: the gradient of the perturbation is not cleared between the steps of the attack, which uses the sum of all
# wrong: history[-1] > 2.5 * history[0]
# cure: delta.data = (delta + alpha -> update = (delta + alpha
# cure: .clamp(-eps, eps) -> .clamp(-eps, eps).detach()\n    delta.grad = None\n    delta.data = update
import torch
from torch import nn

torch.manual_seed(0)
classifier = nn.Sequential(nn.Flatten(), nn.Linear(64, 10)).eval()
for p in classifier.parameters():
    p.requires_grad_(False)
images = torch.rand(6, 1, 8, 8)
labels = classifier(images).argmax(dim=1)
eps, alpha = 0.03, 0.01
delta = torch.zeros_like(images, requires_grad=True)
history = []
for step in range(5):
    loss = nn.functional.cross_entropy(classifier(images + delta), labels)
    loss.backward()  # <- here
    history.append(delta.grad.norm().item())
    delta.data = (delta + alpha * delta.grad.sign()).clamp(-eps, eps)  # <- here
adversarial = (images + delta.detach()).clamp(0, 1)
