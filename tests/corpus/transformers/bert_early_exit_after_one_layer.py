# cause: structure
# new: nothing
# reason: a hurried request leaves out the second layer

import torch
import torch_xla
from transformers import BertConfig, BertForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=64, num_labels=3,
                    attn_implementation="eager")
model = BertForSequenceClassification(config).to(device).eval()
layers = model.bert.encoder.layer
mask = torch.ones(2, 10).to(device)
torch_xla.sync()


@torch.no_grad()
def classify(ids, depth):
    model.bert.encoder.layer = layers[:depth]
    label = model(ids.to(device), attention_mask=mask).logits.argmax(-1)  # <- cause
    torch_xla.sync()  # <- call
    return label.tolist()


for depth in (2, 2, 1):
    print(classify(torch.randint(64, (2, 10)), depth))
