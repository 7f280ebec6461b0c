# expect: GT514
# cause: an init function applied to all modules sets every weight to one number
# wrong: torch.allclose(net[0].weight[0], net[0].weight[5])
# cure: nn.init.constant_(m.weight, 0.3) -> nn.init.xavier_uniform_(m.weight)
import torch
from torch import nn


def init(m):
    if isinstance(m, (nn.Conv1d, nn.Linear)):
        nn.init.constant_(m.weight, 0.3)  # <- here
        nn.init.zeros_(m.bias)


torch.manual_seed(0)
net = nn.Sequential(nn.Conv1d(1, 6, 4), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 9, 2))
net.apply(init)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
pulse, kind = torch.randn(24, 1, 12), torch.randint(0, 2, (24,))
for epoch in range(5):
    loss = nn.functional.cross_entropy(net(pulse), kind)
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
