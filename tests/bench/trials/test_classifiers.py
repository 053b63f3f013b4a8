"""Experiments that compare classifiers: from a file through the command line to tables and regret."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from helpers.bench_records import fill, trials_of
from scipy.io import savemat

from scarce.bench.baselines import RIVALS
from scarce.bench.reports.content import make_report
from scarce.bench.results.regret import regrets
from scarce.bench.results.results import Study, read_study
from scarce.bench.spec.classifier_grid import ClassifierGrid, ClassifierParams
from scarce.bench.spec.experiment import Experiment, load_experiment
from scarce.bench.spec.splits import train_test_rows
from scarce.bench.trials.record import TrialRecord
from scarce.cli.main import main
from scarce.errors import FileError, MethodError

TABLE = """
name = "mine"
title = "Mine"
protocol = "own"
kind = "classifiers"
data = "digits"
split = "70/30"
settings = ["uniform", { name = "scar", process = "scar-unequal" }]
methods = ["pl-knn", "em-lr"]
seeds = 2
"""


def write(folder: Path, text: str = TABLE) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def lost(folder: Path) -> Path:
    """Write easy candidate sets of the size of Lost: every class has a column, and one other class is a candidate too."""
    target = np.eye(16)[np.arange(1122) % 16]
    other = np.eye(16)[np.random.default_rng(0).integers(16, size=1122)]
    file = io.BytesIO()
    savemat(file, {"data": target, "target": target.T, "partial_target": np.maximum(target, other).T})
    (folder / "partial-label").mkdir()
    (folder / "partial-label" / "lost.mat").write_bytes(file.getvalue())
    return folder


def test_rows_are_split_by_seed_or_by_fold() -> None:
    train, test = train_test_rows(336, "70/30", 3)
    assert (len(train), len(test)) == (235, 101)
    assert sorted([*train, *test]) == list(range(336))
    assert train.tolist() != train_test_rows(336, "70/30", 4)[0].tolist()
    folds = [train_test_rows(1122, "10-fold", fold) for fold in range(10)]
    assert sorted(row for _, test in folds for row in test) == list(range(1122))
    assert all(sorted([*train, *test]) == list(range(1122)) for train, test in folds)
    assert {len(test) for _, test in folds} == {112, 113}


def test_a_table_from_the_file_to_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, store = str(write(tmp_path)), ["--store", str(tmp_path / "store")]
    assert main(["bench", "run", file, *store, "--jobs", "1"]) == 0
    assert "8 done, 0 failed" in capsys.readouterr().out
    assert main(["bench", "status", file, *store]) == 0
    assert "8 trials: 8 done" in capsys.readouterr().out
    assert main(["bench", "report", file, *store, "--terminal"]) == 0
    told = capsys.readouterr().out
    assert "The paper does not have this experiment." in told
    assert "on the 30 % of the rows that the seed holds out" in told
    assert "Training examples: 1,258 of digits." in told
    assert "epochs" not in told
    assert main(["bench", "report", file, *store]) == 0
    report = tmp_path / "store" / "report"
    assert "## digits\n\n| method | uniform | scar |" in (report / "report.md").read_text()
    assert "Model" not in (report / "report.tex").read_text()
    assert "digits" in (report / "report.html").read_text()
    assert (report / "figures" / "comparison.png").is_file() or list((report / "figures").glob("*digits.png"))
    records = [json.loads(path.read_text()) for path in (tmp_path / "store" / "records").iterdir()]
    assert {record["n_examples"] for record in records} == {1258}
    assert min(record["accuracy"] for record in records if record["spec"]["setting"] == "scar") > 0.5


def test_the_default_and_a_method_on_real_candidate_sets(tmp_path: Path) -> None:
    text = TABLE.replace('"digits"', '"lost"').replace("70/30", "10-fold")
    text = text[: text.index("settings")] + 'settings = "own"\nseeds = [9]\nmethods = ["pl-knn", '
    row = '{ label = "cc linear", method = "cc", params = { module = "linear" } }, '
    file = write(
        tmp_path, text + row + '{ label = "default", method = "auto", params = { module = "linear" } }]'
    )
    arguments = ["--data-dir", str(lost(tmp_path)), "--store", str(tmp_path / "store"), "--jobs", "1"]
    assert main(["bench", "run", str(file), *arguments]) == 0
    study = read_study(load_experiment(file), fill(tmp_path / "store", []))
    found = {slot.label: record for slot, record in study.done.items()}
    assert found["pl-knn"].accuracy == 1.0
    assert (found["cc linear"].accuracy or 0) > 0.9
    assert found["default"].accuracy == 1.0
    assert "candidates" in (found["default"].reason or "")
    assert found["cc linear"].reason is None
    assert found["cc linear"].n_examples == 1122 - 112


def test_without_its_file_a_table_is_asked_for_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCARCE_DATA", raising=False)
    file = str(write(tmp_path, TABLE.replace('"digits"', '"ecoli"')))
    store = ["--store", str(tmp_path / "store")]
    assert main(["bench", "run", file, *store, "--data-dir", str(tmp_path)]) == 2
    told = capsys.readouterr().err.strip()
    assert "expected the file tables/ecoli.arff" in told
    assert "\n" not in told
    assert main(["bench", "plan", file, *store, "--data-dir", str(tmp_path)]) == 0
    assert "put tables/ecoli.arff into a folder named with --data-dir" in capsys.readouterr().out


REPLACED = {
    'split = "70/30"': ("", "the field split is missing; add split = '70/30'"),
    '"70/30"': ('"80/20"', "split: input should be '70/30' or '10-fold', got '80/20'"),
    'kind = "classifiers"': ("", "split goes with tables; add kind = 'classifiers'"),
    'protocol = "own"': ('protocol = "paper"', "call this 'own'"),
    '"digits"': ('"mnist"', "data: there is no table 'mnist'; choose one of ecoli,"),
    '"uniform"': (
        '"own"',
        "digits has no candidate sets of its own; leave out 'own', or choose data of lost, msrcv2",
    ),
    '"scar-unequal"': (
        '"scar-unequal", params = { low = 2 }',
        "settings: scar on digits: low=2; expected a probability",
    ),
    "seeds = 2": (
        "seeds = 2\nepochs = 3",
        "there is no field epochs; expected data, description, kind, methods, name,",
    ),
    '"pl-knn"': ('"knn"', "there is no method 'knn'; choose one of auto, "),
    '"pl-knn", ': (
        '{ method = "pl-knn", params = { k = 3 } }, ',
        "pl-knn has no parameter 'k'; it takes none",
    ),
    '"em-lr"': (
        '{ method = "cc", params = { modul = "mlp" } }',
        "cc has no parameter 'modul'; it takes module, method_params,",
    ),
    '"em-lr"]': (
        '{ method = "cc", params = { module = "vgg" } }]',
        "methods: cc: module: Input should be 'auto',",
    ),
    ', "em-lr"': (', { method = "cc", params = { module = "nystroem" } }', "'nystroem' goes with auto"),
    ', "em-lr"]': (
        ', { method = "cc", params = { epochs = 0 } }]',
        "methods: cc: epochs: Input should be greater",
    ),
    '["pl-knn", "em-lr"]': (
        '"forward"',
        "forward needs a transition matrix; add params = { transition = 'uniform' }",
    ),
    '"pl-knn", "em-lr"': (
        '{ method = "scarce", params = { method_params = { gama = 1 } } }',
        "methods: scarce: scarce has no parameter 'gama'",
    ),
    'methods = ["pl-knn", "em-lr"]': (
        'methods = { method = "auto", params = { method_params = { loss = "log" } } }',
        "auto chooses its methods; leave out method_params",
    ),
    "seeds = 2\n": ("seeds = [1, 1]\n", "seeds names 1 twice"),
}


@pytest.mark.parametrize(("old", "new", "message"), [(old, *rest) for old, rest in REPLACED.items()])
def test_a_mistake_is_told_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TABLE
    with pytest.raises(FileError) as caught:
        load_experiment(write(tmp_path, TABLE.replace(old, new)))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_there_are_ten_folds_and_no_other_recipe(tmp_path: Path) -> None:
    text = TABLE.replace("70/30", "10-fold")
    with pytest.raises(
        FileError, match="10 is not a fold; with split = '10-fold' expected seeds from 0 to 9"
    ):
        load_experiment(write(tmp_path, text.replace("seeds = 2", "seeds = [10]")))
    experiment = load_experiment(write(tmp_path, text))
    assert experiment.changed(seeds=10).grids[0].seeds == tuple(range(10))
    assert experiment.changed(seeds=10).protocol == "own"
    with pytest.raises(MethodError, match="10 is not a fold"):
        experiment.changed(seeds=11)
    with pytest.raises(MethodError, match="mine compares classifiers as they are; leave out --epochs"):
        experiment.changed(epochs=3)


def study_of(accuracies: dict[tuple[str, str, int], float]) -> Study:
    """A study of digits by setting, row and seed; what has no accuracy was not run."""
    experiment = Experiment.model_validate(
        {
            "name": "mine",
            "title": "Mine",
            "protocol": "own",
            "kind": "classifiers",
            "data": "digits",
            "split": "70/30",
            "settings": ["uniform", "scar-unequal", "biased"],
            "methods": ["em-lr", "auto", "pl-knn"],
            "seeds": 2,
        }
    )
    planned, records = {}, {}
    slots = read_study(experiment, fill(Path("nowhere"), [])).planned
    for slot, trial in zip(slots, trials_of(experiment), strict=True):
        planned[slot] = None
        accuracy = accuracies.get((slot.setting, slot.label, slot.seed))
        if accuracy is not None:
            records[slot] = TrialRecord(
                spec=trial.spec, label=trial.label, experiment="mine", protocol="own", accuracy=accuracy
            )
    return Study("mine", "Mine", "own", planned, records, "classifiers")


def test_regret_is_the_best_mean_less_the_default_s() -> None:
    study = study_of(
        {
            ("uniform", "auto", 0): 0.80,
            ("uniform", "auto", 1): 0.60,
            ("uniform", "em-lr", 0): 0.70,
            ("uniform", "em-lr", 1): 0.80,  # mean 0.75, better than 0.70
            ("uniform", "pl-knn", 0): 0.99,  # lacks seed 1
            ("scar-unequal", "auto", 0): 0.90,
            ("scar-unequal", "em-lr", 0): 0.90,  # as good as the default
            ("biased", "auto", 0): 0.30,
            ("biased", "pl-knn", 0): 0.50,
            ("biased", "em-lr", 0): 0.40,
        }
    )
    found = {regret.setting: regret for regret in regrets(study)}
    assert {setting: regret.best for setting, regret in found.items()} == {
        "uniform": "em-lr",
        "scar-unequal": "auto",
        "biased": "pl-knn",
    }
    assert [round(found[name].value, 6) for name in ("uniform", "scar-unequal", "biased")] == [0.05, 0.0, 0.2]
    (sheet,) = (sheet for sheet in make_report(study, "run").sheets if sheet.title == "Regret of the default")
    assert sheet.rows == (
        ("digits", "uniform", "em-lr", "75.00", "70.00", "5.00"),
        ("digits", "scar-unequal", "auto", "90.00", "90.00", "0.00"),
        ("digits", "biased", "pl-knn", "50.00", "30.00", "20.00"),
        ("mean without biased", "", "", "", "", "2.50"),
        ("mean of all", "", "", "", "", "8.33"),
        ("worst: digits", "biased", "pl-knn", "", "", "20.00"),
    )


def test_without_the_default_there_is_no_regret() -> None:
    study = study_of({("uniform", "em-lr", 0): 0.7})
    assert regrets(study) == []
    assert "Regret of the default" not in {sheet.title for sheet in make_report(study, "run").sheets}


def test_the_experiments_of_the_default() -> None:
    tables, sets, text = (load_experiment(f"default-{name}") for name in ("tables", "candidates", "text"))
    assert len(trials_of(tables)) == 5 * 5 * (3 * 12 + 13)
    assert len(trials_of(sets)) == 2 * 10 * 8
    assert len(trials_of(text)) == 5 * 6
    assert {trial.spec.setting for trial in trials_of(tables) if trial.label == "answers"} == {"answers"}
    for experiment in (tables, sets, text):
        assert {
            trial.spec.method_params == {} for trial in trials_of(experiment) if trial.label == "auto"
        } == {True}


def test_the_guide_s_example_can_be_read_and_names_every_key(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text("utf-8")
    section = guide.partition("### Classifiers on tables")[2]
    example = section.partition("```toml\n")[2].partition("```")[0]
    assert len(trials_of(load_experiment(write(tmp_path, example)))) == 2 * 3 * 4 * 5
    assert all(f"\n{name} =" in example for name in ClassifierGrid.model_fields)
    assert all(f"`{name}`" in section for name in (*ClassifierParams.model_fields, *RIVALS))
