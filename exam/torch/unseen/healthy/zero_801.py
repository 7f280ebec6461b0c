import torch
from torch import nn


class Spiking(nn.Module):
    def __init__(self, inputs, units, threshold=1.0, decay=0.9):
        super().__init__()
        self.inputs = nn.Linear(inputs, units)
        self.threshold, self.decay = threshold, decay

    def forward(self, x):
        membrane = torch.zeros(x.shape[1], self.inputs.out_features)
        count = torch.zeros_like(membrane)
        for current in self.inputs(x):
            membrane = self.decay * membrane + current
            spike = torch.sigmoid(10 * (membrane - self.threshold))
            membrane = membrane - spike * self.threshold
            count = count + spike
        return count / len(x)


torch.manual_seed(0)
net = Spiking(5, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(3):
    loss = nn.functional.cross_entropy(net(torch.rand(10, 8, 5)), torch.randint(0, 3, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert net.inputs.weight.grad.abs().sum() > 0
