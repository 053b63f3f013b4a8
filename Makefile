# Every target creates .venv if it is missing, and reuses it afterwards.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# One torch thread per process: on two cores, two OpenMP pools that spin are slower than one thread each.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test test-fast fuzz lint bench reports tables clean

demo: $(READY)
	$(BIN)/scarce demo --out demo-report.html

test: lint
	$(BIN)/pytest -q -n 2 --dist loadfile --no-loadscope-reorder

# Skips the tests marked slow, which start processes or take long.
test-fast: lint
	$(BIN)/pytest -q -n 2 --dist loadfile --no-loadscope-reorder -m "not slow"

# Thousands of mutated files, options and saved states; another SCARCE_FUZZ_SEED, other cases.
fuzz: $(READY)
	SCARCE_FUZZ_CASES=$${SCARCE_FUZZ_CASES:-2000} $(BIN)/pytest -q -n 2 --dist load tests/fuzz --timeout 7200

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python benchmarks/epoch_cost.py
	$(BIN)/python benchmarks/step_cost.py
	$(BIN)/python benchmarks/augmentation_cost.py
	$(BIN)/python benchmarks/prior_cost.py
	$(BIN)/python benchmarks/default_cost.py
	$(BIN)/python benchmarks/wrapper_cost.py --rows 6000
	$(BIN)/python benchmarks/distributed_cost.py --rounds 3 --steps 20

# Writes the report of every packed result (HTML, LaTeX, figures) to build/reports/NAME.
reports: $(READY)
	set -e; for file in results/*.jsonl; do name=$$(basename $$file .jsonl); \
	  $(BIN)/scarce bench report $$name --store results --out build/reports/$$name; done

# Rewrites the committed tables, results/NAME.md.
tables: $(READY)
	set -e; for file in results/*.jsonl; do name=$$(basename $$file .jsonl); \
	  $(BIN)/scarce bench report $$name --store results --out results/$$name.md; done

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build demo-report.html
