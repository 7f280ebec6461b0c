"""A spiking neuron with a surrogate gradient in a custom Function."""

import torch
from torch import nn


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, potential):
        ctx.save_for_backward(potential)
        return (potential > 0).float()

    @staticmethod
    def backward(ctx, grad_output):
        (potential,) = ctx.saved_tensors
        return grad_output / (1 + 5 * potential.abs()) ** 2


torch.manual_seed(0)
layer, readout = nn.Linear(6, 10), nn.Linear(10, 2)
optimizer = torch.optim.Adam([*layer.parameters(), *readout.parameters()], lr=1e-2)
x, labels = torch.rand(8, 12, 6), torch.randint(0, 2, (8,))
for epoch in range(4):
    potential, counts = torch.zeros(8, 10), torch.zeros(8, 10)
    for t in range(12):
        potential = 0.9 * potential + layer(x[:, t])
        spikes = Spike.apply(potential - 1.0)
        potential = potential * (1 - spikes.detach())
        counts = counts + spikes
    loss = nn.functional.cross_entropy(readout(counts), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert layer.weight.grad.any()
