# cause: shape
# pattern: unpadded
# reason: the collator pads to the longest sentence of the batch, as padding=True does

import torch
import torch_xla
from transformers import RobertaConfig, RobertaModel

device = torch_xla.device()
torch.manual_seed(0)
config = RobertaConfig(vocab_size=60, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                       intermediate_size=32, max_position_embeddings=40, pad_token_id=1,
                       hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                       attn_implementation="eager")
model = RobertaModel(config, add_pooling_layer=False).to(device).eval()
torch_xla.sync()


def collate(sizes):
    ids = torch.ones(len(sizes), max(sizes), dtype=torch.long)
    for row, size in zip(ids, sizes):
        row[:size] = torch.randint(3, 60, (size,))
    return ids


for sizes in ((9, 12, 4), (7, 3, 6), (15, 11, 13), (10, 2, 5), (8, 8, 14)):
    ids = collate(sizes).to(device)  # <- cause
    with torch.no_grad():
        states = model(input_ids=ids, attention_mask=(ids != 1).long()).last_hidden_state
    torch_xla.sync()  # <- call
    print(sizes, states.cpu()[:, 0].norm().item())
