"""Methods: layers, losses and LightningModules; no input or output."""
