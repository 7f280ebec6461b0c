import torch
from torch import nn


class TwoStage(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 8))
        self.classifier = nn.Linear(8, 4)

    def forward(self, batch):
        outputs = {}
        features = self.encoder(batch["x"])
        outputs["features"] = features
        outputs["logits"] = self.classifier(torch.relu(outputs["features"]))
        return outputs


torch.manual_seed(0)
model = TwoStage()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for step in range(4):
    batch = {"x": torch.randn(16, 12), "label": torch.randint(0, 4, (16,))}
    outputs = model(batch)
    loss = criterion(outputs["logits"], batch["label"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert not (all(p.grad is None for p in model.encoder.parameters()))
