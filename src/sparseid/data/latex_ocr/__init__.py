"""LaTeX-OCR: noisy images of formulas, labelled with their tokens (Sparling, section 5.1)."""
