"""Global decoder h from a motif map to a sequence of symbols."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

POSITIONS = ("rows_lstm", "frames", "grid")


class SequenceDecoder(nn.Module):
    """Embedding, max-pooling, position codes, transformer encoder and autoregressive transformer decoder.

    Parameters
    ----------
    channels
        Number of motif channels.
    cells
        Height and width of the motif map.
    vocabulary
        Number of output tokens: those of labels, then the start and the end token.
    width, heads, feedforward, encoder_layers, decoder_layers, dropout, norm_first
        Transformer sizes; torch's defaults otherwise (ReLU).
    pool
        Side and stride of the max-pooling window, in positions of the motif map.
    positions
        ``rows_lstm``: a bidirectional LSTM runs along each row, then the row number is encoded, so that only the LSTM
        conveys the horizontal order (published for images). ``frames``: the position in time is encoded (published for
        sounds). ``grid``: a learned vector per position, and a second embedding layer.
    one_dimensional
        For maps (N, channels, frames, 1): pooling only over frames.
    """

    def __init__(
        self,
        channels: int,
        cells: tuple[int, int],
        vocabulary: int,
        *,
        width: int = 512,
        pool: int = 8,
        positions: str = "rows_lstm",
        encoder_layers: int = 6,
        decoder_layers: int = 6,
        heads: int = 8,
        feedforward: int = 2048,
        dropout: float = 0.1,
        norm_first: bool = False,
        one_dimensional: bool = False,
    ) -> None:
        super().__init__()
        if positions not in POSITIONS:
            raise ValueError(f"positions={positions!r} must be one of {POSITIONS}")
        self.start, self.end = vocabulary - 2, vocabulary - 1
        self.embed = nn.Conv2d(channels, width, 1)
        across = 1 if one_dimensional else pool
        self.pool = nn.MaxPool2d((pool, across))
        if positions == "rows_lstm":
            self.place: nn.Module = RowPositions(width, dropout)
        elif positions == "frames":
            self.place = FramePositions(width, dropout)
        else:
            self.place = GridPositions(width, cells[0] // pool, cells[1] // across)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(width, heads, feedforward, dropout, batch_first=True, norm_first=norm_first),
            encoder_layers,
            enable_nested_tensor=False,
        )
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(width, heads, feedforward, dropout, batch_first=True, norm_first=norm_first),
            decoder_layers,
        )
        self.tokens = nn.Embedding(vocabulary, width)
        self.token_positions = SinusoidalPositions(width, dropout)
        self.head = nn.Linear(width, vocabulary)

    def encode(self, motifs: Tensor) -> Tensor:
        """Map motif maps (N, C, H, W) to memory (N, cells, width)."""
        return self.encoder(self.place(self.pool(self.embed(motifs))).flatten(1, 2))

    def decode(self, memory: Tensor, tokens: Tensor) -> Tensor:
        """Return the logits (N, T, vocabulary) of the token after each of tokens (N, T), given memory."""
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        x = self.token_positions(self.tokens(tokens))
        return self.head(self.decoder(x, memory, tgt_mask=mask, tgt_is_causal=True))

    def forward(self, motifs: Tensor, tokens: Tensor) -> Tensor:
        """Return the logits (N, T, vocabulary) for tokens (N, T) that begin with the start token (teacher forcing)."""
        return self.decode(self.encode(motifs), tokens)

    @torch.no_grad()
    def greedy(self, motifs: Tensor, steps: int) -> Tensor:
        """Decode greedily for up to `steps` tokens; (N, <= steps) int64 including the end token and later ones.

        On the CPU decoding stops once every sequence has ended, which does not affect tokens before the first end
        token; a GPU would have to wait for the answer at every token.
        """
        memory = self.encode(motifs)
        tokens = torch.full((len(motifs), 1), self.start, device=motifs.device)
        for _ in range(steps):
            newest = self.decode(memory, tokens)[:, -1].argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, newest], dim=1)
            if tokens.is_cpu and bool((tokens == self.end).any(1).all()):
                break
        return tokens[:, 1:]


class RowPositions(nn.Module):
    """Bidirectional LSTM along each row, then a sinusoidal code of the row number."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, width // 2, batch_first=True, bidirectional=True)
        self.rows = SinusoidalPositions(width, dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, width, rows, columns) to (N, rows, columns, width)."""
        items, width, rows, columns = x.shape
        x = self.lstm(x.permute(0, 2, 3, 1).reshape(items * rows, columns, width))[0]
        x = x.reshape(items, rows, columns, width).transpose(1, 2).reshape(items * columns, rows, width)
        return self.rows(x).reshape(items, columns, rows, width).transpose(1, 2)


class FramePositions(nn.Module):
    """Sinusoidal code of the row number, which is the time of a sound."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.frames = SinusoidalPositions(width, dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, width, rows, 1) to (N, rows, 1, width)."""
        return self.frames(x.squeeze(3).transpose(1, 2)).unsqueeze(2)


class GridPositions(nn.Module):
    """Second embedding layer and a learned vector per position, initially a smooth function of row and column."""

    def __init__(self, width: int, rows: int, columns: int) -> None:
        super().__init__()
        self.mix = nn.Sequential(nn.ReLU(), nn.Linear(width, width))
        waves = torch.arange(1, width // 4 + 1) / (width // 4) * math.pi
        row, column = torch.linspace(-1, 1, rows)[:, None] * waves, torch.linspace(-1, 1, columns)[:, None] * waves
        grid = torch.cat(
            [torch.cat([row.sin(), row.cos()], 1)[:, None].expand(-1, columns, -1),
             torch.cat([column.sin(), column.cos()], 1)[None].expand(rows, -1, -1)], dim=2
        )  # fmt: skip
        self.table = nn.Parameter(nn.functional.pad(grid, (0, width - grid.shape[2])))

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, width, rows, columns) to (N, rows, columns, width)."""
        return self.mix(x.permute(0, 2, 3, 1)) + self.table


class SinusoidalPositions(nn.Module):
    """Add the sinusoidal code of the position along axis 1, then dropout (Vaswani et al. 2017)."""

    def __init__(self, width: int, dropout: float, longest: int = 5000) -> None:
        super().__init__()
        angles = torch.arange(longest)[:, None] * torch.exp(torch.arange(0, width, 2) * (-math.log(1e4) / width))
        self.code: Tensor
        self.register_buffer(
            "code", torch.stack([angles.sin(), angles.cos()], 2).flatten(1)[:, :width], persistent=False
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, length, width) to the same shape."""
        return self.dropout(x + self.code[: x.shape[1]])
