# cause: donation
# old: kept
# new: donated
# advice: one dimension
# reason: logit_scale is a number that the host sent in the first step, and one that a step computed from then on

import torch
import torch_xla
from transformers import ChineseCLIPConfig, ChineseCLIPModel

device = torch_xla.device()
torch.manual_seed(0)
small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
text = small | {"vocab_size": 64, "max_position_embeddings": 16, "hidden_dropout_prob": 0.0,
                "attention_probs_dropout_prob": 0.0}
config = ChineseCLIPConfig(text_config=text, vision_config=small | {"image_size": 16, "patch_size": 8},
                           projection_dim=8)
model = ChineseCLIPModel(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
mask = torch.ones(4, 7, dtype=torch.long).to(device)
torch_xla.sync()
for step in range(4):
    ids = torch.randint(1, 64, (4, 7)).to(device)
    pictures = torch.rand(4, 3, 16, 16).to(device)
    optimizer.zero_grad()
    loss = model(input_ids=ids, attention_mask=mask, pixel_values=pictures, return_loss=True).loss
    loss.backward()
    optimizer.step()  # <- cause
    torch_xla.sync()  # <- call
    print(step, loss.item())
