# cause: shape
# old: f32[2,3,32,32]
# new: f32[2,3,48,48]
# advice: Pad | resize

import torch
import torch_xla
from transformers import ConvNextConfig, ConvNextForImageClassification

device = torch_xla.device()
torch.manual_seed(0)
config = ConvNextConfig(num_stages=2, hidden_sizes=[4, 8], depths=[1, 1], num_labels=3, image_size=32)
model = ConvNextForImageClassification(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for side in (32, 32, 48):
    pictures = torch.rand(2, 3, side, side).to(device)  # <- cause
    labels = torch.randint(3, (2,)).to(device)
    optimizer.zero_grad()
    loss = model(pictures, labels=labels).loss
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
