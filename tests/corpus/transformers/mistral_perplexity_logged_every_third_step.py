# cause: structure
# old: nothing
# reason: what is logged of every third step is computed before its sync

import torch
import torch_xla
from transformers import MistralConfig, MistralForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = MistralConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                       num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=32,
                       sliding_window=None, use_cache=False)
model = MistralForCausalLM(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.9 / (step + 1) ** 0.5)
data = torch.randint(64, (24, 10))
logged = []
torch_xla.sync()
for step, ids in enumerate(data.split(4)):
    ids = ids.to(device)
    optimizer.zero_grad()
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    schedule.step()
    if (step + 1) % 3 == 0:
        logged.append(loss.detach().exp())  # <- cause
    torch_xla.sync()  # <- call
print([round(perplexity.item(), 2) for perplexity in logged])
