# program: SyncTensorsGraph
# cause: first
# reason: dynamic RoPE asks the host twice in each call how the largest position compares

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=32,
                     rope_scaling={"rope_type": "dynamic", "factor": 2.0})
model = LlamaForCausalLM(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for step in range(4):
    ids = torch.randint(64, (2, 8)).to(device)
    places = torch.arange(8).repeat(2, 1).to(device)
    optimizer.zero_grad()
    loss = model(ids, position_ids=places, labels=ids, use_cache=False).loss  # <- cut 3
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- cause
