# cause: stable

import random

import torch
import torch_xla
from transformers import BertConfig, BertForMaskedLM

HIDDEN, WORDS, LENGTH = 2, 64, 14
dice = random.Random(4)


def hide_words(ids, share):
    """Replaces some words; how many it is differs from row to row, the shapes do not."""
    labels = torch.full_like(ids, -100)
    for row in range(len(ids)):
        for place in dice.sample(range(LENGTH), max(1, int(share * LENGTH) + dice.randint(-1, 1))):
            labels[row, place] = ids[row, place]
            ids[row, place] = HIDDEN if dice.random() < 0.8 else dice.randrange(3, WORDS)
    return ids, labels


def share_at(step):
    return min(0.3, 0.1 + 0.04 * step)


def train(model, device, steps):
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)
    torch_xla.sync()
    for step in range(steps):
        ids, labels = hide_words(torch.randint(3, WORDS, (4, LENGTH)), share_at(step))
        loss = model(ids.to(device), labels=labels.to(device)).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        torch_xla.sync()
        print(step, loss.item())


torch.manual_seed(0)
device = torch_xla.device()
config = BertConfig(vocab_size=WORDS, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=32, attn_implementation="eager")
train(BertForMaskedLM(config).to(device), device, steps=5)
