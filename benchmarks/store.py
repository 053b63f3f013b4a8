"""Records of a long measurement: one JSON file, written after every record, taken up again by the same command."""

import argparse
import json
import platform
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from rich.progress import Progress

from scarce import __version__
from scarce.files import written_aside

__all__ = ["Record", "collect", "options", "versions", "write"]

Record = dict[str, Any]


def options(description: str | None, *, seeds: int, epochs: int, out: str) -> argparse.Namespace:
    """Read the command line of a measurement over data sets in a folder, several seeds and some epochs."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--out", type=Path, default=Path(out))
    return parser.parse_args()


def collect(
    store: Path, command: str, settings: Record, rows: Iterable[str], measure: Callable[[str], Record]
) -> Record:
    """Measure every row that the store does not hold yet; return all that it holds then.

    Records that were measured with other settings are not kept.
    """
    result: Record = json.loads(store.read_text()) if store.exists() else {}
    kept = result.get("records", []) if result.get("settings") == settings else []
    done = {record["row"]: record for record in kept}
    rows = list(rows)
    with Progress() as progress:
        task = progress.add_task("rows", total=len(rows), completed=len(done))
        for row in rows:
            if row not in done:
                progress.update(task, description=row)
                done[row] = {"row": row, **measure(row)}
                progress.advance(task)
            result = {
                "command": command,
                "settings": settings,
                "versions": {
                    "scarce": __version__,
                    "torch": torch.__version__,
                    "python": platform.python_version(),
                },
                "records": [done[known] for known in rows if known in done],
            }
            write(store, json.dumps(result, indent=1) + "\n")
    return result


def versions(result: Record) -> str:
    """Return the line that ends a table: what it was measured with."""
    return ", ".join(f"{name} {version}" for name, version in result["versions"].items()) + "."


def write(path: Path, text: str) -> None:
    """Write a text file aside and rename it."""
    with written_aside(path, force=True) as aside:
        aside.write_text(text)
