# cause: size
# old: 7
# new: 5
# reason: the mean of each sentence is over a slice that ends at its length

import torch
import torch_xla
from transformers import BertConfig, BertModel

device = torch_xla.device()
torch.manual_seed(0)


class Encoder:
    def __init__(self):
        config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                            intermediate_size=32, max_position_embeddings=64,
                            attn_implementation="eager")
        self.model = BertModel(config, add_pooling_layer=False).to(device).eval()

    @torch.no_grad()
    def __call__(self, ids, mask, lengths):
        hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        means = [hidden[row, :length].mean(0) for row, length in enumerate(lengths)]  # <- cause
        return torch.nn.functional.normalize(torch.stack(means), dim=-1)


encode = Encoder()
torch_xla.sync()
vectors = []
for lengths in ((7, 9), (5, 9)):
    ids = torch.zeros(2, 12, dtype=torch.long)
    for row, length in enumerate(lengths):
        ids[row, :length] = torch.randint(1, 64, (length,))
    vectors.append(encode(ids.to(device), (ids != 0).float().to(device), lengths))
    torch_xla.sync()  # <- call
print([vector.cpu().norm() for vector in vectors])
