# expect: GT101
# cause: the inverse propensity weights were read as a column, the losses of the examples are a vector
# wrong: weighted.shape == (25, 25)
# cure: propensity = torch.rand(25, 1) -> propensity = torch.rand(25)
import torch
import torch.nn.functional as F

torch.manual_seed(2)
clicks = torch.randint(0, 2, (25,)).float()
items = torch.randn(25, 8)
propensity = torch.rand(25, 1) * 0.5 + 0.5
theta = torch.zeros(8, requires_grad=True)


def objective(theta):
    global weighted
    per_item = F.binary_cross_entropy_with_logits(items.mv(theta), clicks, reduction="none")
    weighted = per_item / propensity  # <- here
    return weighted.mean()


for it in range(5):
    (g,) = torch.autograd.grad(objective(theta), theta)
    with torch.no_grad():
        theta -= 0.5 * g
