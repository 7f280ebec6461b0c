"""Ten steps of each optimiser, and schedules."""

import torch
from torch import optim


def descend(make, steps=10):
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    optimizer = make([w])
    for _ in range(steps):
        optimizer.zero_grad()
        ((w - torch.tensor([3.0, 0.5])) ** 2).sum().backward()
        optimizer.step()
    return w


print(descend(lambda p: optim.SGD(p, lr=0.1)))
print(descend(lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)))
print(descend(lambda p: optim.Adam(p, lr=0.1)))
print(descend(lambda p: optim.Adam(p, lr=0.1, amsgrad=True, weight_decay=0.1)))
print(descend(lambda p: optim.AdamW(p, lr=0.1)))
print(descend(lambda p: optim.RMSprop(p, lr=0.05, momentum=0.5, centered=True)))
print(descend(lambda p: optim.Adagrad(p, lr=0.5)))
print(descend(lambda p: optim.Adadelta(p)))
print(descend(lambda p: optim.Adamax(p, lr=0.1)))
print(descend(lambda p: optim.NAdam(p, lr=0.1)))
print(optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1, momentum=0.9))

w = torch.tensor([1.0, -2.0], requires_grad=True)
optimizer = optim.LBFGS([w], line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = ((w - 3) ** 4).sum()
    loss.backward()
    return loss


print(optimizer.step(closure))
print(closure() < 1e-3)

groups = [torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)]
optimizer = optim.SGD([{"params": groups[:1]}, {"params": groups[1:], "lr": 0.5}], lr=0.1)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
for epoch in range(4):
    optimizer.zero_grad()
    (groups[0] + groups[1]).sum().backward()
    optimizer.step()
    print(epoch, scheduler.get_last_lr(), groups[0].item(), groups[1].item())
    scheduler.step()
for make in (
    lambda o: optim.lr_scheduler.CosineAnnealingLR(o, T_max=4),
    lambda o: optim.lr_scheduler.ExponentialLR(o, 0.5),
    lambda o: optim.lr_scheduler.LinearLR(o, total_iters=3),
    lambda o: optim.lr_scheduler.LambdaLR(o, lambda epoch: 1 / (epoch + 1)),
    lambda o: optim.lr_scheduler.MultiStepLR(o, [1, 3]),
    lambda o: optim.lr_scheduler.OneCycleLR(o, 1.0, total_steps=5),
):
    optimizer = optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    scheduler = make(optimizer)
    rates = []
    for _ in range(4):
        rates.append(round(scheduler.get_last_lr()[0], 6))
        optimizer.step()
        scheduler.step()
    print(type(scheduler).__name__, rates)
