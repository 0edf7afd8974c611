"""Explain which latents a dependency structure identifies, in which blocks, and why (Diverse Dictionary Learning).

The mask is a csv file of 0 and 1 without a header: one line per observation, one entry per latent, 1 where the
observation depends on the latent. Three observations of three latents, each reading two of them:

    1,1,0
    0,1,1
    1,0,1

The output states for every latent whether it is identified by itself (up to an invertible function of its own), as part
of a block of latents that may be mixed, or not at all; by which observations; and what no longer holds if latents
depend on each other. To train with the mask, set data.mask=FILE, each line an observation, as in

    python run.py experiment=ddl/theory variants=[] data.mask=mask.csv data.latents=3 data.injective=dominant

Warnings name the reasons why theorems do not apply (a latent that no observation reads, more latents than observations
that read them). Exit status: 0; 2 if the file is not a mask.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sparseid.errors import InputError
from sparseid.masks import read_mask
from sparseid.methods.ddl.explain import explain, warnings_of
from sparseid.printing import protect_output


def main() -> int:
    """Read a mask and print the latents that it identifies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mask", type=Path, help="csv file of 0 and 1, one line per observation")
    try:
        mask = read_mask(parser.parse_args().mask)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for warning in warnings_of(mask):
        print(f"warning: {warning}", file=sys.stderr)
    for line in explain(mask):
        print(line)
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
