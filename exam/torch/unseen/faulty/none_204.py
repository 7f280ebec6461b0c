# expect: GT305 or GT201 because GT203 or GT202 or GT204
# cause: requires_grad is compared with True, in place of being set
# wrong: raises RuntimeError
# cure: angle.requires_grad == True -> angle.requires_grad = True
import torch

angle = torch.tensor(0.3)
angle.requires_grad == True  # <- here
target = torch.tensor([0.0, 1.0])
for _ in range(4):
    point = torch.stack([torch.cos(angle), torch.sin(angle)])
    loss = (point - target).square().sum()
    loss.backward()  # <- here
    with torch.no_grad():
        angle -= 0.1 * angle.grad
        angle.grad.zero_()
