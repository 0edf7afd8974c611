import pytest

from sparseid.data.stream import BatchStream


def test_periods_are_aligned_wherever_it_starts():
    step = 0
    stream = BatchStream(sample=lambda index: index * index, start=lambda: step, length=4)
    assert (len(stream), list(stream)) == (4, [0, 1, 4, 9])
    step = 6
    assert (len(stream), list(stream)) == (2, [36, 49])
    step = 8
    assert (len(stream), list(stream)) == (4, [64, 81, 100, 121])


def test_length():
    with pytest.raises(ValueError, match="length=0"):
        BatchStream(sample=lambda index: index, start=lambda: 0, length=0)
