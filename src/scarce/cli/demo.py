"""``scarce demo``: the library in half a minute, on the digits of scikit-learn."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from scarce.cli._runtime import needs_bench_extra, use_one_thread


def demo(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The HTML page to write.")] = Path(
        "demo-report.html"
    ),
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The random seed.")] = 0,
    epochs: Annotated[
        int, typer.Option(metavar="N", min=1, help="Epochs of each of the four training runs.")
    ] = 200,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace the output even if it is not the report of an earlier demo."),
    ] = False,
) -> None:
    """Learn digits from yes/no answers and report the results.

    The report is a web page with figures.
    """
    with needs_bench_extra("demo"):
        from scarce.demo.page import COLUMNS, is_report, render_report, result_rows
    from scarce._io.atomic import atomic_write
    from scarce.cli._output import print_table
    from scarce.demo.progress import EpochBar, epoch_bars
    from scarce.demo.study import QUESTIONS, run_demo

    use_one_thread()
    # Opened first, so that a path that cannot be written fails before the work starts.
    with atomic_write(out, force=force or is_report(out)) as temporary:
        with epoch_bars() as bars:
            result = run_demo(seed, epochs, make_callbacks=lambda title: [EpochBar(bars, title)])
        command = ["scarce", "demo", "--out", str(out), "--seed", str(seed), "--epochs", str(epochs)]
        temporary.write_text(render_report(result, shlex.join(command)), encoding="utf-8")

    summary = result.labels.summary()
    print(
        f'{summary.n_examples:,} images, {QUESTIONS} questions each: {summary.n_exclusions:,} "no", '
        f'{summary.n_confirmed:,} "yes"'
    )
    print(f"accuracy on {result.n_test:,} other images, estimated without true labels (± standard error):\n")
    print_table(COLUMNS, result_rows(result), numbers=3)
    print(f"\nwrote the report to {out}")
