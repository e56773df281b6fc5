# cause: stable

import torch
import torch_xla
from torch.utils.data import DataLoader, TensorDataset
from transformers import SwinConfig, SwinForImageClassification

device = torch_xla.device()
torch.manual_seed(0)
config = SwinConfig(image_size=16, patch_size=2, embed_dim=8, depths=[2, 1], num_heads=[1, 2], window_size=4,
                    drop_path_rate=0.2, num_labels=3)
model = SwinForImageClassification(config).to(device)
head = [p for name, p in model.named_parameters() if name.startswith("classifier")]
body = [p for name, p in model.named_parameters() if not name.startswith("classifier")]
optimizer = torch.optim.SGD([{"params": head, "lr": 0.07}, {"params": body, "lr": 0.004}], weight_decay=0.01)
data = TensorDataset(torch.rand(18, 3, 16, 16), torch.randint(3, (18,)))
training = DataLoader(data, batch_size=4, shuffle=True, drop_last=True)
evaluation = DataLoader(data, batch_size=6)
torch_xla.sync()


def train_epoch():
    model.train()
    for pixels, labels in training:
        optimizer.zero_grad()
        with torch.autocast("xla", dtype=torch.bfloat16):
            loss = model(pixel_values=pixels.to(device), labels=labels.to(device)).loss
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    return loss.item()


@torch.no_grad()
def evaluate():
    model.eval()
    right = 0
    for pixels, labels in evaluation:
        with torch.autocast("xla", dtype=torch.bfloat16):
            best = model(pixel_values=pixels.to(device)).logits.argmax(-1)
        torch_xla.sync()
        right += (best.cpu() == labels).sum().item()
    return right / len(data)


for epoch in range(3):
    print(epoch, train_epoch(), evaluate())
