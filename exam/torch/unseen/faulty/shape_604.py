# expect: GT118 or GT115 or GT509
# cause: the labels go from 1 to 5 and the network has 5 outputs, which are numbered from 0
# wrong: raises IndexError
# cure: rating = int(row["rating"]) -> rating = int(row["rating"]) - 1
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Reviews(Dataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(0)
        self.rows = [
            {"text": torch.randint(0, 30, (6,), generator=generator), "rating": 1 + i % 5} for i in range(count)
        ]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        rating = int(row["rating"])
        return row["text"], rating


class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.EmbeddingBag(30, 12)
        self.out = nn.Linear(12, 5)

    def forward(self, text):
        return self.out(self.words(text))


torch.manual_seed(0)
model = Sentiment()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters())
for text, rating in DataLoader(Reviews(20), batch_size=10):
    optimizer.zero_grad()
    loss = criterion(model(text), rating)  # <- here
    loss.backward()
    optimizer.step()
