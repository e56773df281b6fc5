# cause: shape
# old: i64[4,6]
# new: i64[4,9]
# advice: Pad
# run: --max-target-length 6
# run: --max-target-length 9
# reason: an option of the command line pads translations to another length in the second run

import argparse

import torch
import torch_xla
from transformers import MarianConfig, MarianMTModel

parser = argparse.ArgumentParser()
parser.add_argument("--max-source-length", type=int, default=8)
parser.add_argument("--max-target-length", type=int, default=8)
options = parser.parse_args()
device = torch_xla.device()
torch.manual_seed(0)
config = MarianConfig(vocab_size=64, decoder_vocab_size=64, d_model=16, encoder_layers=1, decoder_layers=1,
                      encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32,
                      max_position_embeddings=24, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0,
                      dropout=0.0, attn_implementation="eager")
model = MarianMTModel(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()


def padded(sentences, length):
    rows = torch.zeros(len(sentences), length, dtype=torch.long)
    for row, sentence in zip(rows, sentences):
        row[:len(sentence)] = sentence[:length]
    return rows


def sentences():
    return [torch.randint(2, 64, (length,)) for length in torch.randint(3, 6, (4,)).tolist()]


for step in range(3):
    batch = {"input_ids": padded(sentences(), options.max_source_length),
             "labels": padded(sentences(), options.max_target_length)}
    batch["attention_mask"] = (batch["input_ids"] != 0).long()
    batch = {name: value.to(device) for name, value in batch.items()}  # <- cause
    optimizer.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(step, loss.item())
