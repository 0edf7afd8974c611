"""Write scripts/study/STUDY.md from whatever of experiment=regcl/study has finished (make study)."""

from __future__ import annotations

import argparse
from pathlib import Path

from document import study_text, variants

from sparseid.files import write_text
from sparseid.printing import protect_output
from sparseid.reporting.collect import collect

FOLDER = Path(__file__).resolve().parent
NOTES = "notes.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of runs (default: outputs)")
    parser.add_argument(
        "--scale", choices=["smoke", "small", "paper"], help="only this scale (default: small and paper)"
    )
    parser.add_argument("--file", type=Path, default=FOLDER / "STUDY.md", help="what to write (default: STUDY.md)")
    arguments = parser.parse_args()
    collection = collect(arguments.outputs, arguments.scale)
    for problem in collection.of_paper("regcl").problems:
        print(f"not used: {problem}")
    rows = collection.rows
    scales = [arguments.scale] if arguments.scale else ["small", "paper"]
    write_text(arguments.file, study_text(rows, scales, (FOLDER / NOTES).read_text(encoding="utf-8")))
    for scale in scales:
        asked = variants(scale)
        of_scale = rows[(rows["paper"] == "regcl") & (rows["scale"] == scale)]
        print(f"scale={scale}: rows of {sum(len(one.of(of_scale)) > 0 for one in asked)} of {len(asked)} variants")
    print(f"Study: {arguments.file}")


if __name__ == "__main__":
    protect_output()
    main()
