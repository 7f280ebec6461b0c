import torch

angle = torch.tensor(0.3)
angle.requires_grad = True
target = torch.tensor([0.0, 1.0])
for _ in range(4):
    point = torch.stack([torch.cos(angle), torch.sin(angle)])
    loss = (point - target).square().sum()
    loss.backward()
    with torch.no_grad():
        angle -= 0.1 * angle.grad
        angle.grad.zero_()
assert float(angle) > 0.3
