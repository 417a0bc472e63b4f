#!/usr/bin/env python3
"""Prints the times of the last run of the kernel benchmark, ours beside DataFusion's.

    cargo bench --profile release -p firesteel-functions --bench kernels
    python bench/kernels.py
"""

import json
import os
from pathlib import Path

ROWS = 1_000_000


def estimate(folder: Path) -> float | None:
    """The median time of a row in nanoseconds."""
    file = folder / "new" / "estimates.json"
    return json.loads(file.read_text())["median"]["point_estimate"] / ROWS if file.exists() else None


def main() -> None:
    root = Path(__file__).resolve().parent.parent
    target = Path(os.environ.get("CARGO_TARGET_DIR") or root / "target") / "criterion"
    print(f"{'ns a row':<24}{'firesteel':>12}{'datafusion':>14}{'ratio':>10}")
    for folder in sorted(path for path in target.iterdir() if (path / "firesteel").is_dir()):
        ours, peer = estimate(folder / "firesteel"), estimate(folder / "datafusion")
        if ours is None:
            continue
        right = f"{peer:>14.2f}{ours / peer:>9.2f}x" if peer else f"{'-':>14}"
        print(f"{folder.name:<24}{ours:>12.2f}{right}")


if __name__ == "__main__":
    main()
