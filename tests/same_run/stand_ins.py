"""Stand-ins: modules, hooks, custom functions and errors as the other libraries have them."""

import warnings

import gradtape_standins.torch as torch

calls = []


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        calls.append("forward")
        return x**3

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        calls.append("backward")
        return 3.0 * x**2 * gradient


torch.manual_seed(0)
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Cube.apply(x * 20.0)
y.register_hook(lambda gradient: calls.append("hook"))
y.sum().backward()
print(x.grad, calls)
model = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
model.register_forward_hook(lambda module, given, out: calls.append("forward hook"))
optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(3):
    optimiser.zero_grad()
    loss = ((model(torch.ones(5, 2) * 30.0) - 1.0) ** 2).mean()
    loss.backward()
    optimiser.step()
    print(repr(loss.item()), torch.rand(1).item())
print([parameter.tolist() for parameter in model.parameters()], calls)
for work in (
    lambda: (x * x).backward(),
    lambda: torch.ones(3) + torch.ones(4),
    lambda: y.sum().backward(),
    lambda: torch.tensor([1, 2], requires_grad=True),
):
    try:
        print(work())
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print((x * 2.0).grad)
print([(each.category.__name__, str(each.message).splitlines()[0]) for each in caught])
