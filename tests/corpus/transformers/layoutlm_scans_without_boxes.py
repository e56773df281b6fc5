# cause: arguments
# old: i64[2,10,4]
# new: absent
# reason: a scan whose words have no places; the model then takes zeros of its own

import torch
import torch_xla
from transformers import LayoutLMConfig, LayoutLMForTokenClassification

device = torch_xla.device()
torch.manual_seed(0)
config = LayoutLMConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                        intermediate_size=32, max_position_embeddings=16, max_2d_position_embeddings=128,
                        num_labels=3)
model = LayoutLMForTokenClassification(config).to(device).eval()
torch_xla.sync()


def features_of(pages):
    features = {"input_ids": torch.tensor([page["words"] for page in pages]),
                "attention_mask": torch.ones(len(pages), 10, dtype=torch.long),
                "token_type_ids": torch.zeros(len(pages), 10, dtype=torch.long)}
    if all("boxes" in page for page in pages):
        features["bbox"] = torch.tensor([page["boxes"] for page in pages])
    return {name: tensor.to(device) for name, tensor in features.items()}  # <- cause


@torch.no_grad()
def tags(pages):
    logits = model(**features_of(pages)).logits
    best = logits.argmax(-1)
    torch_xla.sync()  # <- call
    return best.tolist()


def page(boxes=True):
    words = torch.randint(64, (10,)).tolist()
    corners = torch.randint(60, (10, 2))
    places = torch.cat([corners, corners + torch.randint(1, 60, (10, 2))], 1).tolist()
    return {"words": words, "boxes": places} if boxes else {"words": words}


print(tags([page(), page()]))
print(tags([page(), page()]))
print(tags([page(boxes=False), page(boxes=False)]))
