"""Mutated checkpoints, classifiers, priors, records, experiments and pickles: loaded, or refused in one line.

The environment variables SCARCE_FUZZ_CASES and SCARCE_FUZZ_SEED set the cases of each test; a failure prints its case.
"""

import gzip
import json
import pickle
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.fuzz import (
    JSON_VALUES,
    as_json,
    count_outcomes,
    mutated,
    mutated_bytes,
    mutated_text,
    seeds_of_cases,
)
from helpers.training import (
    PRIORS,
    Interrupt,
    Tempered,
    make_data,
    make_early_stopping,
    make_linear,
    make_net,
)
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from scarce import ComplementaryLabels, ScarceClassifier, load
from scarce._hashing import bytes_digest
from scarce.bench import TrialRecord, load_experiment
from scarce.bench.spec.trial import TrialSpec
from scarce.bench.trials.packed import PackedStore
from scarce.datasets._cifar import to_integers
from scarce.datasets._unpickle import unpickle
from scarce.errors import ScarceError
from scarce.methods import make_method
from scarce.models import make_model
from scarce.priors import load_priors, resolve_priors
from scarce.simulate import uniform
from scarce.training import Recipe, train
from scarce.training._checkpoint import _checksum, load_state, save_state

SAVED = Path(__file__).parents[1] / "data"
INPUTS, LABELS = make_data()
TENSORS = [
    torch.zeros(0),
    torch.tensor(1.0),
    torch.tensor(7),
    torch.full((3,), torch.nan),
    torch.ones(2, 3, dtype=torch.float64),
    torch.ones(1, dtype=torch.bool),
]
RUNS = {
    "adam": (Tempered, make_net, {}, make_early_stopping),
    "sgd": (lambda: make_method("scarce"), make_net, {"optimizer": "sgd"}, list),
    "lbfgs": (lambda: make_method("scar-likelihood"), None, {"optimizer": "lbfgs"}, list),
    "stages": (lambda: make_method("refine", rounds=2), make_linear, {}, list),
    "pop": (lambda: make_method("pop"), make_linear, {}, list),
    "idgp": (lambda: make_method("idgp"), make_linear, {}, list),
    "meta-dist-pu": (lambda: make_method("meta-dist-pu"), make_linear, {}, list),
}


def report(record_property, counts, failed):
    """Record the counts, and fail with the first failures."""
    record_property("counts", counts)
    print(counts, len(failed))
    assert [(case, error) for case, error in failed[:10]] == []


def run(name, path, *callbacks):
    make, model, changes, early_stopping = RUNS[name]
    recipe = Recipe(**{"epochs": 4, "batch_size": 25, "learning_rate": 0.01, **changes})
    net = make_model("linear", (INPUTS.shape[1],), 3) if model is None else model()
    train(
        net,
        make(),
        INPUTS,
        LABELS,
        recipe,
        priors=PRIORS,
        make_model=make_linear,
        callbacks=[*early_stopping(), *callbacks],
        checkpoint=path,
    )


@pytest.mark.parametrize("name", RUNS)
def test_mutated_checkpoints(tmp_path, record_property, name):
    path = tmp_path / "c"
    with pytest.raises(KeyboardInterrupt):
        run(name, path, Interrupt(4))
    content, state = path.read_bytes(), load_state(path)

    def resume(case):
        rng = random.Random(case)
        if case % 3:
            save_state(path, mutated(state, rng, [*JSON_VALUES, *TENSORS]))
        else:
            path.write_bytes(content)
            rewrite_skeleton(path, rng)
        run(name, path)

    report(record_property, *count_outcomes(resume, seeds_of_cases(30)))


def rewrite_skeleton(path, rng):
    """Change the structure in a checkpoint, and correct its checksum."""
    with safe_open(path, framework="pt") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    skeleton = metadata["skeleton"]
    skeleton = (
        as_json(mutated(json.loads(skeleton), rng)) if rng.random() < 0.7 else mutated_text(skeleton, rng)
    )
    save_file(
        tensors, path, metadata=metadata | {"skeleton": skeleton, "checksum": _checksum(skeleton, tensors)}
    )


