# expect: GT101 or GT102
# cause: q values picked by gather are (B, 1), the bootstrapped targets (B,), inside F.smooth_l1_loss
# wrong: bool((loss - F.smooth_l1_loss(chosen.flatten(), targets)).abs() > 1e-5)
# cure: q.gather(1, batch["action"].unsqueeze(1)) -> q.gather(1, batch["action"].unsqueeze(1)).squeeze(1)
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Replay:
    def __init__(self, size):
        self.state = torch.randn(size, 4)
        self.action = torch.randint(0, 3, (size,))
        self.reward = torch.randn(size)
        self.after = torch.randn(size, 4)
        self.done = (torch.rand(size) < 0.1).float()

    def sample(self, count):
        index = torch.randint(0, len(self.reward), (count,))
        return {name: value[index] for name, value in vars(self).items()}


network = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))
target_network = copy.deepcopy(network).requires_grad_(False)
optimizer = torch.optim.RMSprop(network.parameters(), lr=1e-3)
replay = Replay(500)
for step in range(5):
    batch = replay.sample(32)
    q = network(batch["state"])
    chosen = q.gather(1, batch["action"].unsqueeze(1))
    with torch.no_grad():
        best = target_network(batch["after"]).max(dim=1).values
        targets = batch["reward"] + 0.99 * (1 - batch["done"]) * best
    loss = F.smooth_l1_loss(chosen, targets)  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
