# cause: shape
# old: i64[5,1]
# new: i64[9,1]
# advice: torch.where
# reason: the loss of the masked tokens alone; how many there are is read on the host

import torch
import torch.nn.functional as F
import torch_xla
from transformers import BertConfig, BertModel

device = torch_xla.device()
torch.manual_seed(0)
config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=64, hidden_dropout_prob=0.0,
                    attention_probs_dropout_prob=0.0, attn_implementation="eager")
encoder = BertModel(config, add_pooling_layer=False).to(device)
decoder = torch.nn.Linear(16, 64).to(device)
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
mask = torch.ones(2, 16).to(device)
for count in (5, 5, 9):
    ids = torch.randint(1, 64, (2, 16))
    labels = torch.full((32,), -100)
    chosen = torch.randperm(32)[:count]
    labels[chosen] = ids.flatten()[chosen]
    ids, labels = ids.to(device), labels.to(device)
    torch_xla.sync()
    optimizer.zero_grad()
    places = (labels != -100).nonzero().squeeze(1)  # <- cause, cut
    states = encoder(ids, attention_mask=mask).last_hidden_state.flatten(0, 1)
    loss = F.cross_entropy(decoder(states[places]), labels[places])
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
