"""Hooks of every kind, counted: each has to be called as often as without gradtape."""

from collections import Counter

import torch
from measure import Steps
from torch import nn
from torch_measure import finish

torch.manual_seed(0)
calls = Counter()
norms = []
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))


def note(name, answer=None):
    def hook(*args):
        calls[name] += 1
        return answer(*args) if answer else None

    return hook


for layer in model:
    layer.register_forward_pre_hook(note("forward_pre"))
    layer.register_forward_hook(note("forward"))
    layer.register_full_backward_hook(note("backward"))
    layer.register_full_backward_pre_hook(note("backward_pre"))
model[0].weight.register_hook(note("gradient", lambda grad: grad * 0.5))
model[3].weight.register_post_accumulate_grad_hook(note("accumulated", lambda p: norms.append(p.grad.norm().item())))
model.register_state_dict_post_hook(note("state_dict"))

optimiser = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
optimiser.register_step_pre_hook(note("step_pre"))
optimiser.register_step_post_hook(note("step_post"))
x = torch.randn(32, 8)
y = x.sum(1, keepdim=True)
steps = Steps()
for _ in range(900):
    with steps:
        optimiser.zero_grad()
        hidden = model[:3](x)
        hidden.register_hook(note("hidden", lambda grad: grad.clamp(-1, 1)))
        hidden.retain_grad()
        out = model[3](hidden)
        out.grad_fn.register_hook(note("node"))
        loss = ((out - y) ** 2).mean()
        loss.backward()
        calls["retained"] += hidden.grad is not None
        optimiser.step()
model.state_dict()
print(sorted(calls.items()))
print(f"norms {sum(norms):.8f} {len(norms)}")
finish(steps, model)
