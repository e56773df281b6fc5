# cause: arguments
# old: absent
# new: f32[8,2,16]
# reason: the model remembers the last piece of the text, and there is none before the first

import torch
import torch_xla
from transformers import XLNetConfig, XLNetLMHeadModel

device = torch_xla.device()
torch.manual_seed(0)
config = XLNetConfig(vocab_size=48, d_model=16, n_layer=1, n_head=2, d_inner=32, mem_len=8, dropout=0.0,
                     use_mems_train=True)
model = XLNetLMHeadModel(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
text = torch.randint(48, (2, 32))
memory = None
torch_xla.sync()
for start in range(0, 32, 8):
    ids = text[:, start:start + 8].to(device)
    optimizer.zero_grad()
    out = model(ids, mems=memory, labels=ids)  # <- cause
    memory = [state.detach() for state in out.mems]
    out.loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(out.loss.item())
