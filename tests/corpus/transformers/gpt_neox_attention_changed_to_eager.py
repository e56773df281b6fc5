# cause: structure
# reason: another implementation of attention, set for the second half of the run

import torch
import torch_xla
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = GPTNeoXConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                       intermediate_size=32, max_position_embeddings=32, use_cache=False,
                       attn_implementation="sdpa")
model = GPTNeoXForCausalLM(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
data = torch.randint(64, (16, 12))
torch_xla.sync()


def train(rows):
    for ids in rows.split(4):
        ids = ids.to(device)
        optimizer.zero_grad()
        loss = model(input_ids=ids, labels=ids).loss  # <- cause
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    return loss.item()


print("sdpa", train(data[:8]))
model.set_attn_implementation("eager")
print("eager", train(data[8:]))
