import numpy as np
import pytest
import torch
from scipy.special import softmax

from sparseid.data.peerread.counts import Counts, counted
from sparseid.data.peerread.settings import CorpusSettings
from sparseid.data.peerread_shift.datamodule import PeerreadShiftData
from sparseid.data.peerread_shift.generator import correlated, draw, expected_counts, fitted_topics
from sparseid.data.peerread_shift.settings import PeerreadShiftSettings
from sparseid.errors import InputError
from sparseid.settings import settings_errors


@pytest.fixture(autouse=True)
def _own_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))


def settings(**changes):
    corpus = CorpusSettings(sections=["x"], words=60, max_df=0.9, min_df=0.0007, min_count=2, max_docs=250)
    return PeerreadShiftSettings(**({"corpus": corpus, "topics": 4, "sigma_shift": 0.5} | changes))


@pytest.fixture
def counts():
    """120 documents of two kinds, 30 words."""
    generator = np.random.default_rng(0)
    chances = softmax(2 * generator.standard_normal((2, 30)), axis=1)
    matrix = [generator.multinomial(generator.integers(4, 60), chances[number % 2]) for number in range(120)]
    return Counts(np.array(matrix, dtype=np.uint16), np.array([f"word{n}" for n in range(30)]), 0)


def test_copies_are_the_originals_times_a_log_normal_noise():
    generator = np.random.default_rng(0)
    intensities, noise = softmax(generator.standard_normal((500, 6)), axis=1), generator.standard_normal((500, 3))
    made = correlated(intensities, 0.5, noise)
    np.testing.assert_allclose(made.sum(axis=1), 1)
    np.testing.assert_allclose(np.log(made[:, 3:] / made[:, :3]), 0.5 * noise, atol=1e-12)
    ratios = made[:, :3] / made[:, :1]
    np.testing.assert_allclose(ratios, intensities[:, :3] / intensities[:, :1])  # the originals keep their ratios
    near, far = (correlated(intensities, sigma, noise) for sigma in (0.1, 3.0))
    assert np.corrcoef(near[:, 0], near[:, 3])[0, 1] > 0.95 > np.corrcoef(far[:, 0], far[:, 3])[0, 1]


def test_expected_counts_are_rounded_halves_to_even():
    intensities, words = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.25, 0.75], [0.75, 0.25]])
    assert expected_counts(np.array([10, 3]), intensities, words).tolist() == [[2, 8], [2, 2]]


def test_topics_are_shares_and_fitted_once(counts, monkeypatch):
    topics = fitted_topics(settings(), counts)
    assert topics.intensities.shape == (120, 4)
    assert topics.words.shape == (4, 30)
    for shares in topics:
        np.testing.assert_allclose(shares.sum(axis=1), 1)
    kinds = topics.intensities @ topics.words
    kind = kinds.argsort(axis=1)[:, -5:]
    assert len(set(kind[0]) & set(kind[2])) > len(set(kind[0]) & set(kind[1]))  # documents 0 and 2 are of one kind
    monkeypatch.setattr("sklearn.decomposition.LatentDirichletAllocation", None)
    assert np.array_equal(fitted_topics(settings(sigma_shift=3.0), counts).words, topics.words)


def test_training_and_test_documents_are_those_of_the_steps(counts):
    config = settings()
    train, test = draw(config, counts, [0, 1])
    topics, lengths = fitted_topics(config, counts), counts.matrix.sum(axis=1)
    expected = np.round(lengths[:, None] * (topics.intensities @ topics.words))
    expected = expected[expected.sum(axis=1) > 0]
    assert np.array_equal(test, expected)
    assert train.shape == (2, *test.shape)
    assert train.any(axis=2).all()
    assert not np.array_equal(train[0], train[1])
    assert abs(train.sum() / 2 - test.sum()) < 0.2 * test.sum()
    alone, same = draw(config, counts, [1])
    assert np.array_equal(alone[0], train[1])
    assert np.array_equal(same, test)
    other, _ = draw(settings(sigma_shift=1.0), counts, [1])
    assert not np.array_equal(other, alone)


def test_members_train_on_their_own_simulation_and_share_the_test():
    config = settings()
    data = PeerreadShiftData(config, [0, 1], batch_size=50)
    data.setup()
    assert data.train.shape == data.test.shape == (2, data.test_items, 60)
    assert data.test.stride(0) == 0
    assert not torch.equal(data.train[0], data.train[1])
    assert data.row_normalised
    assert "SciTLDR" in data.note
    assert f"{data.test_items} of {len(counted(config.corpus).matrix)} documents" in data.remarks[-1]


def test_too_short_documents_are_refused(monkeypatch, counts):
    short = counts._replace(matrix=np.eye(30, dtype=np.uint16) + 0 * counts.matrix[:30])
    monkeypatch.setattr("sparseid.data.peerread_shift.datamodule.counted", lambda _: short)
    with pytest.raises(InputError, match="documents are too short"):
        PeerreadShiftData(settings(), [0], batch_size=5)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"topics": 5}, "data.topics"),
        ({"topics": 0}, "data.topics"),
        ({"sigma_shift": 0.0}, "data.sigma_shift"),
        ({"sigma_shift": float("nan")}, "data.sigma_shift"),
        ({"corpus": CorpusSettings(sections=["x"], words=1, max_df=0.9, min_df=0, min_count=2)}, "data.corpus.words"),
    ],
)
def test_impossible_settings(changes, key):
    assert [keys[0] for keys, _ in settings_errors(settings(**changes), "data.", None)] == [key]
    assert list(settings_errors(settings(), "data.", None)) == []
