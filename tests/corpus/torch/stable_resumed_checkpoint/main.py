# cause: stable

import io

import torch
import torch_xla
from trainer import Trainer

torch.manual_seed(0)
data = [(torch.randn(4, 8), torch.randn(4, 1)) for _ in range(3)]
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
trainer = Trainer(model, torch_xla.device())
for epoch in range(2):
    trainer.epoch(data)
    file = io.BytesIO()
    trainer.save(file)
    file.seek(0)
    trainer.load(file)
    print(epoch, trainer.steps, trainer.loss.item())
