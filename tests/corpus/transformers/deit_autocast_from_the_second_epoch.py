# cause: structure
# subject: convert
# old: nothing
# reason: the first epoch is trained in full precision, the others in bfloat16

import torch
import torch_xla
from transformers import DeiTConfig, DeiTForImageClassification

device = torch_xla.device()
torch.manual_seed(0)
config = DeiTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, image_size=16,
                    patch_size=8, num_labels=3, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                    attn_implementation="eager")
model = DeiTForImageClassification(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()


def training_step(pixels, labels, mixed):
    optimizer.zero_grad()
    with torch.autocast("xla", dtype=torch.bfloat16, enabled=mixed):
        loss = model(pixel_values=pixels, labels=labels).loss  # <- cause
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    return loss


for epoch in range(2):
    for _ in range(2):
        pixels, labels = torch.rand(4, 3, 16, 16).to(device), torch.randint(3, (4,)).to(device)
        loss = training_step(pixels, labels, mixed=epoch > 0)
    print(epoch, loss.item())
