# expect: GT201 or GT305 because GT209 or GT207
# cause: the loss is computed from the index of the best action, which has no derivative
# wrong: raises RuntimeError
# cure: q_values.argmax(dim=1).float() -> q_values.max(dim=1).values
import torch
from torch import nn

torch.manual_seed(13)
q_net = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)


def td_loss(state, returns):
    q_values = q_net(state)
    chosen = q_values.argmax(dim=1).float()  # <- here
    return nn.functional.smooth_l1_loss(chosen, returns)


for episode in range(3):
    state, returns = torch.randn(10, 4), torch.randn(10)
    loss = td_loss(state, returns)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
