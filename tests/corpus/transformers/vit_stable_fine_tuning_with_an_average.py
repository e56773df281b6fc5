# cause: stable

import torch
import torch_xla
from transformers import ViTConfig, ViTForImageClassification

device = torch_xla.device()
torch.manual_seed(0)
config = ViTConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, image_size=16,
                   patch_size=8, num_labels=4)
model = ViTForImageClassification(config).to(device)
model.vit.embeddings.requires_grad_(False)
trained = [p for p in model.parameters() if p.requires_grad]
averages = [p.detach().clone() for p in trained]
optimizer = torch.optim.SGD(trained, lr=0.05)
seen_loss = torch.zeros(1).to(device)
images, labels = torch.rand(32, 3, 16, 16), torch.randint(4, (32,))
torch_xla.sync()


def training_step(pixels, targets, halves=2):
    optimizer.zero_grad()
    for p, t in zip(pixels.chunk(halves), targets.chunk(halves)):
        with torch.autocast("xla", dtype=torch.bfloat16):
            loss = model(pixel_values=p.to(device), labels=t.to(device)).loss / halves
        loss.backward()
        seen_loss.add_(loss.detach())
    torch.nn.utils.clip_grad_norm_(trained, 0.9)
    optimizer.step()
    with torch.no_grad():
        for average, parameter in zip(averages, trained):
            average.lerp_(parameter, 0.1)
    torch_xla.sync()


model.train()
for epoch in range(2):
    for rows in torch.randperm(32).split(8):
        training_step(images[rows], labels[rows])
    print(epoch, seen_loss.item() / 4)
    seen_loss.zero_()
    torch_xla.sync()
model.eval()
right = 0
with torch.no_grad():
    for start in range(0, 32, 8):
        best = model(pixel_values=images[start:start + 8].to(device)).logits.argmax(-1)
        torch_xla.sync()
        right += (best.cpu() == labels[start:start + 8]).sum().item()
print(right / 32)
