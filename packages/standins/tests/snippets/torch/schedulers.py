"""Learning rates from epoch to epoch, by all schedulers."""

import torch
from torch import nn, optim
from torch.optim import lr_scheduler
from torch.optim.swa_utils import SWALR, AveragedModel


def rates(make, count=8):
    parameter = nn.Parameter(torch.ones(1))
    optimizer = optim.SGD([parameter], lr=0.1, momentum=0.9)
    scheduler = make(optimizer)
    seen = []
    for _ in range(count):
        seen.append(round(optimizer.param_groups[0]["lr"], 6))
        parameter.grad = torch.ones(1)
        optimizer.step()
        scheduler.step()
    momentum = optimizer.param_groups[0]["momentum"]
    print(type(scheduler).__name__, seen, [round(rate, 6) for rate in scheduler.get_last_lr()], round(momentum, 5))


rates(lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.95**epoch))
rates(lambda o: lr_scheduler.MultiplicativeLR(o, lambda epoch: 0.95))
rates(lambda o: lr_scheduler.ConstantLR(o, 0.5, 3))
rates(lambda o: lr_scheduler.LinearLR(o, 0.5, 1, 4))
rates(lambda o: lr_scheduler.PolynomialLR(o, 4, 2.0))
rates(lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3, 2))
rates(lambda o: lr_scheduler.OneCycleLR(o, 0.5, total_steps=9))
rates(lambda o: lr_scheduler.OneCycleLR(o, 0.5, total_steps=12, three_phase=True), 11)
rates(
    lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.9)], [2]
    )
)
rates(lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.9)]))
rates(lambda o: SWALR(o, swa_lr=0.05, anneal_epochs=3))


class Halving(lr_scheduler.LRScheduler):
    def get_lr(self):
        return [base / (1 + self.last_epoch) for base in self.base_lrs]


rates(Halving, 4)
optimizer = optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)
plateau = lr_scheduler.ReduceLROnPlateau(optimizer, "max", patience=0, threshold=0.1, threshold_mode="abs", cooldown=1)
for metric in (1.0, 1.05, 1.1, 1.3, 1.3):
    plateau.step(torch.tensor(metric))
    print(round(optimizer.param_groups[0]["lr"], 6), plateau.num_bad_epochs, round(plateau.best, 4))
model = nn.Linear(2, 1)
averaged = AveragedModel(model)
with torch.no_grad():
    for value in (1.0, 2.0, 6.0):
        model.weight.fill_(value)
        averaged.update_parameters(model)
print(averaged.module.weight, averaged.n_averaged)
