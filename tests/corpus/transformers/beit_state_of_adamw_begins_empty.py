# cause: arguments
# old: absent
# new: f32[...
# advice: before the first step
# reason: the moments are made in the first step and are inputs of the second

import torch
import torch_xla
from transformers import BeitConfig, BeitForImageClassification

device = torch_xla.device()
torch.manual_seed(0)
config = BeitConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, image_size=16,
                    patch_size=8, drop_path_rate=0.0, num_labels=3)
model = BeitForImageClassification(config).to(device).train()
decayed = [p for p in model.parameters() if p.dim() > 1]
others = [p for p in model.parameters() if p.dim() <= 1]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}],
                              lr=3e-4)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.95 ** (step + 1))
torch_xla.sync()
for step in range(4):
    pictures, labels = torch.rand(6, 3, 16, 16).to(device), torch.randint(3, (6,)).to(device)
    loss = model(pixel_values=pictures, labels=labels).loss
    loss.backward()
    optimizer.step()  # <- cause
    schedule.step()
    optimizer.zero_grad()
    torch_xla.sync()  # <- call
    print(step, loss.item())
