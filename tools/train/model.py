"""The Transformer of "Attention Is All You Need" (Vaswani et al., 2017); sections refer to this paper.

Post-norm, sinusoidal positions, one table for both embeddings and the output, as in the paper.  Two
details follow Hugging Face's MarianMTModel, for which the weights are exported under these names: the
sines of a position come before its cosines, and all projections have biases.

Shapes: B sentences, S source tokens, T target tokens, D width, H heads, V vocabulary.
"""

import dataclasses
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclasses.dataclass(frozen=True)
class ModelSize:
    vocabulary: int  # with <pad>, which is the last id and the decoder start
    width: int
    feed_forward: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    interleaved: bool = False  # sinusoids in the order of the paper

    @property
    def pad(self) -> int:
        return self.vocabulary - 1


def sinusoids(positions: int, width: int, interleaved: bool = False) -> Tensor:
    """[positions, D]: section 3.5, with the sines in the left half and the cosines in the right, as
    Marian has them, or interleaved: sine, cosine, sine, and so on, as the paper has them."""
    frequency = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = torch.arange(positions, dtype=torch.float64)[:, None] * frequency
    if interleaved:
        return torch.stack([torch.sin(angle), torch.cos(angle)], dim=2).flatten(1).float()
    return torch.cat([torch.sin(angle), torch.cos(angle)], dim=1).float()


class Attention(nn.Module):
    """Multi-head attention, section 3.2.2."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(width, width)
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.out_proj = nn.Linear(width, width)

    def _split(self, x: Tensor) -> Tensor:
        """[B, length, D] to [B, H, length, D / H]"""
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, memory: Tensor, allowed: Tensor) -> Tensor:
        """x [B, T, D] attends to memory [B, S, D] where `allowed`, broadcast to [B, H, T, S], is
        true."""
        q, k, v = (self._split(projection(y)) for projection, y in (
            (self.q_proj, x), (self.k_proj, memory), (self.v_proj, memory)))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[3])  # equation 1
        scores = scores.float().masked_fill(~allowed, -math.inf)
        heads = torch.softmax(scores, dim=3).to(v.dtype) @ v  # [B, H, T, D / H]
        return self.out_proj(heads.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """The base of both stacks: section 3.1, each sub-layer is LayerNorm(x + Dropout(Sublayer(x)))."""

    def __init__(self, size: ModelSize, dropout: float):
        super().__init__()
        self.self_attn = Attention(size.width, size.heads)
        self.self_attn_layer_norm = nn.LayerNorm(size.width)
        self.fc1 = nn.Linear(size.width, size.feed_forward)
        self.fc2 = nn.Linear(size.feed_forward, size.width)
        self.final_layer_norm = nn.LayerNorm(size.width)
        self.dropout = nn.Dropout(dropout)

    def attend_to_self(self, x: Tensor, allowed: Tensor) -> Tensor:
        return self.self_attn_layer_norm(x + self.dropout(self.self_attn(x, x, allowed)))

    def feed_forward(self, x: Tensor) -> Tensor:
        """Equation 2."""
        return self.final_layer_norm(x + self.dropout(self.fc2(F.relu(self.fc1(x)))))


class EncoderLayer(Layer):
    def forward(self, x: Tensor, allowed: Tensor) -> Tensor:
        return self.feed_forward(self.attend_to_self(x, allowed))


class DecoderLayer(Layer):
    def __init__(self, size: ModelSize, dropout: float):
        super().__init__(size, dropout)
        self.encoder_attn = Attention(size.width, size.heads)
        self.encoder_attn_layer_norm = nn.LayerNorm(size.width)

    def forward(self, x: Tensor, causal: Tensor, memory: Tensor, allowed: Tensor) -> Tensor:
        x = self.attend_to_self(x, causal)
        x = self.encoder_attn_layer_norm(x + self.dropout(self.encoder_attn(x, memory, allowed)))
        return self.feed_forward(x)


class Stack(nn.Module):
    def __init__(self, layer: type[Layer], count: int, size: ModelSize, dropout: float):
        super().__init__()
        self.layers = nn.ModuleList(layer(size, dropout) for _ in range(count))


class Transformer(nn.Module):
    def __init__(self, size: ModelSize, dropout: float = 0.0):
        super().__init__()
        self.size = size
        # The row of <pad> is zero and stays zero: the first input of the decoder is its position alone.
        self.shared = nn.Embedding(size.vocabulary, size.width, padding_idx=size.pad)
        self.encoder = Stack(EncoderLayer, size.encoder_layers, size, dropout)
        self.decoder = Stack(DecoderLayer, size.decoder_layers, size, dropout)
        self.dropout = nn.Dropout(dropout)
        self._initialize()

    def _initialize(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        nn.init.normal_(self.shared.weight, std=self.size.width ** -0.5)
        with torch.no_grad():
            self.shared.weight[self.size.pad].zero_()

    def _embed(self, tokens: Tensor) -> Tensor:
        """[B, length] to [B, length, D]: sections 3.4 and 3.5."""
        x = self.shared(tokens) * math.sqrt(self.size.width)
        positions = sinusoids(tokens.shape[1], self.size.width, self.size.interleaved)
        return self.dropout(x + positions.to(x.device))

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """source [B, S] to the encoder's output [B, S, D] and the mask of its tokens."""
        allowed = (source != self.size.pad)[:, None, None, :]
        x = self._embed(source)
        for layer in self.encoder.layers:
            x = layer(x, allowed)
        return x, allowed

    def decode(self, decoder_input: Tensor, memory: Tensor, allowed: Tensor) -> Tensor:
        """decoder_input [B, T] to the decoder's output [B, T, D].  Position t sees none after it."""
        length = decoder_input.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool, device=decoder_input.device).tril()
        x = self._embed(decoder_input)
        for layer in self.decoder.layers:
            x = layer(x, causal, memory, allowed)
        return x

    def logits(self, x: Tensor) -> Tensor:
        """[..., D] to [..., V - 1]: section 3.4.  <pad> is never generated, so it has no logit."""
        return F.linear(x, self.shared.weight[:self.size.pad]).float()

    def forward(self, source: Tensor, decoder_input: Tensor) -> Tensor:
        """Logits [B, T, V - 1] of every next token, teacher-forced."""
        return self.logits(self.decode(decoder_input, *self.encode(source)))
