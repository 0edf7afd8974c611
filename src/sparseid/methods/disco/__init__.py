"""DisCo: directions of a frozen generator, and an encoder that tells them apart by contrast."""
