# cause: arguments
# new: i64[2,10]
# advice: same
# reason: single sentences come without segments, for which the model then takes zeros of its own

import torch
import torch_xla
from transformers import BertConfig, BertModel

device = torch_xla.device()
torch.manual_seed(0)
config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=32, attn_implementation="eager")
encoder = BertModel(config).to(device).eval()
torch_xla.sync()


@torch.no_grad()
def embed(features):
    features = features | {"attention_mask": [[1.0] * 10] * 2}
    features = {name: torch.tensor(rows).to(device) for name, rows in features.items()}  # <- cause
    hidden = encoder(**features).last_hidden_state
    vectors = hidden.mean(1)
    torch_xla.sync()  # <- call
    return vectors.cpu()


rows = torch.randint(1, 64, (3, 2, 10)).tolist()
print(embed({"input_ids": rows[0]}).shape)
print(embed({"input_ids": rows[1]}).shape)
print(embed({"input_ids": rows[2], "token_type_ids": [[0] * 4 + [1] * 6, [0] * 5 + [1] * 5]}).shape)
