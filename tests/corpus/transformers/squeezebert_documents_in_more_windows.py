# cause: shape
# old: i64[1,16]
# new: i64[1,24]
# reason: a longer document has a window more, and all of them are read in one step

import torch
import torch_xla
from transformers import SqueezeBertConfig, SqueezeBertModel

device = torch_xla.device()
torch.manual_seed(0)
config = SqueezeBertConfig(vocab_size=64, embedding_size=16, hidden_size=16, num_hidden_layers=1,
                           num_attention_heads=2, intermediate_size=32, max_position_embeddings=16, q_groups=2,
                           k_groups=2, v_groups=2, post_attention_groups=1, intermediate_groups=2, output_groups=2,
                           pad_token_id=None)
model = SqueezeBertModel(config).to(device).eval()
torch_xla.sync()


@torch.no_grad()
def vector(document):
    windows = [model(window).pooler_output for window in document.split(8, dim=1)]
    mean = torch.stack(windows).mean(0)
    torch_xla.sync()  # <- call
    return mean.cpu()


for words in (16, 16, 24):
    document = torch.randint(1, 64, (1, words)).to(device)  # <- cause
    print(words, vector(document).norm().item())
