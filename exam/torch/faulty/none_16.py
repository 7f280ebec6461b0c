# expect: GT201 or GT305 because GT208
# cause: inference_mode was put on forward to save memory
# wrong: raises RuntimeError
# cure: @torch.inference_mode()  # <- here -> @torch.enable_grad()
import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))

    @torch.inference_mode()  # <- here
    def forward(self, better, worse):
        return self.score(better) - self.score(worse)  # <- here


torch.manual_seed(0)
ranker = Ranker()
optimizer = torch.optim.Adam(ranker.parameters(), lr=1e-3)
better, worse = torch.randn(12, 6) + 0.5, torch.randn(12, 6)
margin = ranker(better, worse)
loss = nn.functional.softplus(-margin).mean()
optimizer.zero_grad()
loss.backward()  # <- asked
optimizer.step()
