"""Optimisers and what they keep, hooks around their steps, and arguments that are refused or warned of."""

import warnings

import torch
from torch import nn, optim


def run(kind, **options):
    first, second = nn.Parameter(torch.tensor([1.0, -2.0, 0.5])), nn.Parameter(torch.tensor(3.0))
    optimizer = kind([first, second], **options)
    for step in range(6):
        optimizer.zero_grad()
        ((first**2).sum() * 0.5 + (second - 1) ** 2 * (step - 1)).backward()
        optimizer.step()
    kept = {
        name: value.tolist() for name, value in sorted(optimizer.state[second].items()) if name not in ("eta", "mu")
    }
    print(kind.__name__, first.data, second.data, kept)


for kind in (optim.RAdam, optim.Rprop, optim.ASGD, optim.NAdam, optim.Adamax, optim.Adadelta, optim.Adagrad):
    run(kind, lr=0.1)
run(optim.RAdam, lr=0.1, betas=(0.7, 0.8), weight_decay=0.1, decoupled_weight_decay=True)
run(optim.Rprop, lr=0.1, etas=(0.4, 1.3), step_sizes=(1e-5, 0.2))
run(optim.ASGD, lr=0.1, lambd=0.01, t0=2, weight_decay=0.1)
run(optim.Adam, lr=0.1, amsgrad=True)
run(optim.RMSprop, lr=0.1, momentum=0.5, centered=True)
parameter = nn.Parameter(torch.ones(1))
print(optim.RAdam([parameter]), optim.Rprop([parameter]), optim.ASGD([parameter]))
optimizer = optim.SGD([parameter], lr=0.1, momentum=0.9)
handle = optimizer.register_step_pre_hook(lambda optimizer, args, kwargs: print("before", len(args), kwargs))
optimizer.register_step_post_hook(lambda optimizer, args, kwargs: print("after"))
parameter.grad = torch.ones(1)
optimizer.step()
handle.remove()
optimizer.step()
print(optimizer.state[parameter], parameter)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    optim.SGD([parameter, parameter], lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(optim.SGD([parameter], lr=0.1), 1)
    scheduler.step()
print([warning.category.__name__ for warning in caught])
for wrong in (
    lambda: optim.Rprop([parameter], etas=(1.5, 2.0)),
    lambda: optim.SGD([{"params": [parameter]}, {"params": [parameter]}], lr=0.1),
    lambda: optim.lr_scheduler.StepLR(None, 1),
    lambda: optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=2.0),
):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__)
