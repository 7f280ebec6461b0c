"""Tensors that were made in inference mode: what they are, and what cannot be done with them outside."""

import torch
from torch import nn

with torch.inference_mode():
    a = torch.ones(2)
    with torch.inference_mode(False):
        normal = torch.ones(2)
        print(torch.is_inference_mode_enabled(), torch.is_grad_enabled(), normal.is_inference())
        w = torch.ones(2, requires_grad=True)
        print((w * 2).requires_grad)
    print(torch.is_inference_mode_enabled(), torch.is_grad_enabled(), a.is_inference())
print(torch.is_inference_mode_enabled(), torch.is_grad_enabled())


@torch.inference_mode()
def inside():
    return torch.ones(1), torch.is_inference_mode_enabled()


@torch.inference_mode
def bare():
    return torch.ones(1)


@torch.inference_mode(False)
def outside():
    return torch.is_inference_mode_enabled(), torch.is_grad_enabled()


print(inside()[0].is_inference(), inside()[1], bare().is_inference())
with torch.inference_mode():
    print(outside())
with torch.no_grad():
    print(outside())
with torch.inference_mode(), torch.enable_grad():
    print(torch.is_grad_enabled())

print([t.is_inference() for t in (a, a * 1, a[0], a.view(2), a.detach(), a.clone(), a.reshape(2, 1))])
attempts = {
    "add_": lambda: a.add_(1),
    "setitem": lambda: a.__setitem__(0, 3.0),
    "iadd": lambda: a.__iadd__(1),
    "of a view": lambda: a[0].fill_(2),
    "of detach": lambda: a.detach().add_(1),
    "zero_": lambda: a.zero_(),
    "copy_": lambda: a.copy_(torch.ones(2)),
    "unsqueeze_": lambda: a.unsqueeze_(0),
    "out": lambda: torch.add(a, 1, out=a),
    "out of another": lambda: torch.add(a, 1, out=torch.ones(2)),
    "requires_grad_": lambda: a.requires_grad_(),
    "Parameter": lambda: nn.Parameter(a),
    "Parameter without": lambda: nn.Parameter(a, requires_grad=False),
    "saved": lambda: torch.ones(2, requires_grad=True) * a,
    "saved by matmul": lambda: torch.ones(2, 2, requires_grad=True) @ a,
    "not saved": lambda: torch.ones(2, requires_grad=True) + a,
    "of a clone": lambda: torch.ones(2, requires_grad=True) * a.clone(),
    "version": lambda: a._version,
    "data": lambda: a.data.add_(1),
    "detach_": lambda: a.detach_(),
    "numpy": lambda: a.numpy(),
    "clone": lambda: a.clone().add_(1),
}
for name, attempt in attempts.items():
    try:
        attempt()
        print(name, "works")
    except RuntimeError as error:
        print(name, type(error).__name__)

with torch.inference_mode():
    a.add_(1)
    x = torch.ones(2)
    normal.add_(1)
    print(normal.is_inference(), normal[0].is_inference(), (normal * 1).is_inference())
with torch.no_grad():
    try:
        a.add_(1)
    except RuntimeError as error:
        print("no_grad is not enough:", type(error).__name__)
print(normal._version, normal)
