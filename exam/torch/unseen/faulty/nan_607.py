# expect: GT401
# cause: exp of large logits overflows to infinity in a softmax that is written out
# wrong: not bool(loss.isfinite())
# cure: scores.exp() -> (scores - scores.amax(dim=-1, keepdim=True)).exp()
import torch
from torch import nn


def softmax(scores):
    numerator = scores.exp()  # <- here
    return numerator / numerator.sum(dim=-1, keepdim=True)


def negative_log_likelihood(probabilities, labels):
    picked = probabilities[torch.arange(len(labels)), labels]
    return -(picked + 1e-12).log().mean()


class PixelClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(49, 30)
        self.out = nn.Linear(30, 10)

    def forward(self, images):
        return softmax(self.out(torch.relu(self.hidden(images.flatten(1)))))


torch.manual_seed(0)
images = torch.randint(0, 256, (20, 7, 7)).float() * 8
labels = torch.randint(0, 10, (20,))
model = PixelClassifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(2):
    loss = negative_log_likelihood(model(images), labels)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
