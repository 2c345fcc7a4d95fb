# One command from a fresh clone on Debian 12: every target first installs the Debian packages it misses
# (apt-get, with sudo unless root), then configures and builds. CMake does the work; see CMakePresets.json.
.DEFAULT_GOAL := build
.PHONY: help build demo gallery check test bench reference debug install format clean dependencies

CUTTLE := build/bin/cuttle

help:
	@echo "make build      the program build/bin/cuttle and the library build/lib (default)"
	@echo "make demo       an octopus learns to swim to a target, by gradients; movie and pictures in build/demo"
	@echo "make check      the inner loop: format, layers and the fast tests, 15 s on one core"
	@echo "make test       all tests: units, sanitizers, fuzzing, layers, symbols, installation"
	@echo "make bench      measure the solvers on this machine"
	@echo "make reference  the API as one page, build/reference.html"
	@echo "make gallery    every scene as a card with its run in the viewer, build/gallery/index.html"
	@echo "make debug      an unoptimised build with asserts in build/debug"
	@echo "make install    install to PREFIX (default /usr/local)"
	@echo "make format     format the C sources (clang-format)"
	@echo "make clean      remove build"

dependencies:
	@tools/install_dependencies build

build/build.ninja: | dependencies
	@cmake --preset release

build: dependencies build/build.ninja
	@cmake --build build
	@echo "Built $(CUTTLE). Try: make demo"

demo: build
	$(CUTTLE) experiment octopus --method gradient --seeds 1 --size 640x360 --fresh -o build/demo
	@echo
	@echo "An octopus of 16 muscles in water, before and after it has found how to swim to the red ring:"
	@echo "Movie:        build/demo/before_after.mp4"
	@echo "Pictures:     build/demo/strip.png, build/demo/loss.png"
	@echo "Next:         $(CUTTLE) experiment gripper --method gradient --seeds 1"

check: build
	@tools/install_dependencies format
	@tools/check build

test:
	@tools/install_dependencies build test
	@EXTRAS=$(EXTRAS) tools/test

bench: build
	$(CUTTLE) bench

reference:
	@mkdir -p build
	@tools/api_reference build/reference.html

gallery: build
	@tools/gallery build

debug: dependencies
	@cmake --preset debug
	@cmake --build --preset debug

PREFIX ?= /usr/local
install: build
	@cmake --install build --prefix $(PREFIX)

format:
	@tools/install_dependencies format
	@tools/check_format --fix

clean:
	rm -rf build
