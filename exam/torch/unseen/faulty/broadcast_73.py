# expect: GT101
# cause: SmoothL1Loss gets the head's column and the batch's vector of ages
# wrong: history[-1] > 1.2 * history_right
# cure: criterion(predicted, ages) -> criterion(predicted[:, 0], ages)
import torch
from torch.utils.data import DataLoader, Dataset


class Faces(Dataset):
    def __init__(self, n):
        gen = torch.Generator().manual_seed(5)
        self.pixels = torch.randn(n, 1, 6, 6, generator=gen)
        self.age = 3 * self.pixels[:, 0, 2, 3] + 1

    def __len__(self):
        return len(self.age)

    def __getitem__(self, i):
        return {"image": self.pixels[i], "age": self.age[i]}


torch.manual_seed(0)
head = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(36, 1))
criterion = torch.nn.SmoothL1Loss()
optim = torch.optim.Adam(head.parameters(), lr=0.1)
history = []
for epoch in range(12):
    for batch in DataLoader(Faces(64), batch_size=16):
        predicted, ages = head(batch["image"]), batch["age"]
        loss = criterion(predicted, ages)  # <- here
        optim.zero_grad()
        loss.backward()
        optim.step()
        history.append((predicted[:, 0] - ages).abs().mean().item())
history_right = 0.6
