# expect: GT512 or GT513
# cause: the scheduler is stepped and the optimiser is not
# wrong: torch.equal(net.out.weight, start)
# cure: scheduler.step()  # <- here -> optimizer.step()\n        scheduler.step()
import torch
from torch import nn


class TextCNN(nn.Module):
    def __init__(self, vocabulary=50, width=12):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.convs = nn.ModuleList(nn.Conv1d(width, 8, k) for k in (2, 3))
        self.out = nn.Linear(16, 2)

    def forward(self, tokens):
        x = self.embed(tokens).transpose(1, 2)
        return self.out(torch.cat([conv(x).relu().amax(dim=2) for conv in self.convs], dim=1))


torch.manual_seed(0)
net = TextCNN()
start = net.out.weight.detach().clone()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)  # <- here
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)
batches = [(torch.randint(0, 50, (8, 15)), torch.randint(0, 2, (8,))) for _ in range(3)]
for epoch in range(3):
    for tokens, labels in batches:
        optimizer.zero_grad()  # <- here
        loss = nn.functional.cross_entropy(net(tokens), labels)
        loss.backward()  # <- here
        scheduler.step()  # <- here
