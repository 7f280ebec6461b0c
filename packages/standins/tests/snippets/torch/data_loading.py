"""Datasets and batches."""

import torch
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split


class Squares(Dataset):
    """Numbers and their squares."""

    def __len__(self):
        return 7

    def __getitem__(self, index):
        return torch.tensor(float(index)), index**2


for x, y in DataLoader(Squares(), batch_size=3):
    print(x, y)
print(len(DataLoader(Squares(), batch_size=3)), len(DataLoader(Squares(), batch_size=3, drop_last=True)))
data = TensorDataset(torch.arange(10.0).reshape(5, 2), torch.arange(5))
print(data[1], len(data))
for batch in DataLoader(data, batch_size=2):
    print(batch)
first, second = random_split(data, [3, 2], generator=torch.Generator().manual_seed(0))
print(len(first), len(second), sorted([*first.indices, *second.indices]))
seen = torch.cat([labels for _, labels in DataLoader(data, batch_size=2, shuffle=True)])
print(seen.sort().values)
print(Subset(data, [4, 0])[0])
print(next(iter(DataLoader([{"a": 1, "b": 2.0}, {"a": 3, "b": 4.0}], batch_size=2))))
