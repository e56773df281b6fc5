# cause: structure
# reason: the states of all layers are kept for a look at them, so they are results of the program

import torch
import torch_xla
from transformers import DistilBertConfig, DistilBertModel

device = torch_xla.device()
torch.manual_seed(0)
config = DistilBertConfig(vocab_size=64, dim=16, hidden_dim=32, n_layers=2, n_heads=2,
                          max_position_embeddings=32, attn_implementation="eager")
model = DistilBertModel(config).to(device).eval()
mask = torch.ones(2, 8).to(device)
torch_xla.sync()
for number in range(3):
    ids = torch.randint(64, (2, 8)).to(device)
    with torch.no_grad():
        result = model(ids, attention_mask=mask, output_hidden_states=number == 2)  # <- cause
    torch_xla.sync()  # <- call
    print(result.last_hidden_state.mean().cpu())
print(len(result.hidden_states))
