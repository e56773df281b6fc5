# cause: shape
# old: f32[4,3,32,32]
# new: f32[4,3,64,64]
# reason: the last epoch trains on pictures of twice the size

import torch
import torch_xla
from torch.utils.data import DataLoader
from transformers import ConvNextConfig, ConvNextForImageClassification

device = torch_xla.device()
torch.manual_seed(0)


class Pictures(torch.utils.data.Dataset):
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return {"pixel_values": torch.rand(3, self.size, self.size), "labels": torch.tensor(index % 3)}


config = ConvNextConfig(num_stages=2, hidden_sizes=[8, 16], depths=[1, 1], patch_size=4, num_labels=3)
model = ConvNextForImageClassification(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for epoch, size in enumerate((32, 32, 64)):
    for batch in DataLoader(Pictures(size), batch_size=4, drop_last=True):
        batch = {name: value.to(device) for name, value in batch.items()}  # <- cause
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(f"epoch {epoch}, {size} pixels: {loss.item():.4f}")
