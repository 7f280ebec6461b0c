"""Second derivatives where what is saved goes through hooks: with numbers that are kept, rounded, or changed."""

import torch


def second(function, pack, unpack, inside):
    x = torch.tensor([1.1, 2.3], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = function(x).sum()
        if inside:
            (first,) = torch.autograd.grad(y, x, create_graph=True)
    if not inside:
        (first,) = torch.autograd.grad(y, x, create_graph=True)
    return first.detach(), torch.autograd.grad(first.sum(), x)[0]


hooks = {
    "kept": (lambda saved: saved, lambda saved: saved),
    "as an array": (lambda saved: saved.numpy(force=True), torch.from_numpy),
    "scaled and back": (lambda saved: saved.detach() * 10, lambda saved: saved / 10),
}
for name, function in {
    "square": lambda x: x * x,
    "cube": lambda x: x**3,
    "exp": lambda x: torch.exp(x) * x,
    "sin": torch.sin,
    "sigmoid": torch.sigmoid,
    "inverse": lambda x: 1 / x,
    "softmax": lambda x: torch.softmax(x, 0) * x,
}.items():
    for how, (pack, unpack) in hooks.items():
        print(name, how, *second(function, pack, unpack, False), *second(function, pack, unpack, True))

print(second(lambda x: x * x * x, lambda saved: saved, lambda saved: saved * 2, False))

packed = []
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda saved: packed.append(tuple(saved.shape)) or saved, lambda s: s):
    y = (x**3).sum()
    before = len(packed)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
print("saved by the gradient too:", len(packed) > before)
