# expect: GT509
# cause: gumbel_softmax takes logits, and is given the probabilities of a softmax
# wrong: bool((router.last >= 0).all())
# cure: F.softmax(self.route(x), dim=-1) -> self.route(x)
import torch
import torch.nn.functional as F
from torch import nn


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.route = nn.Linear(8, 4)
        self.experts = nn.ModuleList(nn.Linear(8, 3) for _ in range(4))

    def forward(self, x):
        self.last = F.softmax(self.route(x), dim=-1)  # <- here
        choice = F.gumbel_softmax(self.last, tau=0.5, hard=True)  # <- here
        outputs = torch.stack([expert(x) for expert in self.experts], dim=1)
        return (choice.unsqueeze(-1) * outputs).sum(dim=1)


torch.manual_seed(0)
router = Router()
optimizer = torch.optim.Adam(router.parameters(), lr=1e-3)
for step in range(4):
    loss = F.cross_entropy(router(torch.randn(10, 8)), torch.randint(0, 3, (10,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
