# cause: stable

import torch
import torch_xla
from transformers import CLIPTextConfig, CLIPTextModelWithProjection

device = torch_xla.device()
torch.manual_seed(0)
config = CLIPTextConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                        num_attention_heads=2, max_position_embeddings=10, projection_dim=8, eos_token_id=63)
model = CLIPTextModelWithProjection(config).to(device).eval()
torch_xla.sync()


def padded(text, length=10):
    return text + [63] + [0] * (length - len(text) - 1)


vectors = []
with torch.no_grad():
    for texts in ([[1, 2, 3], [4, 5]], [[6], [7, 8, 9, 10, 11]], [[12, 13], [14]]):
        ids = torch.tensor([padded(text) for text in texts])
        mask = (torch.arange(10) <= torch.tensor([len(text) for text in texts])[:, None]).long()
        embedded = model(ids.to(device), attention_mask=mask.to(device)).text_embeds
        embedded = embedded / embedded.norm(dim=-1, keepdim=True)
        torch_xla.sync()
        vectors.append(embedded.cpu())
print(torch.cat(vectors).shape)
