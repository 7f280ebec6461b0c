# expect: GT509
# cause: cosine_embedding_loss takes labels of 1 and -1, and those of the pairs are 1 and 0
# wrong: float(same.min()) == 0
# cure: torch.randint(0, 2, (16,)).float() -> torch.randint(0, 2, (16,)).float() * 2 - 1
import torch
from torch import nn

torch.manual_seed(0)
tower = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 6))
criterion = nn.CosineEmbeddingLoss(margin=0.2)
optimizer = torch.optim.Adam(tower.parameters(), lr=1e-3)
for step in range(4):
    left, right = torch.randn(16, 10), torch.randn(16, 10)
    same = torch.randint(0, 2, (16,)).float()  # <- here
    loss = criterion(tower(left), tower(right), same)  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
