# cause: constant
# old: an argument
# new: 1
# reason: the temperature of a request is a number of the host, an argument unless it is 1

import torch
import torch_xla
from transformers import CodeGenConfig, CodeGenForCausalLM, LogitsProcessorList, TemperatureLogitsWarper

device = torch_xla.device()
torch.manual_seed(0)
config = CodeGenConfig(vocab_size=64, n_positions=32, n_ctx=32, n_embd=32, n_layer=1, n_head=4, rotary_dim=4)
model = CodeGenForCausalLM(config).to(device).eval()
torch_xla.sync()


@torch.no_grad()
def likeliest(request):
    ids = torch.tensor([request["ids"]]).to(device)
    warpers = LogitsProcessorList([TemperatureLogitsWarper(request["temperature"])])
    logits = model(ids, use_cache=False).logits[:, -1]
    shares = warpers(ids, logits).softmax(-1)  # <- cause
    share, token = shares.max(-1)
    torch_xla.sync()  # <- call
    return token.item(), share.item()


print(likeliest({"ids": [4, 8, 15, 16, 23], "temperature": 0.7}))
print(likeliest({"ids": [2, 3, 5, 7, 11], "temperature": 0.4}))
print(likeliest({"ids": [1, 1, 2, 3, 5], "temperature": 1.0}))
