"""The tables and the figure of `scale.py`."""

from collections.abc import Sequence
from statistics import median

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scarce.bench.panels import COLOURS, new_panels
from store import Record, versions

__all__ = ["draw_all", "report"]

PARTS = {
    "simulate": "simulate labels",
    "build": "build labels from a table",
    "epoch": "fit, one epoch",
    "judge": "predict, label-free accuracy",
}


def medians(result: Record) -> dict[tuple[int, int], Record]:
    """The median over the seeds of every number, by (n, q)."""
    found: dict[tuple[int, int], list[Record]] = {}
    for record in result["records"]:
        if record["row"] != "share":
            n, q, _ = map(int, record["row"].split("/"))
            found.setdefault((n, q), []).append(record)
    return {
        case: {name: median(record[name] for record in records) for name in records[0] if name != "row"}
        for case, records in found.items()
    }


def report(result: Record) -> str:
    settings, share = result["settings"], result["records"][-1]
    load = median(record["load"] for record in result["records"])
    lines = [
        "# Many classes, many rows",
        "",
        "Three exclusions for each example, a linear model on 64 features, method `scarce`, batches of 256, one thread; seconds of "
        f"processor time, medians over {settings['seeds']} seeds, every case in a process of its own. The machine has "
        f"{share['cores']} cores, on which {load:.1f} processes wanted to run at the same time, ours included, so ratios and "
        "slopes are what counts. Memory is the peak beyond what was there after a small case; beside it stand the features (in "
        "float32) and n × q float32, which are never made.",
        "",
        f"    {result['command']}",
        "",
        "| rows | classes | simulate (s) | build (s) | fit, one epoch (s) | predict and judge (s) | peak (MB) | features (MB) | "
        "n × q (MB) | bytes per label |",
        "|" + "---:|" * 10,
    ]
    for (n, q), case in sorted(medians(result).items()):
        cells = [f"{n:,}", f"{q:,}", *(f"{case[part]:.2f}" for part in PARTS)]
        cells += [f"{case['peak_mb']:,.0f}", f"{case['features_mb']:,.0f}", f"{4 * n * q / 2**20:,.0f}"]
        lines.append(f"| {' | '.join(cells)} | {case['bytes_per_label']:.2f} |")
    ratio = share["scarce"]["share"] / share["cross-entropy"]["share"]
    lines += [
        "",
        "`simulate` draws n × q random numbers, a block of rows at a time; `build` reads the same labels from a table of n × 3 "
        "class numbers.",
        "",
        f"## The loss within a step, at {settings['at_classes']:,} classes",
        "",
        "| loss | forward and backward (ms) | whole step (ms) | share |",
        "|---|---:|---:|---:|",
        *(
            f"| {name} | {share[name]['loss_ms']:.2f} | {share[name]['step_ms']:.2f} | {share[name]['share']:.2f} |"
            for name in ("scarce", "cross-entropy")
        ),
        "",
        f"Medians of {settings['rounds']} rounds of {settings['steps']} steps, in turn. The share of `scarce` is {ratio:.2f} times "
        "that of cross-entropy (goal: at most 2). A step gathers the batch, its exclusions included, and trains the linear model "
        "with Adam.",
        "",
        versions(result),
    ]
    return "\n".join(lines) + "\n"


def draw(axes: Axes, sizes: Sequence[int], cases: Sequence[Record], what: str, where: str) -> None:
    """Draw seconds over a size on logarithmic axes, with the slope of the fitted line."""
    for (part, words), colour, mark in zip(PARTS.items(), COLOURS, "os^D", strict=False):
        times = np.array([case[part] for case in cases])
        slope, start = np.polyfit(np.log(sizes), np.log(times), 1)
        axes.plot(sizes, times, mark, color=colour, label=f"{words}: slope {slope:.2f}")
        axes.plot(sizes, np.exp(start) * np.array(sizes, float) ** slope, color=colour, linewidth=1.2)
    axes.set(xscale="log", yscale="log", xlabel=what, title=where)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.minorticks_off()
    axes.margins(x=0.08)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 40)  # room for the legend
    axes.legend(loc="upper left", fontsize=9)


def draw_all(result: Record) -> Figure:
    settings, cases = result["settings"], medians(result)
    rows, classes = settings["rows"], settings["classes"]
    with new_panels(2, 4.4, 4.2) as (figure, (left, right)):
        n, q = settings["at_rows"], settings["at_classes"]
        draw(left, rows, [cases[size, q] for size in rows], "rows", f"{q:,} classes")
        draw(right, classes, [cases[n, size] for size in classes], "classes", f"{n:,} rows")
        left.set_ylabel("seconds of processor time")
    return figure
