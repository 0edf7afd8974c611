"""Data sets: one folder each, with generator or reader, ground truth and LightningDataModule."""
