# cause: shape
# old: i64[6,9]
# new: i64[2,9]
# advice: drop_last
# reason: sentence embeddings; fourteen pairs make two batches of six and one of two

import torch
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader
from transformers import MPNetConfig, MPNetModel

device = torch_xla.device()
torch.manual_seed(0)
config = MPNetConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
                     max_position_embeddings=24, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                     attn_implementation="eager")
model = MPNetModel(config, add_pooling_layer=False).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
pairs = [(torch.randint(3, 64, (9,)), torch.randint(3, 64, (9,))) for _ in range(14)]
torch_xla.sync()


def vectors(ids):
    states = model(ids, attention_mask=torch.ones_like(ids)).last_hidden_state
    return F.normalize(states.mean(1), dim=-1)


def ranking_loss(anchors, positives, scale=20.0):
    scores = scale * anchors @ positives.T
    return F.cross_entropy(scores, torch.arange(len(scores), device=scores.device))


for batch in DataLoader(pairs, batch_size=6):
    anchors, positives = (ids.to(device) for ids in batch)  # <- cause
    optimizer.zero_grad()
    loss = ranking_loss(vectors(anchors), vectors(positives))
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(len(anchors), loss.item())
