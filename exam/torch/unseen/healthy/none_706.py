import torch
from torch import nn


class Trainer:
    def __init__(self, model, data):
        self.model, self.data = model, data
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        self.criterion = nn.CrossEntropyLoss()

    def run_phase(self, phase):
        self.model.train(phase == "training")
        for x, y in self.data[phase]:
            self.optimizer.zero_grad()
            with torch.set_grad_enabled(phase == "training"):
                output = self.model(x)
                loss = self.criterion(output, y)
            if phase == "training":
                loss.backward()
                self.optimizer.step()
        return loss


torch.manual_seed(0)
batches = [(torch.randn(10, 8), torch.randint(0, 3, (10,))) for _ in range(4)]
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
trainer = Trainer(model, {"training": batches[:3], "validation": batches[3:]})
for epoch in range(2):
    for phase in ("training", "validation"):
        loss = trainer.run_phase(phase)
assert loss.isfinite()
