# expect: GT509
# cause: cross entropy is given probabilities: forward ends in softmax, and the loss applies it again
# wrong: bool(torch.allclose(scores.sum(dim=1), torch.ones(len(scores))))
# cure: return F.softmax(self.out(h), dim=1) -> return self.out(h)
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class GenreNet(nn.Module):
    def __init__(self, bands=20, genres=6):
        super().__init__()
        self.conv = nn.Conv1d(bands, 16, 5)
        self.out = nn.Linear(16, genres)

    def forward(self, spectrogram):
        h = F.relu(self.conv(spectrogram)).amax(dim=-1)
        return F.softmax(self.out(h), dim=1)  # <- here


def run_epoch(model, loader, criterion, optimizer):
    global scores
    for spectrogram, genre in loader:
        optimizer.zero_grad()
        scores = model(spectrogram)
        criterion(scores, genre).backward()  # <- here
        optimizer.step()


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.rand(24, 20, 30), torch.randint(0, 6, (24,))), batch_size=8)
model = GenreNet()
run_epoch(model, loader, nn.CrossEntropyLoss(), torch.optim.Adam(model.parameters(), lr=1e-3))
