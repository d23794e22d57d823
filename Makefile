# The short names of the things one does here. `make help` lists them.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
BIN := build/release/bin/nodewise

.PHONY: help setup build run test test-all asan-ubsan clang tsan fuzz bench published reference install format tidy clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install the packages this project needs (Debian 12, Ubuntu 24.04)
	@scripts/setup

build: setup ## build the command: build/release/bin/nodewise
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release -j $(JOBS)

run: build ## the story: a serially initialised program, seen, placed and cured
	@examples/first-touch/story $(BIN)

test: build ## every test but the slow ones (at most 15 minutes)
	@ctest --preset release -LE slow -j $(JOBS)

test-all: build ## all tests, with Clang 19 and the sanitizers too
	@ctest --preset release -j $(JOBS)
	@$(MAKE) --no-print-directory asan-ubsan clang tsan

asan-ubsan: ## unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/setup clang
	@cmake --preset $@ --log-level=WARNING >/dev/null && cmake --build --preset $@ -j $(JOBS)
	@ctest --preset $@ -L unit -j $(JOBS)

clang: ## everything built by Clang 19, its unit tests and the linter
	@scripts/setup clang
	@cmake --preset $@ --log-level=WARNING >/dev/null && cmake --build --preset $@ -j $(JOBS)
	@ctest --preset $@ -L unit -j $(JOBS)

tsan: ## unit tests under ThreadSanitizer, OpenMP through libomp and Archer
	@scripts/setup clang
	@cmake --preset $@ --log-level=WARNING >/dev/null && cmake --build --preset $@ -j $(JOBS)
	@ctest --preset $@ -L unit -j $(JOBS)

fuzz: build ## ten million inputs for every parser
	@cmake --build --preset release --target fuzz -j 1

bench: build ## timings against peers in the same run; results in bench/results
	@scripts/setup bench
	@cmake --preset release --log-level=WARNING >/dev/null
	@bench/run $(BIN)

published: build ## published measurements beside what the model says of them; build/published
	@NODEWISE_BUILD=$(CURDIR)/build/release python3 -B published/table.py

reference: setup ## docs/reference from the headers, and the code in docs from its sources
	@python3 -B docs/generate/reference.py
	@python3 -B docs/generate/code_blocks.py

install: build ## install under PREFIX (default /usr/local)
	@cmake --install build/release --prefix $(PREFIX)

format: ## clang-format all sources
	@scripts/setup clang
	@git ls-files '*.cpp' '*.hpp' '*.c' '*.h' | xargs clang-format-19 -i

tidy: clang ## clang-tidy over all sources
	@git ls-files 'src/*.cpp' 'cli/*.cpp' 'agent/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy-19 -p build/clang --quiet

clean: ## remove the build folder
	@rm -rf build
