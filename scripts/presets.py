"""Write outputs/recorded/presets.csv: which runs each preset asks for at each scale (make presets). Commit it."""

from sparseid.papers.presets import COLUMNS, compose_presets
from sparseid.papers.recorded import PRESETS, RECORDED, write_table


def main() -> None:
    lines = sorted(compose_presets())
    write_table(RECORDED / PRESETS, COLUMNS, lines)
    print(f"{RECORDED / PRESETS}: {len(lines)} runs of {len({line[:2] for line in lines})} presets")


if __name__ == "__main__":
    main()
