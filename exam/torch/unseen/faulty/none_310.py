# expect: GT201 or GT202 or GT205
# cause: the name of the attacked image is bound to a computed tensor after the first step, whose .grad is not kept
# wrong: raises AttributeError
# cure: attacked = attacked + 0.02 * attacked.grad.sign() -> attacked = (attacked + 0.02 * attacked.grad.sign()).detach().requires_grad_()
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
image, label = torch.rand(4, 6), torch.randint(0, 3, (4,))
attacked = image.clone().requires_grad_()
for step in range(5):
    loss = nn.functional.cross_entropy(model(attacked), label)
    loss.backward()  # <- asked
    attacked = attacked + 0.02 * attacked.grad.sign()  # <- here
