# cause: shape
# old: f32[4,16]
# new: f32[8,16]
# reason: prompt tuning: the second task is given a learned prompt of twice as many tokens

import torch
import torch.nn.functional as F
import torch_xla
from transformers import GPTNeoConfig, GPTNeoForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = GPTNeoConfig(vocab_size=64, hidden_size=16, num_layers=1, attention_types=[[["global"], 1]], num_heads=2,
                      intermediate_size=32, max_position_embeddings=32, resid_dropout=0.0, embed_dropout=0.0,
                      attention_dropout=0.0)
model = GPTNeoForCausalLM(config).to(device).eval().requires_grad_(False)
torch_xla.sync()


def loss_of(prompt, ids):
    words = model.get_input_embeddings()(ids)
    inputs = torch.cat([prompt.expand(len(ids), -1, -1), words], dim=1)
    logits = model(inputs_embeds=inputs, use_cache=False).logits[:, len(prompt):-1]
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def tune(tokens, steps):
    start = torch.randn(tokens, config.hidden_size) * 0.2
    prompt = start.to(device).requires_grad_()  # <- cause
    optimizer = torch.optim.SGD([prompt], lr=0.3)
    for _ in range(steps):
        ids = torch.randint(64, (3, 9)).to(device)
        optimizer.zero_grad()
        loss = loss_of(prompt, ids)
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
    return loss.item()


print(tune(tokens=4, steps=3))
print(tune(tokens=8, steps=3))
