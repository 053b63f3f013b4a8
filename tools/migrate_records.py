"""Migrate records of trials from scarce-trial-1 (hashes of source text) to scarce-trial-2 (revisions), and pack them.

    python tools/migrate_records.py OLD_STORES CURRENT.json OUT

OLD_STORES holds a folder of trials per experiment. CURRENT.json maps the old key of every record to whether its source hash
was that of the code before revisions: any other record is refused, since revision 1 is defined as that code. Renamed
parameters are mapped; numbers are left alone.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scarce.bench.record import TrialRecord
from scarce.bench.store import Store
from scarce.bench.trials.packed import pack

METHOD_PARAMS = {
    "refine": {
        "first": "base_method",
        "short": "short_fraction",
        "share": "confident_fraction",
        "settled": "tol",
        "strength": "scar_strength",
        "errors": "error_rate",
    },
    "scar-likelihood": {"errors": "error_rate"},
    "answers": {"miss": "false_negative_rate", "false": "false_positive_rate"},
}
META_PARAMS = {"unlabelled": "unlabeled"}
SETTING_PARAMS = {
    "error": "error_rate",
    "p_miss": "false_negative_rate",
    "p_false": "false_positive_rate",
}


def renamed(params: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in params.items()}


def migrated(old: dict[str, Any]) -> TrialRecord:
    identity = dict(old["identity"])
    del identity["method_version"]
    names = METHOD_PARAMS.get(identity["method"], META_PARAMS)
    identity["method_params"] = renamed(identity["method_params"], names)
    identity["setting_params"] = renamed(identity["setting_params"], SETTING_PARAMS)
    if isinstance(identity["priors"], dict):
        identity["priors"] = {"perturb": identity["priors"]["corrupt"]}
    curves = {name: values for name, values in old["curves"].items() if name not in ("epoch", "learning_rate")}
    fields = {name: value for name, value in old.items() if name not in ("format", "key", "identity")}
    return TrialRecord.model_validate(fields | {"spec": identity, "curves": curves})


def main(stores: Path, current: Path, out: Path) -> None:
    is_current = json.loads(current.read_text())
    for folder in sorted(path for path in stores.iterdir() if path.is_dir()):
        with TemporaryDirectory() as scratch:
            store = Store(Path(scratch))
            paths = sorted((folder / "records").glob("*.json"))
            for path in paths:
                old = json.loads(path.read_text(encoding="utf-8"))
                if not is_current[old["key"]]:
                    raise SystemExit(f"{path} was run by earlier code; run its trial again.")
                store.save(migrated(old))
            for packed, n_trials in pack(store, out).items():
                print(f"{folder}: {len(paths)} records, {packed.path}: {n_trials} trials")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
