# cause: gradient
# old: create
# new: accumulate
# reason: the first backward creates the gradients; zeroed in place, they are added to from then on

import torch
import torch_xla
from transformers import EsmConfig, EsmForMaskedLM

device = torch_xla.device()
torch.manual_seed(0)
config = EsmConfig(vocab_size=33, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
                   max_position_embeddings=32, mask_token_id=32, pad_token_id=1, hidden_dropout_prob=0.0,
                   attention_probs_dropout_prob=0.0, attn_implementation="eager")
model = EsmForMaskedLM(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()


def masked(proteins):
    chosen = torch.rand(proteins.shape) < 0.2
    return proteins.masked_fill(chosen, 32), proteins.masked_fill(~chosen, -100)


for step in range(4):
    ids, labels = masked(torch.randint(4, 24, (4, 12)))
    optimizer.zero_grad(set_to_none=False)
    loss = model(input_ids=ids.to(device), labels=labels.to(device)).loss
    loss.backward()  # <- cause
    optimizer.step()
    torch_xla.sync()  # <- call
    print(step, loss.item())
