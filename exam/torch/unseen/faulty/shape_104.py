# expect: GT314 or GT115
# cause: the tokens are floats, because they were padded with a float array; an embedding takes integers
# wrong: raises RuntimeError
# cure: torch.zeros(3, 6) -> torch.zeros(3, 6, dtype=torch.long)
import torch
from torch import nn

torch.manual_seed(0)
padded = torch.zeros(3, 6)  # <- here
for row, length in enumerate((4, 6, 2)):
    padded[row, :length] = torch.randint(1, 20, (length,))
embedding = nn.Embedding(20, 8)
head = nn.Linear(8, 1)
loss = head(embedding(padded).mean(1)).square().mean()  # <- here
loss.backward()
