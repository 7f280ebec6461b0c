import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 3))
params = {name: p.detach() for name, p in model.named_parameters()}


def compute_loss(params, x, y):
    logits = functional_call(model, params, (x,))
    return F.cross_entropy(logits, y)


for step in range(3):
    x, y = torch.randn(16, 5), torch.randint(0, 3, (16,))
    gradients = grad(compute_loss)(params, x, y)
    params = {name: p - 0.1 * gradients[name] for name, p in params.items()}
assert all(p.isfinite().all() for p in params.values())
