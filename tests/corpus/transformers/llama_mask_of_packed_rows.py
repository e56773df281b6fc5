# cause: shape
# old: f32[2,8]
# new: f32[2,1,8,8]
# reason: rows that hold several documents come with a mask of four dimensions

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=32,
                     attn_implementation="eager")
model = LlamaForCausalLM(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()


def collate(documents):
    if all(len(row) == 1 for row in documents):
        return torch.ones(len(documents), 8)
    mask = torch.full((len(documents), 1, 8, 8), -1e9)
    for number, row in enumerate(documents):
        start = 0
        for length in row:
            mask[number, 0, start:start + length, start:start + length] = 0
            start += length
    return mask + torch.full((8, 8), -1e9).triu(1)


for documents in (([8], [8]), ([8], [8]), ([3, 5], [8])):
    ids = torch.randint(64, (2, 8)).to(device)
    mask = collate(documents).to(device)  # <- cause
    optimizer.zero_grad()
    model(ids, attention_mask=mask, labels=ids, use_cache=False).loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
