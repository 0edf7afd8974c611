"""Create data/samples/scitldr_abstracts.txt.gz, wordnet_nouns.txt.gz and wikitext2.txt.gz.

The abstracts are those of SciTLDR-A (github.com/allenai/scitldr, commit 5ccad9c, folder SciTLDR-Data/SciTLDR-A;
Apache-2.0), the nouns those of WordNet 3.0 (the files index.noun and noun.exc, for example of Debian's wordnet-base),
the articles those of WikiText-2's parts for validation and test (CC BY-SA 3.0; the files valid.txt and test.txt).
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from sparseid.printing import protect_output

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"


def abstracts(folder: Path) -> list[str]:
    """Return one abstract per line: its sentences joined by spaces, in the order of train, dev and test."""
    lines = []
    for part in ("train", "dev", "test"):
        for line in (folder / f"{part}.jsonl").read_text(encoding="utf-8").splitlines():
            lines.append(" ".join(" ".join(json.loads(line)["source"]).split()))
    return lines


def nouns(folder: Path) -> list[str]:
    """Return nouns of one word, and after irregular plurals their singulars among the nouns."""
    index = (folder / "index.noun").read_text().splitlines()
    words = {line.split(" ", 1)[0] for line in index if not line.startswith("  ")}
    words = {word for word in words if word.isalpha()}
    plurals = {form: bases for form, *bases in map(str.split, (folder / "noun.exc").read_text().splitlines())}
    # a plural without a singular among the nouns is its own singular, so that no rule applies to it
    kept = {f: [base for base in bases if base in words] or [f] for f, bases in plurals.items() if f.isalpha()}
    entries = dict.fromkeys(words, "") | {form: " ".join(["", *bases]) for form, bases in kept.items()}
    # a plural that is itself a noun is also listed as one
    both = [form for form in kept if form in words]
    return sorted([f"{form}{bases}" for form, bases in entries.items()] + both)


def articles(folder: Path) -> list[str]:
    """Return the lines of the validation set of WikiText-2, then of its test set, without byte order marks."""
    texts = ((folder / f"{part}.txt").read_text(encoding="utf-8-sig") for part in ("valid", "test"))
    return [line for text in texts for line in text.removesuffix("\n").split("\n")]


def write(name: str, lines: Iterable[str]) -> None:
    content = gzip.compress(("\n".join(lines) + "\n").encode(), compresslevel=9, mtime=0)
    (SAMPLES / name).write_bytes(content)
    print(f"{SAMPLES / name}: {len(content)} bytes")


def main() -> int:
    """Read the sources, write a file for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scitldr", type=Path, help="folder with train.jsonl, dev.jsonl and test.jsonl")
    parser.add_argument("wordnet", type=Path, help="folder with index.noun and noun.exc")
    parser.add_argument("wikitext", type=Path, help="folder with valid.txt and test.txt")
    arguments = parser.parse_args()
    write("scitldr_abstracts.txt.gz", abstracts(arguments.scitldr))
    write("wordnet_nouns.txt.gz", nouns(arguments.wordnet))
    write("wikitext2.txt.gz", articles(arguments.wikitext))
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
