# cause: shape
# old: i64[2,6]
# new: i64[2,9]
# advice: Pad
# reason: a state space model is recorded token by token, so that longer documents have more operations

import torch
import torch_xla
from transformers import MambaConfig, MambaForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = MambaConfig(vocab_size=48, hidden_size=16, state_size=4, num_hidden_layers=1, expand=2, conv_kernel=3,
                     time_step_rank=4, use_cache=False)
model = MambaForCausalLM(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
documents = torch.randint(48, (2, 21)).split([6, 6, 9], dim=1)
torch_xla.sync()
for document in documents:
    ids = document.contiguous().to(device)  # <- cause
    optimizer.zero_grad()
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.7)
    optimizer.step()
    torch_xla.sync()  # <- call
    print(ids.shape[1], loss.item())
