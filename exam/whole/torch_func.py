"""torch.func: per-sample gradients by vmap of grad, jacrev, jvp, hessian, functional_call, an ensemble of models."""

import copy

import torch
from measure import Steps
from torch import nn
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, jvp, stack_module_state, vmap
from torch_measure import finish

torch.manual_seed(0)
x = torch.randn(16, 5)
y = torch.tanh(x.sum(1, keepdim=True))
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
parameters = {name: p.detach().clone() for name, p in model.named_parameters()}


def loss_of(parameters, x, y):
    return ((functional_call(model, parameters, (x,)) - y) ** 2).mean()


steps = Steps()
for step in range(500):
    with steps:
        each = vmap(grad(loss_of), (None, 0, 0))(parameters, x, y)
        clipped = {name: g / (1 + g.flatten(1).norm(dim=1).view(-1, *[1] * (g.dim() - 1))) for name, g in each.items()}
        parameters = {name: p - 0.05 * clipped[name].mean(0) for name, p in parameters.items()}
        gradients, value = grad_and_value(loss_of)(parameters, x, y)
        parameters = {name: p - 0.05 * gradients[name] for name, p in parameters.items()}
    if step % 100 == 0:
        print(f"step {step}: loss {value.item():.6f}")
print(jacrev(lambda x: functional_call(model, parameters, (x,)))(x[0]).norm().item())
print(hessian(lambda x: functional_call(model, parameters, (x,)).sum())(x[0]).norm().item())
print(jvp(lambda x: functional_call(model, parameters, (x,)), (x,), (torch.ones_like(x),))[1].norm().item())
models = [copy.deepcopy(model) for _ in range(3)]
stacked, buffers = stack_module_state(models)
print(vmap(lambda p, b: functional_call(models[0], (p, b), (x,)))(stacked, buffers).shape)
with torch.no_grad():
    for name, p in model.named_parameters():
        p.copy_(parameters[name])
finish(steps, model)
