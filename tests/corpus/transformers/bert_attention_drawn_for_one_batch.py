# cause: structure
# reason: the attention of one batch is kept, for which the model computes it in another way

import torch
import torch_xla
from transformers import BertConfig, BertModel

device = torch_xla.device()
torch.manual_seed(0)
config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=32, attn_implementation="sdpa")
model = BertModel(config).to(device).eval()
mask = torch.ones(2, 6).to(device)
torch_xla.sync()
with torch.no_grad():
    for number in range(3):
        ids = torch.randint(64, (2, 6)).to(device)
        result = model(ids, attention_mask=mask, output_attentions=number == 2)  # <- cause, read
        vectors, drawn = result.pooler_output, result.attentions
        torch_xla.sync()  # <- call
        if drawn:
            print(drawn[0][0, 0].argmax(-1).tolist())
        print(vectors.norm().item())
