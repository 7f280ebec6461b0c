# expect: GT509 or GT118 or GT314
# cause: cross entropy of classes is given one-hot integers where it expects the numbers of the classes
# wrong: raises RuntimeError
# cure: return x, F.one_hot(label, 4) -> return x, label
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Quadrants(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, i):
        x = torch.tensor([float(i % 7 - 3), float(i % 5 - 2)])
        label = (x[0] > 0).long() * 2 + (x[1] > 0).long()
        return x, F.one_hot(label, 4)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
for x, label in DataLoader(Quadrants(), batch_size=10):
    loss = criterion(model(x), label)  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
