"""Datasets: one folder each, with how it is made or read, its ground truth and its LightningDataModule."""
