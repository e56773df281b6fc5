# cause: stable

import torch
import torch_xla
from transformers import PegasusConfig, PegasusForConditionalGeneration

device = torch_xla.device()
torch.manual_seed(0)
config = PegasusConfig(vocab_size=64, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                       decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=24,
                       dropout=0.1, attn_implementation="eager")
model = PegasusForConditionalGeneration(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.08)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.9 / (step + 2) ** 0.5)
torch_xla.sync()


def padded(lengths, longest, filler):
    rows = torch.full((len(lengths), longest), filler)
    for row, length in zip(rows, lengths):
        row[:length] = torch.randint(2, 64, (length,))
    return rows


def micro_batch():
    articles = padded(torch.randint(5, 13, (3,)).tolist(), 12, 0)
    summaries = padded(torch.randint(2, 7, (3,)).tolist(), 6, -100)
    batch = {"input_ids": articles, "attention_mask": (articles != 0).long(), "labels": summaries}
    return {name: value.to(device) for name, value in batch.items()}


def train(steps, accumulate=2):
    model.train()
    for _ in range(steps):
        for _ in range(accumulate):
            loss = model(**micro_batch()).loss / accumulate
            loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.8)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        torch_xla.sync()
    return loss.item() * accumulate, norm.item()


@torch.no_grad()
def evaluate(batches):
    model.eval()
    total = 0.0
    for _ in range(batches):
        loss = model(**micro_batch()).loss
        torch_xla.sync()
        total += loss.item()
    return total / batches


for epoch in range(3):
    print(epoch, train(3), evaluate(2))
