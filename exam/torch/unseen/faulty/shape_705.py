# expect: GT116 or GT110 or GT314
# cause: the initial state is made for batches of 8, and the last batch has 4 examples
# wrong: raises RuntimeError
# cure: self.h0  # <- here -> self.h0[:, : len(x)].contiguous()
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SequenceModel(nn.Module):
    def __init__(self, batch_size, hidden=10):
        super().__init__()
        self.h0 = torch.zeros(1, batch_size, hidden)  # <- here
        self.gru = nn.GRU(3, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        begin = self.h0  # <- here
        states, _ = self.gru(x, begin)  # <- here
        return self.out(states[:, -1]).squeeze(1)


torch.manual_seed(0)
x, y = torch.randn(28, 9, 3), torch.randn(28)
loader = DataLoader(TensorDataset(x, y), batch_size=8)
model = SequenceModel(8)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for inputs, targets in loader:
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
