# The short names of the things one does here. `make help` lists them.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
BIN := build/release/bin/nodewise

.PHONY: help setup build run test test-slow test-repeated test-all asan-ubsan clang clang-all tsan test-aarch64 fuzz foreign corpus bench published reference site install dist dist-aarch64 dist-compare test-dist
.PHONY: report-bundle test-report format tidy clean release-tests
.DEFAULT_GOAL := help

CONFIGURE := cmake --log-level=WARNING --preset
BUILD := cmake --build -j $(JOBS) --preset

help: ## this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install the packages that `make build` needs (Debian 12, Ubuntu 24.04)
	@scripts/setup build

build: setup ## build what `make install` installs: build/release/bin/nodewise and its parts
	@$(CONFIGURE) release >/dev/null
	@$(BUILD) release

run: ## the story: a serially initialised program is profiled, placed and cured
	@scripts/setup run
	@$(CONFIGURE) release >/dev/null
	@$(BUILD) release --target story
	@examples/first-touch/story $(BIN)

release-tests:
	@scripts/setup test
	@$(CONFIGURE) release -D NODEWISE_TESTS=ON >/dev/null
	@$(BUILD) release --target all tests_and_programs

test: release-tests ## build and run all everyday tests (CONTRIBUTING.md lists how long each takes)
	@ctest --preset release -LE slow -j $(JOBS)

test-slow: release-tests ## the slow tests; tests/slow_results.json keeps their results
	@python3 -B tests/slow.py build/release

test-repeated: release-tests ## tests that wait, twenty times each; tests/repeated_results.json keeps the results
	@python3 -B tests/repeat.py build/release

test-all: test test-slow asan-ubsan clang-all tsan ## all tests: the slow ones, the sanitizers, Clang 19 with the agent's

asan-ubsan: ## unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/setup clang
	@$(CONFIGURE) $@ >/dev/null && $(BUILD) $@ --target unit_tests
	@ctest --preset $@ -L unit -j $(JOBS)

clang: ## Clang 19 checks what is installed, each file by itself, without warnings
	@scripts/setup clang
	@$(CONFIGURE) $@ >/dev/null && scripts/check_with_clang build/clang $(JOBS)

clang-all: # Clang 19 compiles everything, each file by itself; the unit tests and the agent's
	@scripts/setup clang
	@$(CONFIGURE) clang >/dev/null && $(BUILD) clang --target all unit_tests tests_and_programs
	@ctest --preset clang -L 'unit|agent' -j $(JOBS)

tsan: ## unit tests of what has threads under ThreadSanitizer, OpenMP through libomp and Archer
	@scripts/setup clang
	@$(CONFIGURE) $@ >/dev/null && $(BUILD) $@ --target unit_tests
	@ctest --preset $@ -L unit -j $(JOBS)

foreign: build ## other programs' own tests under the agent, two hours; docs/foreign.md
	@python3 -B tests/foreign/run.py build/release

test-aarch64: ## unit tests, cross-compiled for AArch64, under emulation (QEMU), with pages of 4 and of 64 KiB
	@scripts/setup aarch64
	@tests/aarch64/root build/aarch64-root
	@$(CONFIGURE) aarch64 >/dev/null
	@$(BUILD) aarch64 --target all unit_tests
	@ctest --preset aarch64 -L unit -j $(JOBS)
	@QEMU_PAGESIZE=65536 ctest --preset aarch64 -L unit -j $(JOBS)

fuzz: release-tests ## ten million inputs for every parser
	@cmake --build --preset release --target fuzz -j 1

bench: build ## timings against peers in the same run; results in bench/results
	@scripts/setup bench
	@$(CONFIGURE) release -D NODEWISE_TESTS=ON -D NODEWISE_BENCHMARKS=ON >/dev/null
	@$(BUILD) release --target tests_and_programs
	@bench/run $(BIN)

corpus: release-tests ## plans for 60 generated programs beside the best placement; SEED=N draws others
	@python3 -B tests/corpus/run.py build/release --seed $(or $(SEED),1)

published: release-tests ## published measurements beside the predictions of the model; build/published
	@NODEWISE_BUILD=$(CURDIR)/build/release python3 -B published/table.py

reference: ## docs/reference from the headers, and the code in docs from its sources
	@scripts/setup test
	@python3 -B docs/generate/reference.py
	@python3 -B docs/generate/code_blocks.py

site: ## the documentation as a site with search, in build/site/html; needs pip's registry
	@docs/site/make build/site

install: build ## install under PREFIX (default /usr/local)
	@cmake --install build/release --prefix $(PREFIX)

dist: ## packages for other systems, in dist/: a wheel, a .deb and an .rpm (Debian 12; needs npm and its registry)
	@JOBS=$(JOBS) packaging/dist

dist-compare: ## make the packages of the last commit again elsewhere, and compare them with those in dist/
	@packaging/compare

dist-aarch64: ## a wheel for AArch64, cross-compiled, in dist/ (Debian 12; needs npm and its registry)
	@JOBS=$(JOBS) packaging/dist aarch64

test-dist: ## install the packages of `make dist` in bare Debian 11, 12 and 13 (as root)
	@scripts/setup dist
	@cd tests/packages && /usr/bin/python3 -B -m unittest -v packages_test container_test action_test

report-bundle: ## the script that makes pages of `nodewise report` interactive; needs npm and its registry
	@scripts/report_bundle build/release/share/nodewise/report

test-report: build report-bundle ## the script's functions, and its page in a browser (Chromium)
	@scripts/setup browser
	@cd report && npm test --silent
	@cd report && NODEWISE_BIN=$(CURDIR)/$(BIN) NODEWISE_REPORT_BUNDLE=$(CURDIR)/build/release/share/nodewise/report npm run --silent test-page

format: ## clang-format all sources
	@scripts/setup clang
	@git ls-files '*.cpp' '*.hpp' '*.c' '*.h' | xargs clang-format-19 -i

tidy: clang ## clang-tidy over all sources
	@git ls-files 'src/*.cpp' 'cli/*.cpp' 'agent/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy-19 -p build/clang --quiet

clean: ## remove the build folder
	@rm -rf build
