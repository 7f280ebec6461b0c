# expect: GT509
# cause: the training step uses predict_proba, and cross_entropy wants the logits
# wrong: not torch.isclose(loss, F.cross_entropy(scores.log() if scores.min() >= 0 else scores, labels, label_smoothing=0.05), atol=1e-4)
# cure: scores = model.predict_proba(x) -> scores = model(x)
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self, n_in, n_classes):
        super().__init__()
        self.hidden = nn.Linear(n_in, 12)
        self.logits = nn.Linear(12, n_classes)

    def forward(self, x):
        return self.logits(F.leaky_relu(self.hidden(x)))

    def predict_proba(self, x):
        return torch.softmax(self(x), dim=-1)  # <- here


torch.manual_seed(0)
model = Classifier(7, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
x, labels = torch.randn(35, 7), torch.randint(0, 4, (35,))
for epoch in range(4):
    scores = model.predict_proba(x)  # <- here
    loss = F.cross_entropy(scores, labels, label_smoothing=0.05)  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
