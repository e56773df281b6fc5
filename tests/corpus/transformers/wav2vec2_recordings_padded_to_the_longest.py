# cause: shape
# pattern: unpadded
# reason: the feature extractor pads a batch to its longest recording

import torch
import torch_xla
from torch.nn.utils.rnn import pad_sequence
from transformers import Wav2Vec2Config, Wav2Vec2ForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = Wav2Vec2Config(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
                        conv_dim=(8, 8), conv_kernel=(10, 4), conv_stride=(5, 4), num_feat_extract_layers=2,
                        num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, hidden_dropout=0.0,
                        attention_dropout=0.0, activation_dropout=0.0, feat_proj_dropout=0.0, layerdrop=0.0,
                        apply_spec_augment=False, classifier_proj_size=8, num_labels=3)
model = Wav2Vec2ForSequenceClassification(config).to(device).train()
model.freeze_feature_encoder()
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.05)
torch_xla.sync()


def batches():
    for lengths in ((200, 180, 160), (170, 240, 230), (210, 150, 190), (260, 280, 120)):
        recordings = [torch.randn(length) for length in lengths]
        yield pad_sequence(recordings, batch_first=True), torch.randint(3, (3,))


for recordings, labels in batches():
    inputs = {"input_values": recordings.to(device), "labels": labels.to(device)}  # <- cause
    optimizer.zero_grad()
    loss = model(**inputs).loss
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(recordings.shape[1], loss.item())
