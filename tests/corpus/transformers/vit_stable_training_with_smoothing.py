# cause: stable

import torch
import torch_xla
from transformers import ViTConfig, ViTModel

device = torch_xla.device()
torch.manual_seed(0)
config = ViTConfig(image_size=16, patch_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                   intermediate_size=32, hidden_dropout_prob=0.1)
body, head = ViTModel(config, add_pooling_layer=False), torch.nn.Linear(16, 4)
model = torch.nn.ModuleList([body, head]).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=0.01)
criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
pictures, labels = torch.rand(12, 3, 16, 16), torch.randint(4, (12,))
torch_xla.sync()
for epoch in range(2):
    for rows in torch.randperm(12).split(4):
        x, y = pictures[rows].to(device), labels[rows].to(device)
        with torch.autocast("xla", dtype=torch.bfloat16):
            logits = head(body(x).last_hidden_state[:, 0])
        loss = criterion(logits.float(), y)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        torch_xla.sync()
    print(epoch, loss.item())
