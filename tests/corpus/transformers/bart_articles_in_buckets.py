# cause: shape
# old: i64[4,16]
# new: i64[4,24]
# reason: articles are padded to the next of three lengths; summaries always have one length

import torch
import torch_xla
from transformers import BartConfig, BartForConditionalGeneration

device = torch_xla.device()
torch.manual_seed(0)
BUCKETS, SUMMARY = (16, 24, 32), 6
config = BartConfig(vocab_size=64, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                    decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32,
                    max_position_embeddings=40, dropout=0.0, attn_implementation="eager")
model = BartForConditionalGeneration(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()


def pad(rows, length):
    padded = torch.full((len(rows), length), config.pad_token_id)
    for place, row in enumerate(rows):
        padded[place, :len(row)] = row
    return padded


def collate(articles):
    longest = max(map(len, articles))
    ids = pad(articles, next(bucket for bucket in BUCKETS if bucket >= longest))
    labels = pad([row[:SUMMARY] for row in articles], SUMMARY)
    return {"input_ids": ids, "attention_mask": (ids != config.pad_token_id).long(), "labels": labels}


for lengths in ((9, 14, 16, 11), (12, 12, 8, 15), (10, 21, 13, 9)):
    articles = [torch.randint(3, 64, (length,)) for length in lengths]
    batch = {name: value.to(device) for name, value in collate(articles).items()}  # <- cause
    optimizer.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(lengths, loss.item())
