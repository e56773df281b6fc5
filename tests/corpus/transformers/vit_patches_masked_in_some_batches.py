# cause: arguments
# old: absent
# reason: only some batches come with the patches that are to be masked

import torch
import torch_xla
from transformers import ViTConfig, ViTModel

device = torch_xla.device()
torch.manual_seed(0)


class Regressor(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.vit = ViTModel(config, add_pooling_layer=False, use_mask_token=True)
        self.head = torch.nn.Linear(config.hidden_size, 2)

    def forward(self, pixels, masked=None):
        hidden = self.vit(pixels, bool_masked_pos=masked).last_hidden_state
        return self.head(hidden[:, 0])


config = ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, image_size=16,
                   patch_size=4, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
model = Regressor(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()


def batches():
    for number in range(3):
        batch = {"pixels": torch.rand(4, 3, 16, 16), "target": torch.randn(4, 2)}
        if number == 2:
            batch["masked"] = torch.rand(4, 16) < 0.4
        yield batch


for batch in batches():
    batch = {name: value.to(device) for name, value in batch.items()}  # <- cause
    optimizer.zero_grad()
    output = model(batch["pixels"], batch.get("masked"))
    loss = (output - batch["target"]).square().mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(sorted(batch), loss.item())
