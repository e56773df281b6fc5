# cause: shape
# old: i64[1,3]
# new: i64[1,5]
# advice: Pad
# reason: the keys and values of the prompt are computed once, the questions have any length

import copy

import torch
import torch_xla
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=64)
model = LlamaForCausalLM(config).to(device).eval()
prompt = torch.randint(64, (1, 7)).to(device)
with torch.no_grad():
    shared = model(prompt, past_key_values=DynamicCache(), use_cache=True).past_key_values
torch_xla.sync()


@torch.no_grad()
def answer(question):
    ids = torch.tensor([question]).to(device)  # <- cause
    logits = model(ids, past_key_values=copy.deepcopy(shared), use_cache=True).logits
    token = logits[:, -1].argmax(-1)
    torch_xla.sync()  # <- call
    return token.item()


for question in ([5, 9, 2], [7, 7, 1], [3, 1, 4, 1, 5]):
    print(answer(question))
