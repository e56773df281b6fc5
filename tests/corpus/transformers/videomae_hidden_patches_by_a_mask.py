# program: SyncTensorsGraph
# cause: first
# reason: in pretraining the library takes the visible patches with a mask, which the host has to count

import torch
import torch_xla
from transformers import VideoMAEConfig, VideoMAEModel

device = torch_xla.device()
torch.manual_seed(0)
config = VideoMAEConfig(image_size=16, patch_size=8, num_frames=4, tubelet_size=2, hidden_size=16,
                        num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, use_mean_pooling=False)
model = VideoMAEModel(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for step in range(4):
    clips, target = torch.rand(2, 4, 3, 16, 16).to(device), torch.randn(2, 16).to(device)
    masked = torch.stack([torch.randperm(8) for _ in range(2)]) < 4
    hidden = model(clips, bool_masked_pos=masked.to(device)).last_hidden_state  # <- cut 3
    loss = (hidden.mean(1) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- cause
