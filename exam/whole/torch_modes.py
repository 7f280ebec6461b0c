"""Function modes and dispatch modes of the program's own, a tensor subclass, and `torch.device` as a context."""

from collections import Counter

import torch
from measure import Steps
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch_measure import finish

calls = Counter()


class CountFunctions(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        calls[getattr(func, "__name__", str(func))] += 1
        return func(*args, **(kwargs or {}))


class CountOperations(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        calls[str(func)] += 1
        return func(*args, **(kwargs or {}))


class Named(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        calls["subclass"] += 1
        return super().__torch_function__(func, types, args, kwargs or {})


torch.manual_seed(0)
with torch.device("cpu"):
    model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
with torch.device("meta"):
    nowhere = nn.Linear(1000, 1000)
print(nowhere.weight.device, nowhere(torch.empty(2, 1000, device="meta")).shape)
torch.set_default_device("cpu")
x = torch.randn(32, 6)
y = x[:, :1] * x[:, 1:2]
optimiser = torch.optim.RMSprop(model.parameters(), lr=1e-2)
steps = Steps()
for step in range(900):
    with steps:
        optimiser.zero_grad()
        if step % 4 == 0:
            with CountFunctions():
                loss = nn.functional.mse_loss(model(x), y)
                loss.backward()
        elif step % 4 == 1:
            with CountOperations():
                loss = nn.functional.mse_loss(model(x), y)
                loss.backward()
        elif step % 4 == 2:
            loss = nn.functional.mse_loss(model(x.as_subclass(Named)), y)
            loss.backward()
        else:
            with torch.device("cpu"):
                loss = ((model(x) - y) ** 2).mean() + 0.0 * torch.zeros(())
                loss.backward()
        optimiser.step()
torch.set_default_device(None)
print(f"loss {loss.item():.6f}")
for name, count in sorted(calls.items()):
    print(name, count)
finish(steps, model)
