# expect: GT513
# cause: the experts are in a plain dict, which nn.Module does not register
# wrong: sum(1 for _ in model.parameters()) == 2
# cure: {str(i): nn.Linear(5, 3) for i in range(3)} -> nn.ModuleDict({str(i): nn.Linear(5, 3) for i in range(3)})
import torch
import torch.nn.functional as F
from torch import nn


class MixtureOfExperts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(5, 3)
        self.experts = {str(i): nn.Linear(5, 3) for i in range(3)}  # <- here

    def forward(self, x):
        share = F.softmax(self.gate(x), dim=-1)
        answers = torch.stack([expert(x) for expert in self.experts.values()], dim=-1)
        return (answers * share[:, None, :]).sum(-1)


torch.manual_seed(21)
model = MixtureOfExperts()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, labels = torch.randn(20, 5), torch.randint(0, 3, (20,))
for _ in range(4):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), labels)
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
