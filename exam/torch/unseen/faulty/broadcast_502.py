# expect: GT101
# cause: argmax keeps its dimension, so the hits of the accuracy are every prediction against every label
# wrong: correct.shape == (36, 36)
# cure: keepdim=True -> keepdim=False
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
images = torch.randn(36, 1, 8, 8)
labels = torch.randint(0, 4, (36,))
cnn = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 4))
optimizer = torch.optim.SGD(cnn.parameters(), lr=0.1)

for epoch in range(3):
    logits = cnn(images)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        guess = logits.argmax(dim=1, keepdim=True)
        correct = guess == labels  # <- here
        accuracy = correct.float().mean().item()
    print(epoch, loss.item(), accuracy)
