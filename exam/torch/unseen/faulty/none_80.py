# expect: GT201 because GT208
# cause: the attention map is taken with .data for a plot, and the plotted one is used in the product as well
# wrong: model.score[0].weight.grad is None
# cure: weights = torch.softmax(self.score(frames), dim=1).data -> weights = torch.softmax(self.score(frames), dim=1)
import torch
from torch import nn


class AttentivePooling(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(width, 8), nn.Tanh(), nn.Linear(8, 1))
        self.out = nn.Linear(width, classes)
        self.map = None

    def forward(self, frames):
        weights = torch.softmax(self.score(frames), dim=1).data  # <- here
        self.map = weights.squeeze(-1).tolist()
        return self.out((weights * frames).sum(dim=1))


torch.manual_seed(0)
model = AttentivePooling(6, 4)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
speech, word = torch.randn(9, 14, 6), torch.randint(4, (9,))
for _ in range(3):
    loss = nn.functional.cross_entropy(model(speech), word)
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
