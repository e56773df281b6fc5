# cause: structure
# subject: optimizer
# old: updates 2 tensors
# reason: in the first epoch the head alone has gradients, and the optimizer skips the rest

import torch
import torch_xla
from transformers import ViTConfig, ViTForImageClassification

device = torch_xla.device()
torch.manual_seed(0)
config = ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, image_size=16,
                   patch_size=8, num_labels=4, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
model = ViTForImageClassification(config).to(device).train()
model.vit.requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
images, labels = torch.rand(8, 3, 16, 16), torch.randint(4, (8,))
torch_xla.sync()


def train_epoch():
    total = 0.0
    for start in range(0, 8, 4):
        pixels, targets = images[start:start + 4].to(device), labels[start:start + 4].to(device)
        optimizer.zero_grad()
        outputs = model(pixel_values=pixels, labels=targets)
        outputs.loss.backward()
        optimizer.step()  # <- cause
        torch_xla.sync()  # <- call
        total += outputs.loss.item()
    return total / 2


print("head", train_epoch())
model.vit.requires_grad_(True)
print("all", train_epoch(), train_epoch())
