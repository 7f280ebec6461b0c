# expect: GT501
# cause: the router's softmax is taken over the tokens, and the experts' outputs are weighted and summed over the experts
# wrong: not torch.allclose(gate.sum(dim=1), torch.ones(14), atol=1e-4)
# cure: torch.softmax(router(tokens), dim=0) -> torch.softmax(router(tokens), dim=1)
import torch
from torch import nn

torch.manual_seed(0)
router = nn.Linear(6, 4)
experts = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))
tokens = torch.randn(14, 6)
opt = torch.optim.Adam([*router.parameters(), *experts.parameters()], lr=1e-2)
for _ in range(3):
    gate = torch.softmax(router(tokens), dim=0)  # <- here
    outputs = torch.stack([e(tokens) for e in experts], dim=1)
    mixed = (gate.unsqueeze(-1) * outputs).sum(dim=1)
    loss = nn.functional.mse_loss(mixed, tokens.flip(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
