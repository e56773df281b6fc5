# cause: shape
# old: i64[3,6]
# new: i64[5,6]
# advice: Pad
# reason: pictures are held against as many texts as a catalogue has names

import torch
import torch_xla
from transformers import CLIPConfig, CLIPModel

device = torch_xla.device()
torch.manual_seed(0)
tower = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
config = CLIPConfig(text_config=tower | {"vocab_size": 64, "max_position_embeddings": 8, "eos_token_id": 63},
                    vision_config=tower | {"image_size": 16, "patch_size": 8}, projection_dim=8)
model = CLIPModel(config).to(device).eval()
torch_xla.sync()


def tokens_of(names):
    ids = torch.randint(1, 63, (len(names), 6))
    ids[:, -1] = 63
    return ids


@torch.no_grad()
def choose(pictures, names):
    ids = tokens_of(names).to(device)  # <- cause
    scores = model(input_ids=ids, pixel_values=pictures.to(device)).logits_per_image
    best = scores.argmax(1)
    torch_xla.sync()  # <- call
    return [names[place] for place in best.tolist()]


pictures = torch.rand(2, 3, 16, 16)
print(choose(pictures, ["cat", "dog", "horse"]))
print(choose(pictures, ["oak", "beech", "pine"]))
print(choose(pictures, ["red", "green", "blue", "white", "black"]))
