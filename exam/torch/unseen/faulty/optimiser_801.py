# expect: GT513
# cause: the optimiser is given the parameters of the two towers, and not those that the model has itself
# wrong: torch.equal(model.query, before)
# cure: [*model.text.parameters(), *model.image.parameters()] -> model.parameters()
import torch
from torch import nn


class Fusion(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.text = nn.Linear(12, width)
        self.image = nn.Linear(20, width)
        self.query = nn.Parameter(torch.randn(width))
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, text, image):
        tokens = torch.stack([self.text(text), self.image(image)], dim=1)
        weights = torch.softmax(tokens @ self.query * self.scale, dim=1)
        return (weights.unsqueeze(-1) * tokens).sum(dim=1)


torch.manual_seed(0)
model, head = Fusion(), nn.Linear(8, 3)
before = model.query.detach().clone()
optimizer = torch.optim.Adam(  # <- here
    [*[*model.text.parameters(), *model.image.parameters()], *head.parameters()],
    lr=1e-3,  # <- here
)
for step in range(4):
    logits = head(model(torch.randn(10, 12), torch.randn(10, 20)))
    loss = nn.functional.cross_entropy(logits, torch.randint(0, 3, (10,)))
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
