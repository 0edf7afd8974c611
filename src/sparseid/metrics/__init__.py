"""The papers' metrics, as pure functions of arrays."""
