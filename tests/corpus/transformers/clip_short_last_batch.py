# program: SyncTensorsGraph
# cause: shape
# advice: drop_last
# reason: pictures, ids, and the labels that the loss counts up are all as many as the batch has rows

import torch
import torch_xla
from torch.utils.data import DataLoader
from transformers import CLIPConfig, CLIPModel

device = torch_xla.device()
torch.manual_seed(0)
small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
config = CLIPConfig(
    text_config=small | {"vocab_size": 64, "max_position_embeddings": 16, "eos_token_id": 63},
    vision_config=small | {"image_size": 16, "patch_size": 8}, projection_dim=8)
model = CLIPModel(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
rows = []
for _ in range(22):
    ids = torch.randint(63, (10,))
    ids[-1] = 63
    rows.append({"input_ids": ids, "pixel_values": torch.rand(3, 16, 16)})
torch_xla.sync()


def moved(batch):
    return {name: value.to(device) for name, value in batch.items()}  # <- cause


for batch in DataLoader(rows, batch_size=8):
    optimizer.zero_grad()
    model(**moved(batch), return_loss=True).loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
