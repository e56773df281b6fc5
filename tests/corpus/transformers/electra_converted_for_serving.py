# cause: dtype
# reason: the same model is first compared in float32, then served in bfloat16

import torch
import torch_xla
from transformers import ElectraConfig, ElectraForTokenClassification

device = torch_xla.device()
torch.manual_seed(0)
config = ElectraConfig(vocab_size=60, embedding_size=16, hidden_size=16, num_hidden_layers=1,
                       num_attention_heads=2, intermediate_size=32, max_position_embeddings=32,
                       num_labels=3, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                       attn_implementation="eager")
model = ElectraForTokenClassification(config).to(device).eval()
ids = torch.randint(1, 60, (3, 10)).to(device)
torch_xla.sync()


def tag(ids):
    with torch.no_grad():
        logits = model(input_ids=ids).logits
    torch_xla.sync()  # <- call
    return logits.cpu().float().argmax(-1)


before = tag(ids)
before = tag(ids)
model.to(torch.bfloat16)  # <- cause
torch_xla.sync()
after = tag(ids)
print((before == after).float().mean().item())
