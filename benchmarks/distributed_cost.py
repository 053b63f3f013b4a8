"""Time of a training step when several processes share a batch.

    python benchmarks/distributed_cost.py [--processes 2] [--steps 200] [--rounds 5] [--models linear mlp lenet]

Starts the processes (torchrun, gloo, one thread each) and prints the milliseconds per step of
(a) one process with the whole batch, the others idle;
(b) ordinary DistributedDataParallel: every process has the loss of its own rows, which for SCARCE is a different loss;
(c) ours: one all-reduce collects the logits, and every process has the loss of the whole batch.
(c) − (b) is the cost of exactness, (a) / (c) the speedup from the second core. The variants take turns.
"""

import os
import subprocess
import sys
import time
from statistics import median

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from _common import make_parser
from scarce.models import make_model
from scarce.risk import scarce_risk
from scarce.training.runtime import DistributedContext

SHAPES = {"linear": (64,), "mlp": (28, 28), "lenet": (28, 28)}


def milliseconds(action, steps: int) -> float:
    """Return the milliseconds of one step, measured after a barrier."""
    dist.barrier()
    started = time.perf_counter()
    for _ in range(steps):
        action()
    return (time.perf_counter() - started) / steps * 1000


def measure(name: str, batch: int, n_classes: int, steps: int, rounds: int) -> None:
    context = DistributedContext(dist.get_rank(), dist.get_world_size())
    torch.manual_seed(0)
    inputs = torch.rand(batch, *SHAPES[name])
    excluded = torch.zeros(batch, n_classes).scatter_(1, torch.randint(n_classes, (batch, 1)), 1.0)
    priors = torch.full((n_classes,), 1 / n_classes)
    shard = context.shard(batch)
    model = make_model(name, SHAPES[name], n_classes)
    shared = DistributedDataParallel(make_model(name, SHAPES[name], n_classes))
    single, distributed = (torch.optim.Adam(net.parameters(), 1e-4, fused=True) for net in (model, shared))

    def step(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def one_process() -> None:
        if context.rank == 0:
            step(single, scarce_risk(model(inputs), excluded, priors))

    def data_parallel() -> None:
        step(distributed, scarce_risk(shared(inputs[shard]), excluded[shard], priors))

    def exact() -> None:
        logits = context.all_gather_rows(shared(inputs[shard]), batch)
        step(distributed, scarce_risk(logits, excluded, priors))

    def all_gather() -> None:
        context.all_gather_rows(torch.zeros(shard.stop - shard.start, n_classes), batch)

    variants = (one_process, data_parallel, exact, all_gather)
    for variant in variants:
        milliseconds(variant, 5)
    times = [[milliseconds(variant, steps) for variant in variants] for _ in range(rounds)]
    if context.rank == 0:
        a, b, c, gather = (median(column) for column in zip(*times, strict=True))
        gain = median(row[0] / row[2] for row in times)
        print(
            f"{name:7} batch {batch:5} classes {n_classes:5}   (a) {a:7.2f}  (b) {b:7.2f}  (c) {c:7.2f}   "
            f"all-reduce {gather:5.2f}   (a)/(c) {gain:4.2f}   (c)/(b) {median(r[2] / r[1] for r in times):4.2f}",
            flush=True,
        )


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    options = parser.parse_args()
    if not dist.is_torchelastic_launched():
        start = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(options.processes)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        raise SystemExit(subprocess.run([*start, *sys.argv], env=environment, check=False).returncode)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        print(
            f"{dist.get_world_size()} processes, one thread each, {options.rounds} rounds of {options.steps} steps; ms"
        )
    for name in options.models:
        for batch, n_classes in ((256, 10), (2048, 10), (256, 1000)):
            measure(name, batch, n_classes, options.steps, options.rounds)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
