# cause: shape
# old: f32[16...
# new: f32[...
# reason: the model has a different size: queries, keys and values of a layer lose one of two heads

import torch
import torch_xla
from transformers import BertConfig, BertModel

device = torch_xla.device()
torch.manual_seed(0)
config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=32, attn_implementation="eager")
model = BertModel(config, add_pooling_layer=False).to(device).eval()
mask = torch.ones(4, 12).to(device)
torch_xla.sync()


@torch.no_grad()
def measure(ids):
    hidden = model(ids.to(device), attention_mask=mask).last_hidden_state
    spread = hidden.std(-1).mean()
    torch_xla.sync()  # <- call
    return spread.item()


texts = torch.randint(64, (3, 4, 12))
print(measure(texts[0]), measure(texts[1]))
model.to("cpu").prune_heads({0: [1]})
model.to(device)  # <- cause
torch_xla.sync()
print(measure(texts[2]))
