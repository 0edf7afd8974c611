"""Execution of one run: seeds, data, module, trainer, fit, test, rows; and its output folder."""
