# expect: GT513
# cause: the classifier is replaced after the optimiser was made, which goes on with the old one
# wrong: torch.equal(start, model.classifier.weight)
# cure: optimizer = make_optimizer(model)\nadapt(model, 3) -> adapt(model, 3)\noptimizer = make_optimizer(model)
import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv = nn.Conv1d(2, 8, 3, padding=1)
        self.classifier = nn.Linear(8, classes)

    def forward(self, x):
        return self.classifier(torch.relu(self.conv(x)).mean(dim=-1))


def make_optimizer(model):
    groups = [
        {"params": model.conv.parameters(), "lr": 1e-4},
        {"params": model.classifier.parameters(), "lr": 1e-2},  # <- here
    ]
    return torch.optim.AdamW(groups)  # <- here


def adapt(model, classes):
    model.classifier = nn.Linear(model.classifier.in_features, classes)  # <- here


torch.manual_seed(0)
model = Backbone()
optimizer = make_optimizer(model)
adapt(model, 3)
start = model.classifier.weight.clone()
for step in range(5):
    x = torch.randn(12, 2, 20)
    loss = nn.functional.cross_entropy(model(x), torch.randint(0, 3, (12,)))
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
