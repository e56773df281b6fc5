# cause: structure
# reason: preferences are learned with DPO's loss at first, then with a hinge

import torch
import torch.nn.functional as F
import torch_xla
from transformers import OPTConfig, OPTForCausalLM

device = torch_xla.device()
torch.manual_seed(0)
config = OPTConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, ffn_dim=32,
                   max_position_embeddings=64, word_embed_proj_dim=16, dropout=0.0,
                   attn_implementation="eager")
policy, reference = OPTForCausalLM(config).to(device), OPTForCausalLM(config).to(device).eval()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.05)
torch_xla.sync()


def log_probability(model, ids):
    scores = model(ids, use_cache=False).logits[:, :-1].log_softmax(-1)
    return scores.gather(2, ids[:, 1:, None]).squeeze(2).sum(1)


def preference_loss(margin, kind):
    scaled = 0.1 * margin
    return (-F.logsigmoid(scaled) if kind == "sigmoid" else torch.relu(1 - scaled)).mean()  # <- cause


for kind in ("sigmoid", "sigmoid", "hinge"):
    ids = torch.randint(2, 64, (4, 10)).to(device)
    optimizer.zero_grad()
    with torch.no_grad():
        before = log_probability(reference, ids)
    chosen, rejected = (log_probability(policy, ids) - before).chunk(2)
    loss = preference_loss(chosen - rejected, kind)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(kind, loss.item())
