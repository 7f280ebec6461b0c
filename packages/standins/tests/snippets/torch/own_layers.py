"""Layers, optimisers and schedules that users derive from PyTorch's, and mistakes with them."""

import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.modules.loss import _Loss
from torch.nn.modules.utils import _pair

cudnn.benchmark = True


def fill(module):
    for number, parameter in enumerate(module.parameters()):
        parameter.data.copy_(torch.sin(torch.arange(parameter.numel()) + number).view_as(parameter))
    return module


class MaskedConv2d(nn.Conv2d):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        mask = torch.ones_like(self.weight)
        mask[:, :, self.kernel_size[0] // 2, self.kernel_size[1] // 2 :] = 0
        self.register_buffer("mask", mask)

    def forward(self, x):
        return F.conv2d(x, self.weight * self.mask, self.bias, self.stride, self.padding)


layer = fill(MaskedConv2d(1, 1, _pair(3), padding=1))
layer(torch.ones(1, 1, 3, 3)).sum().backward()
print(layer, layer.weight.grad)
print(nn.Conv2d(1, 2, 3, 1, 1, 1, 1, False, "reflect"), nn.ConvTranspose2d(2, 1, 3, 2, 1, 1))


class Scaled(_Loss):
    def forward(self, input, target):
        return 3 * F.mse_loss(input, target, reduction=self.reduction)


print(Scaled(reduction="sum")(torch.ones(2), torch.zeros(2)))
weights = nn.Parameter(torch.ones(2))
params = {"w": weights}
print(torch.autograd.grad((weights**3).sum(), params.values()))
optimizer = torch.optim.SGD([("w", weights)], lr=0.1)
print(optimizer.param_groups[0]["param_names"])
cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=4, cycle_momentum=False)
for _ in range(4):
    optimizer.step()
    cycle.step()
    print(round(cycle.get_last_lr()[0], 6))
order = []
layer.register_forward_hook(lambda *_: order.append("second"))
layer.register_forward_hook(lambda *_: order.append("first"), prepend=True)
layer(torch.ones(1, 1, 3, 3))
print(order, nn.Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh()))
for attempt in (
    lambda: torch.sqrt(4.0),
    lambda: torch.ones(2) @ 3,
    lambda: nn.Sequential([nn.ReLU()]),
    lambda: nn.Module().register_buffer("a.b", torch.ones(1)),
    lambda: nn.Module().register_parameter("a", torch.ones(1)),
    lambda: torch.zeros(-1),
    lambda: torch.zeros(2.5),
    lambda: float(torch.ones(2)),
    lambda: F.dropout(torch.ones(2), 2.0),
    lambda: F.softmax(torch.arange(3), dim=0),
    lambda: nn.GroupNorm(2, 3),
    lambda: torch.device("elsewhere"),
    lambda: nn.MSELoss()(torch.tensor([1]), torch.tensor([1])),
    lambda: cycle.step(),
    lambda: torch.cat(torch.ones(2), torch.ones(2)),
    lambda: nn.Flatten()(torch.ones(2)),
):
    try:
        attempt()
        print("nothing")
    except Exception as error:
        print(type(error).__name__)
print(torch.ones(2).type(torch.DoubleTensor), isinstance(torch.ones(1), torch.FloatTensor), torch.preserve_format)
with torch.autograd.set_detect_anomaly(True):
    print(torch.is_anomaly_enabled())
print(torch.is_anomaly_enabled(), nn.init.calculate_gain("conv2d"), nn.init.calculate_gain("tanh"))
