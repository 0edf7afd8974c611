"""Write outputs/recorded/presets.csv: the runs of each preset at each scale (make presets). Commit it."""

from sparseid.papers.presets import COLUMNS, compose_presets
from sparseid.papers.recorded import PRESETS, RECORDED, write_table
from sparseid.printing import protect_output


def main() -> None:
    lines = sorted(compose_presets())
    write_table(RECORDED / PRESETS, COLUMNS, lines)
    print(f"{RECORDED / PRESETS}: {len(lines)} runs of {len({line[:2] for line in lines})} presets")


if __name__ == "__main__":
    protect_output()
    main()
