import pytest
import torch

from sparseid.methods.sparling.decoder import SequenceDecoder
from sparseid.methods.sparling.encoder import LocalEncoder
from sparseid.methods.sparling.losses import exactly_right, sequence_cross_entropy, teacher_forcing

SMALL = {
    "width": 16,
    "pool": 2,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "heads": 2,
    "feedforward": 32,
    "dropout": 0.0,
}


def parameters(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_published_parameter_counts():
    decoder = SequenceDecoder(10, (100, 100), 12)
    assert parameters(LocalEncoder(10)) == 297_226
    assert parameters(decoder) == 45_733_388
    parts = {"embed": 5_632, "encoder": 18_914_304, "decoder": 25_224_192, "place": 1_576_960}
    assert {name: parameters(getattr(decoder, name)) for name in parts} == parts


def test_published_parameter_counts_of_latex_and_audio():
    assert parameters(LocalEncoder(32, blocks=16)) == 1_188_000
    assert parameters(SequenceDecoder(32, (120, 360), 28)) == 45_761_052
    assert parameters(LocalEncoder(10, blocks=8, in_channels=64, one_dimensional=True)) == 204_490
    frames = SequenceDecoder(10, (642, 1), 28, positions="frames", one_dimensional=True)
    assert parameters(frames) == 44_172_828
    assert frames.eval().encode(torch.zeros(1, 10, 642, 1)).shape == (1, 80, 512)


@pytest.mark.parametrize(("stem", "stride", "blocks"), [(1, 1, 4), (5, 2, 2), (3, 1, 1)])
def test_encoder_sees_its_window_and_no_further(stem, stride, blocks):
    encoder = LocalEncoder(2, width=4, blocks=blocks, stem_kernel=stem, stride=stride).eval()
    image = torch.zeros(1, 1, 60, 60, requires_grad=True)
    maps = encoder(image)
    centre = maps.shape[2] // 2
    maps[0, 0, centre, centre].backward()
    rows = image.grad[0, 0].abs().sum(1).nonzero().flatten()
    assert int(rows.max() - rows.min()) + 1 <= encoder.window
    assert maps.shape == (1, 2, 60 // stride, 60 // stride)


def test_published_window_is_17_pixels():
    assert LocalEncoder(10).window == 17


def test_published_windows_of_latex_and_audio():
    assert LocalEncoder(32, blocks=16).window == 65
    assert LocalEncoder(10, blocks=8, in_channels=64, one_dimensional=True).window == 33


@pytest.mark.parametrize("stride", [1, 2])
def test_a_sound_encoder_sees_all_bands_of_its_window_and_no_further(stride):
    torch.manual_seed(0)
    encoder = LocalEncoder(
        2, width=8, blocks=2, stem_kernel=3, stride=stride, in_channels=5, one_dimensional=True
    ).eval()
    sound = torch.randn(1, 5, 60, 1, requires_grad=True)
    maps = encoder(sound)
    assert maps.shape == (1, 2, 60 // stride, 1)
    maps[0, 0, maps.shape[2] // 2].sum().backward()
    gradient = sound.grad[0, :, :, 0].abs()
    seen = gradient.sum(0).nonzero().flatten()
    assert int(seen.max() - seen.min()) + 1 <= encoder.window
    assert (gradient.sum(1) > 0).all()


def test_one_dimension_is_the_middle_row_of_two():
    """A kernel of width 1 is a square one whose other columns are zero."""
    torch.manual_seed(0)
    narrow = LocalEncoder(3, width=4, blocks=2, stem_kernel=3, in_channels=2, one_dimensional=True).eval()
    square = LocalEncoder(3, width=4, blocks=2, stem_kernel=3, in_channels=2).eval()
    weights = narrow.state_dict()
    for name, weight in weights.items():
        if weight.dim() == 4 and weight.shape[2] == 3:
            weights[name] = torch.nn.functional.pad(weight, (1, 1))
    square.load_state_dict(weights)
    sound = torch.randn(2, 2, 30, 1)
    assert torch.allclose(narrow(sound), square(sound), atol=1e-6)


def test_bfloat16_encoder_returns_float32_close_to_full_precision():
    torch.manual_seed(0)
    encoder = LocalEncoder(3, width=8, blocks=2).eval()
    image = torch.rand(2, 1, 20, 20)
    full = encoder(image)
    encoder.bf16 = True
    half = encoder(image)
    assert half.dtype == torch.float32
    assert torch.allclose(full, half, atol=0.05)


@pytest.mark.parametrize("positions", ["rows_lstm", "grid"])
def test_decoder_reads_where_a_motif_lies(positions):
    torch.manual_seed(0)
    decoder = SequenceDecoder(3, (8, 8), 5, **SMALL, positions=positions).eval()
    maps = torch.zeros(4, 3, 8, 8)
    maps[0, 1, 0, 0] = maps[1, 1, 0, 7] = maps[2, 1, 7, 0] = maps[3, 1, 7, 7] = 1
    memory = decoder.encode(maps)
    assert memory.shape == (4, 16, 16)
    start = torch.full((4, 1), 3)
    logits = decoder.decode(memory, start)[:, 0]
    distances = torch.cdist(logits, logits) + torch.eye(4)
    assert distances.min() > 1e-5


@pytest.mark.parametrize("positions", ["frames", "grid"])
def test_decoder_of_sounds_reads_when_a_motif_comes(positions):
    torch.manual_seed(0)
    decoder = SequenceDecoder(3, (9, 1), 5, **SMALL, positions=positions, one_dimensional=True).eval()
    maps = torch.zeros(4, 3, 9, 1)
    for item in range(4):
        maps[item, 1, 2 * item] = 1
    memory = decoder.encode(maps)
    assert memory.shape == (4, 4, 16)  # the ninth frame fills no window
    logits = decoder.decode(memory, torch.full((4, 1), 3))[:, 0]
    assert (torch.cdist(logits, logits) + torch.eye(4)).min() > 1e-5


def test_greedy_decoding_agrees_with_teacher_forcing():
    """Exactly right under teacher forcing holds exactly when the greedy decode equals the label."""
    torch.manual_seed(1)
    decoder = SequenceDecoder(3, (4, 4), 5, **SMALL, positions="grid").eval()
    maps = torch.rand(60, 3, 4, 4)
    decoded = decoder.greedy(maps, steps=6)
    labels = torch.full((60, 6), -1)
    for row, tokens in enumerate(decoded.tolist()):
        length = tokens.index(4) if 4 in tokens else 6
        symbols = [token if token < 3 else 0 for token in tokens[:length]]
        labels[row, :length] = torch.tensor(symbols, dtype=torch.long)
    labels[::2] = torch.where(labels[::2] >= 0, (labels[::2] + 1) % 3, labels[::2])  # every second one made wrong
    inputs, targets = teacher_forcing(labels, 5)
    right = exactly_right(decoder(maps, inputs), targets, 6)
    for row in range(60):
        length = int((labels[row] >= 0).sum())
        tokens = decoded[row].tolist()
        greedy_right = tokens[:length] == labels[row, :length].tolist() and tokens[length : length + 1] in ([4], [])
        assert bool(right[row]) == greedy_right


def test_unknown_positions_are_refused():
    with pytest.raises(ValueError, match="positions"):
        SequenceDecoder(3, (4, 4), 5, positions="polar")


def test_teacher_forcing_shifts_and_pads():
    inputs, targets = teacher_forcing(torch.tensor([[7, 2, -1], [3, 1, 5]]), 12)
    assert inputs.tolist() == [[10, 7, 2, 11], [10, 3, 1, 5]]
    assert targets.tolist() == [[7, 2, 11, -100], [3, 1, 5, 11]]


def test_cross_entropy_is_a_mean_over_target_tokens():
    logits = torch.zeros(2, 4, 12)
    _, targets = teacher_forcing(torch.tensor([[7, 2, -1], [3, 1, 5]]), 12)
    assert sequence_cross_entropy(logits, targets).item() == pytest.approx(torch.log(torch.tensor(12.0)).item())
    logits[0, 0, 7] = 2.0  # one of seven target tokens becomes likelier
    improved = torch.log(torch.exp(torch.tensor(2.0)) + 11) - 2
    expected = (improved + 6 * torch.log(torch.tensor(12.0))) / 7
    assert sequence_cross_entropy(logits, targets).item() == pytest.approx(expected.item(), rel=1e-6)


def test_exactly_right_ignores_padding_only():
    _, targets = teacher_forcing(torch.tensor([[7, -1]]), 12)
    logits = torch.nn.functional.one_hot(torch.tensor([[7, 11, 4]]), 12).float()
    assert exactly_right(logits, targets, 9).tolist() == [True]
    logits[0, 1, 11] = -1
    assert exactly_right(logits, targets, 9).tolist() == [False]


def test_no_end_token_is_asked_for_after_the_last_decoded_one():
    """A label of 30 tokens ends with the 30 steps of validation (authors' code); a shorter one needs its end token."""
    labels = torch.full((2, 30), 3)
    labels[1, 29] = -1
    _, targets = teacher_forcing(labels, 12)
    logits = torch.nn.functional.one_hot(torch.full((2, 31), 3), 12).float()  # never the end
    assert exactly_right(logits, targets, 30).tolist() == [True, False]
    assert exactly_right(logits, targets, 31).tolist() == [False, False]
