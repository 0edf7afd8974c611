"""Reading what Weights & Biases has written offline."""

import json
import struct
from pathlib import Path

from wandb.proto import wandb_internal_pb2

BLOCK, HEADER, FILE_HEADER = 32768, 7, 7
WHOLE, LAST = 1, 4
"""Kinds of chunks that end a record."""


def records(folder: Path) -> list[tuple[str, wandb_internal_pb2.Record]]:
    """Return (kind, record) of an offline folder's file: protobuf messages in LevelDB's log format."""
    (path,) = folder.glob("*.wandb")
    data, at, message, found = path.read_bytes(), FILE_HEADER, b"", []
    while at + HEADER <= len(data):
        if BLOCK - at % BLOCK < HEADER:  # no header fits into what is left of the block
            at += BLOCK - at % BLOCK
            continue
        length, kind = struct.unpack("<HB", data[at + 4 : at + HEADER])
        message += data[at + HEADER : at + HEADER + length]
        at += HEADER + length
        if kind in (WHOLE, LAST):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(message)
            found.append((record.WhichOneof("record_type"), record))
            message = b""
    return found


def values(items) -> dict:
    """Return the values of a record's items by name, nested ones as name/name."""
    return {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items}


def offline_folder(outputs: Path) -> Path:
    """Return the only offline folder below a folder of runs."""
    (folder,) = (outputs / "wandb").glob("offline-run-*")
    return folder
