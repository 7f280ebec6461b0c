import torch
from torch import nn


class Star(nn.Module):
    def __init__(self):
        super().__init__()
        self.mass = nn.Parameter(torch.tensor(0.7))

    def force(self, position):
        r = position.norm(dim=-1, keepdim=True)
        return -self.mass * position / r**3

    def simulate(self, position, velocity, steps, dt=0.05):
        position, velocity = position.clone(), velocity.clone()
        for _ in range(steps):
            velocity = velocity + dt * self.force(position)
            position = position + dt * velocity
        return position


torch.manual_seed(0)
angle = torch.linspace(0, 5, 7)
begin = torch.stack([angle.cos(), angle.sin()], dim=1)
speed = torch.stack([-angle.sin(), angle.cos()], dim=1)
with torch.no_grad():
    truth = Star()
    truth.mass.fill_(1.0)
    observed = truth.simulate(begin, speed, 10)
model = Star()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(4):
    loss = (model.simulate(begin, speed, 10) - observed).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
