"""DigitCircle: noisy digits on a circle, labelled counter-clockwise from the smallest (Sparling, section 5.1)."""
