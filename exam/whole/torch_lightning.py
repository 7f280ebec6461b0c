# needs: lightning
"""A Lightning module with its trainer: training, validation, a schedule, gradient clipping, accumulated batches."""

import logging
import tempfile
import warnings

import torch
from measure import Steps
from torch import nn
from torch_measure import allow_torchvision_without_cuda, finish

library = allow_torchvision_without_cuda()  # torchmetrics imports torchvision where there is one

import lightning as L  # noqa: E402

logging.getLogger("lightning").setLevel(logging.ERROR)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", ".*does not have many workers.*")
warnings.filterwarnings("ignore", ".*LeafSpec.*")


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(20, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
        self.loss = nn.CrossEntropyLoss()

    def training_step(self, batch, index):
        x, y = batch
        loss = self.loss(self.net(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        scores = self.net(x)
        self.log("accuracy", (scores.argmax(1) == y).float().mean(), prog_bar=True)

    def configure_optimizers(self):
        optimiser = torch.optim.Adam(self.parameters(), lr=1e-2)
        return {"optimizer": optimiser, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimiser, 20)}


class Timer(L.Callback):
    def on_train_batch_start(self, trainer, module, batch, index):
        steps.begin()

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        steps.end()


steps = Steps()
L.seed_everything(0, verbose=False)
x = torch.randn(256, 20)
y = (x[:, :3]).argmax(1)
training = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[:192], y[:192]), batch_size=16, shuffle=True)
validation = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[192:], y[192:]), batch_size=16)
model = Classifier()
with tempfile.TemporaryDirectory() as folder:
    trainer = L.Trainer(
        max_epochs=60, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, gradient_clip_val=1.0, accumulate_grad_batches=2, callbacks=[Timer()],
        default_root_dir=folder,
    )  # fmt: skip
    trainer.fit(model, training, validation)
print(f"accuracy {float(trainer.callback_metrics['accuracy']):.4f}")
finish(steps, model)