@pytest.fixture(scope="module")
def classifiers(tmp_path_factory):
    """Folders of saved classifiers of all formats, and the number of their columns."""
    folders = [path.parent for path in sorted(SAVED.glob("classifiers-*/*/classifier.json"))]
    X, y = INPUTS, LABELS
    for method in ("answers", "scarce"):
        folder = tmp_path_factory.mktemp("saved") / method
        ScarceClassifier(method, "linear", epochs=1).fit(X, answers() if method == "answers" else y).save(
            folder
        )
        folders.append(folder)
    return folders


def answers():
    rows = np.arange(len(LABELS))
    columns = {"example_id": rows, "annotator": np.array(["ann", "bob"])[rows % 2], "class_name": rows % 3}
    return ComplementaryLabels.from_answers(columns | {"answer": np.where(rows % 5, "no", "yes")}, 3)


def test_mutated_classifiers(tmp_path, record_property, classifiers):
    def read(case):
        rng = random.Random(case)
        source, folder = classifiers[case % len(classifiers)], tmp_path / "c"
        shutil.copytree(source, folder, dirs_exist_ok=True)
        settings = json.loads((source / "classifier.json").read_text("utf-8"))
        if rng.random() < 0.2:
            weights = {name: value for name, value in mutated(load_file(source / "weights.safetensors"), rng, TENSORS).items()
                       if isinstance(value, torch.Tensor)}  # fmt: skip
            save_file(weights, folder / "weights.safetensors")
            settings["weights_sha256"] = bytes_digest([(folder / "weights.safetensors").read_bytes()])
        else:
            settings = mutated(settings, rng)
        text = as_json(settings)
        if rng.random() < 0.1:
            text = mutated_text(text, rng)
        (folder / "classifier.json").write_text(text, "utf-8")
        classifier = load(folder)
        probabilities = classifier.predict_proba(np.zeros((2, *classifier.input_shape_), np.float32))
        assert probabilities.shape == (2, len(classifier.classes_))
        classifier.predict(np.zeros((2, *classifier.input_shape_), np.float32))
        str(classifier.label_summary_)

    report(record_property, *count_outcomes(read, seeds_of_cases(100)))


def test_mutated_priors(tmp_path, record_property):
    path = tmp_path / "priors.json"
    labels = uniform(["cat", "dog", "cow"] * 20, seed=0)
    resolve_priors([0.2, 0.3, 0.5], labels).save(path)
    stored = json.loads(path.read_text("utf-8"))

    def read(case):
        rng = random.Random(case)
        text = as_json(mutated(stored, rng))
        path.write_text(mutated_text(text, rng) if rng.random() < 0.2 else text, "utf-8")
        estimate = load_priors(path)
        estimate.save(tmp_path / f"{case}.json")
        assert abs(resolve_priors(estimate, labels).values.sum() - 1) < 0.01

    report(record_property, *count_outcomes(read, seeds_of_cases(150)))


RECORD = TrialRecord(
    spec=TrialSpec(
        data="digits", n_train=9, setting="scar", process="scar", setting_params={"c": [0.1, 0.2]}, method="scarce",
        model="mlp", seed=0, recipe={"epochs": 2},
    ),
    label="SCARCE", experiment="quick", protocol="own", accuracy=0.5, curves={"loss": [1.0, 0.5]}, machine={"cores": 2},
)  # fmt: skip


def test_mutated_records(tmp_path, record_property):
    def read(case):
        rng = random.Random(case)
        content = mutated(RECORD.to_dict(), rng)
        text = as_json(content)
        path = tmp_path / "record.json"
        path.write_text(mutated_text(text, rng) if rng.random() < 0.2 else text, "utf-8")
        record = TrialRecord.load(path)
        record.save(path)
        record.spec.make_recipe()

    report(record_property, *count_outcomes(read, seeds_of_cases(150)))


