"""The command ``scarce``: its subcommands, error messages and exit codes."""

import errno
import functools
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from scarce import __version__
from scarce._printable import PrintableStream
from scarce.cli import bench, data, labels
from scarce.cli._runtime import rank, terminated_as_interrupted
from scarce.cli.demo import demo
from scarce.cli.embed import embed
from scarce.cli.evaluate import evaluate
from scarce.cli.methods import methods
from scarce.cli.predict import predict
from scarce.cli.priors import priors
from scarce.cli.train import train
from scarce.errors import ScarceError

# Some versions of typer bundle click, so its errors are reached through one that typer exports.
_UsageError: Any = typer.BadParameter.__base__
_MACHINE_FAILURES = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def _print_help(context: typer.Context) -> None:
    # Not no_args_is_help, which since click 8.2 is a usage error with exit code 2.
    if context.invoked_subcommand is None:
        print(context.get_help())


def _add_group(name: str, description: str) -> typer.Typer:
    group = typer.Typer(add_completion=False, rich_markup_mode=None)
    group.callback(invoke_without_command=True, help=description)(_print_help)
    app.add_typer(group, name=name)
    return group


def _report_interrupt(command: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except KeyboardInterrupt:
            print("interrupted; rerun the same command", file=sys.stderr)
            raise typer.Exit(130) from None

    return run


labels_app = _add_group("labels", "Describe, convert and simulate labels.")
data_app = _add_group("data", "List and download data sets, and check their files.")
bench_app = _add_group("bench", "Run experiments, such as those of the paper, and report on them.")

for group, command, example in (
    (labels_app, labels.describe, "scarce labels describe answers.csv"),
    (
        labels_app,
        labels.convert,
        "scarce labels convert not.npy labels.csv --form indicator --classes cat,cow",
    ),
    (
        labels_app,
        labels.simulate,
        "scarce labels simulate truth.csv labels.csv --process scar --set rates=0.3",
    ),
    (labels_app, labels.processes, "scarce labels processes"),
    (data_app, data.list_, "scarce data list --data-dir data"),
    (data_app, data.fetch, "scarce data fetch mnist fashion-mnist"),
    (data_app, data.verify, "scarce data verify mnist"),
    (bench_app, bench.list_, "scarce bench list"),
    (
        bench_app,
        bench.run,
        "scarce bench run paper-mnist --only method=scarce,ga --only setting=uniform --jobs 2",
    ),
    (bench_app, bench.status, "scarce bench status paper-mnist --only model=mlp"),
    (bench_app, bench.report, "scarce bench report paper-mnist --out report"),
    (bench_app, bench.compare, "scarce bench compare bench/before bench/after"),
    (bench_app, bench.pack, "scarce bench pack bench/paper-mnist --out results"),
    (app, train, "scarce train photos.csv --labels answers.csv --out model"),
    (app, embed, "scarce embed photos/ --model google/vit-base-patch16-224 --out photos.npy"),
    (app, priors, "scarce priors photos.csv --labels answers.csv --out priors.json"),
    (app, predict, "scarce predict model new-photos.csv --out predicted.csv"),
    (app, evaluate, "scarce evaluate model held-out.csv --labels held-out-answers.csv"),
    (app, methods, "scarce methods"),
    (app, demo, "scarce demo"),
):
    group.command(command.__name__.rstrip("_"), epilog=f"Example: {example}")(_report_interrupt(command))


@app.callback(invoke_without_command=True)
def _scarce(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Learn a classifier from what each example is not."""
    if version:
        print(f"scarce {__version__}")
    else:
        _print_help(context)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    The exit code is 0 for success; 1 for a failure of a correct command, such as diverged training, no network, a full disk
    or too little memory; 2 for a mistake in the command or its inputs; 130 if interrupted, by SIGINT (Ctrl-C) or SIGTERM. An
    error is one line on standard error.

    Examples
    --------
    >>> main(["--version"])
    scarce ...
    0
    """
    for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show "±" shows "?" instead of failing
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    with (
        warnings.catch_warnings(),
        redirect_stdout(PrintableStream(sys.stdout)),
        redirect_stderr(PrintableStream(sys.stderr)),
        _silent() if rank() > 0 else nullcontext(),
        terminated_as_interrupted(),
    ):
        warnings.showwarning = _show_warning
        return _run(arguments)


def main_and_exit() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    code = main()
    if rank() > 0:
        # Skip interpreter shutdown: torch's threads sometimes abort it, and only rank 0 has anything left to write.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


@contextmanager
def _silent() -> Iterator[None]:
    with Path(os.devnull).open("w") as devnull, redirect_stdout(devnull):
        yield


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = app(arguments, prog_name="scarce", standalone_mode=False)
        sys.stdout.flush()
    except _UsageError as error:
        problem = error.format_message().replace("Value error, ", "").rstrip(".")
        see = " See" if problem.endswith("?") else "; see"
        return _fail(f"{problem}{see} {_command_path(error)} --help", 2)
    except BrokenPipeError:  # the reader, such as head, has exited
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not re.search("allocate memory|out of memory", str(error)):
            raise  # torch has no error class for too little memory
        return _fail(
            "out of memory; use fewer examples or a smaller model, or train with --micro-batch",
            1,
        )
    except ScarceError as error:
        return _fail(str(error), 1 if _is_machine_failure(error.__cause__) else error.exit_code)
    except OSError as error:
        return _fail(str(error), 1 if _is_machine_failure(error) else 2)
    except ValueError as error:  # from scikit-learn, whose first line explains it
        return _fail(str(error).partition("\n")[0], 2)
    return code if isinstance(code, int) else 0


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    if rank() == 0:
        print("warning:", " ".join(str(message).split()), file=sys.stderr)


def _fail(message: str, code: int) -> int:
    prefix = f"error of rank {rank()}:" if rank() > 0 else "error:"
    print(prefix, " ".join(message.split()), file=sys.stderr)
    return code


def _is_machine_failure(error: BaseException | None) -> bool:
    if isinstance(error, OSError):
        return error.errno in _MACHINE_FAILURES
    found = re.search(r"\(os error (\d+)\)", str(error))  # safetensors writes the number into its text
    return found is not None and int(found[1]) in _MACHINE_FAILURES


def _command_path(error: Any) -> str:
    return error.ctx.command_path if error.ctx else "scarce"
