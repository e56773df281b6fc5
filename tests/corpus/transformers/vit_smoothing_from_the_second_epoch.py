# cause: structure
# reason: with smoothing, the loss is computed in another way

import torch
import torch_xla
from transformers import ViTConfig, ViTForImageClassification

device = torch_xla.device()
torch.manual_seed(0)
config = ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24, image_size=8,
                   patch_size=4, num_labels=5, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                   attn_implementation="eager")


class Objective:
    def __init__(self):
        self.smoothing = 0.0

    def __call__(self, logits, labels):
        log_p = torch.log_softmax(logits, -1)
        loss = -log_p.gather(1, labels[:, None]).mean()
        if self.smoothing:
            loss = (1 - self.smoothing) * loss - self.smoothing * log_p.mean()  # <- cause
        return loss


model = ViTForImageClassification(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
objective = Objective()
torch_xla.sync()
for epoch in range(2):
    objective.smoothing = 0.1 * epoch
    for _ in range(2):
        images, labels = torch.rand(4, 3, 8, 8).to(device), torch.randint(5, (4,)).to(device)
        optimizer.zero_grad()
        loss = objective(model(pixel_values=images).logits, labels)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    print(epoch, loss.item())
