import torch
from torch import nn

torch.manual_seed(0)
image = torch.rand(1, 3, 8, 8)
label = torch.tensor([2])
model = nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 36, 4)).eval()


def attack(image, label, eps=0.03, steps=4):
    """Projected gradient ascent on the input; the model itself is not trained."""
    noise = torch.zeros_like(image, requires_grad=True)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(image + noise), label)
        loss.backward()
        with torch.no_grad():
            noise += eps / 2 * noise.grad.sign()
            noise.clamp_(-eps, eps)
        noise.grad.zero_()
    model.zero_grad()
    return (image + noise).detach().clamp(0, 1)


def saliency(image, label):
    image = image.clone().requires_grad_()
    model(image)[0, label].sum().backward()
    return image.grad.abs().amax(dim=1)


adversarial = attack(image, label)
heat = saliency(image, label)
with torch.no_grad():
    before = nn.functional.cross_entropy(model(image), label)
    after = nn.functional.cross_entropy(model(adversarial), label)
assert after > before
assert heat.any()
