"""Settings of the shifted word counts; values of the paper's code are in ``configs/data/peerread_shift.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparseid.data.peerread.settings import WordCountSettings
from sparseid.settings import Keys, Run, SettingsError, setting

SHIFTS = {0.5: "high", 1.0: "medium", 3.0: "low"}
"""Names of the values of sigma_shift in the Sparse VAE's Table 2."""


@dataclass
class PeerreadShiftSettings(WordCountSettings):
    """Word counts simulated from topics of the abstracts, correlated in training and as in the corpus in tests."""

    name: str = "peerread_shift"
    topics: int = setting("Number of topics, even: the second half are replaced by noisy copies of the first.")
    sigma_shift: float = setting(
        "Standard deviation of a copy's logarithm around the original: the smaller, the higher the correlation.",
        above=0,
    )

    loads = "sparseid.data.peerread_shift.datamodule:PeerreadShiftData"

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors that do not depend on the texts."""
        yield from self.corpus.errors()
        if self.topics < 2 or self.topics % 2:
            text = "half of the topics are copies of the other half: data.topics must be even, at least 2"
            yield SettingsError(("data.topics",), text)

    def row_keys(self) -> Keys:
        """Add the shift by its name in the paper's table and by its value, and the corpus."""
        shift: Keys = {"shift": SHIFTS.get(self.sigma_shift, "other"), "sigma_shift": self.sigma_shift}
        return super().row_keys() | shift | {"source": self.corpus.source}
