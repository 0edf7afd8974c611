"""One run: seeds, data, module, trainer, fit, test, rows; and the folder it leaves."""
