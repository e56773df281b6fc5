# cause: stable

import torch
import torch_xla
from transformers import WhisperConfig, WhisperForConditionalGeneration

device = torch_xla.device()
torch.manual_seed(0)
config = WhisperConfig(vocab_size=64, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                       decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, num_mel_bins=8,
                       max_source_positions=12, max_target_positions=16, pad_token_id=0, bos_token_id=1,
                       eos_token_id=2, decoder_start_token_id=3)
model = WhisperForConditionalGeneration(config)
model.freeze_encoder()
model.to(device)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.05)
torch_xla.sync()


def collate(transcripts, length=8):
    labels = torch.full((len(transcripts), length), -100)
    for row, words in zip(labels, transcripts):
        row[:len(words)] = torch.tensor(words)
    return {"input_features": torch.randn(len(transcripts), 8, 24), "labels": labels}


for transcripts in ([[5, 6, 7], [9, 8]], [[1, 2, 3, 4, 5, 6, 7, 8], [9]], [[4, 4], [5, 5, 5, 5]]):
    batch = {name: value.to(device) for name, value in collate(transcripts).items()}
    optimizer.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    print(loss.item())
