# expect: GT309
# cause: the state of the simulation is written in place at each step while its earlier content was saved for backward
# wrong: raises RuntimeError
# cure: state[:, 0] = position + self.dt * velocity  # <- here\n        state[:, 1] = velocity + self.dt * force  # <- here\n        return state -> return torch.stack([position + self.dt * velocity, velocity + self.dt * force], dim=1)
import torch
from torch import nn


class Oscillator(nn.Module):
    def __init__(self, dt=0.05):
        super().__init__()
        self.dt = dt
        self.stiffness = nn.Parameter(torch.tensor(1.0))
        self.damping = nn.Parameter(torch.tensor(0.1))

    def step(self, state):
        position, velocity = state[:, 0], state[:, 1]
        force = -self.stiffness * position - self.damping * velocity  # <- here
        state[:, 0] = position + self.dt * velocity  # <- here
        state[:, 1] = velocity + self.dt * force  # <- here
        return state

    def forward(self, state, steps):
        state = state.clone()
        for _ in range(steps):
            state = self.step(state)
        return state


torch.manual_seed(0)
model = Oscillator()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
begin = torch.randn(10, 2)
for epoch in range(3):
    loss = model(begin, 12).square().mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