def test_mutated_packed_records(tmp_path, record_property):
    store = PackedStore(tmp_path / "quick.jsonl")

    def read(case):
        rng = random.Random(case)
        lines = [as_json(mutated(RECORD.to_dict(), rng)) for _ in range(2)]
        store.path.write_text("\n".join(lines), "utf-8")
        curves = "\n".join(
            as_json(mutated({"key": RECORD.key, "curves": {"loss": [1.0]}}, rng)) for _ in lines
        )
        packed = gzip.compress(curves.encode())
        store.curves_path.write_bytes(mutated_bytes(packed, rng) if case % 2 else packed)
        for record in PackedStore(store.path).records():
            record.to_dict()

    report(record_property, *count_outcomes(read, seeds_of_cases(60)))


EXPERIMENT = """
name = "mine"
title = "Mine"
protocol = "own"
data = ["digits"]
methods = ["scarce", {label = "NN", method = "nn", params = {beta = 0.5}}]
models = ["mlp", "linear"]
recipe = "annealed"
epochs = 3
priors = ["true", {perturb = 0.2}]

[[grid]]
settings = ["uniform", {name = "few", process = "scar", params = {c = 0.1}}]
seeds = 3

[[grid]]
settings = ["biased-a"]
seeds = [1, 5]
"""


def test_mutated_experiments(tmp_path, record_property):
    path = tmp_path / "e.toml"

    def read(case):
        rng = random.Random(case)
        text = mutated_text(EXPERIMENT, rng)
        path.write_text(mutated_text(text, rng) if case % 2 else text, "utf-8")
        load_experiment(path)

    report(record_property, *count_outcomes(read, seeds_of_cases(80)))


def test_mutated_pickles(tmp_path, record_property):
    content = {
        "data": np.arange(12, dtype=np.uint8).reshape(2, 6),
        "labels": [3, 1],
        "names": ["a", "b"],
        "rows": [np.arange(3)] * 2,
    }
    pickles = [pickle.dumps(content, protocol) for protocol in range(6)]

    def read(case):
        data = mutated_bytes(pickles[case % 6], random.Random(case))
        read = unpickle(data, tmp_path / "a.pkl")
        for name in read:
            to_integers(read, name, tmp_path / "a.pkl")

    report(record_property, *count_outcomes(read, seeds_of_cases(600)))


def test_mutated_opcodes(tmp_path, record_property):
    """Pickles of random opcodes with random arguments."""
    codes = b"(.0126FIJKLMNTUXabcdeghjlnopqrstu}])" + bytes([128, 129, *range(133, 151)])
    functions = (b"cnumpy\ndtype\n", b"cnumpy\nndarray\n", b"cnumpy.core.multiarray\n_reconstruct\n")
    opcodes = [*(bytes([code]) for code in codes), *functions, b"U\x02u1", b"K\x01", b"]q\x00", b"}", b"}"]

    def read(case):
        rng = random.Random(case)
        arguments = (b"", b"", bytes([rng.randrange(4)]), b"1\n", b"\xff" * 4, b"\x00" * 8)
        data = b"".join(rng.choice(opcodes) + rng.choice(arguments) for _ in range(rng.randrange(12))) + b"."
        unpickle(data, tmp_path / "a.pkl")

    counts, failed = count_outcomes(read, seeds_of_cases(600))
    report(record_property, counts, failed)


def test_damaged_bytes_are_refused(tmp_path, classifiers):
    """Bytes that are not the file at all."""
    for content in (b"", b"\x00" * 100, b"{}", b"[]", b"null", b'"a"', b"\xff\xfe"):
        path = tmp_path / "file.json"
        path.write_bytes(content)
        for read in (load_priors, TrialRecord.load, load_state):
            with pytest.raises(ScarceError):
                read(path)
