# One command from a fresh clone on Debian 12: every target first installs the Debian packages it misses
# (apt-get, with sudo unless root), then configures and builds. CMake does the work; see CMakePresets.json.
.DEFAULT_GOAL := build
.PHONY: help build demo test bench debug install format clean dependencies

CUTTLE := build/bin/cuttle

help:
	@echo "make build    the program build/bin/cuttle and the library build/lib (default)"
	@echo "make demo     simulate and render scenes/jelly.json into build/demo"
	@echo "make test     all tests: units, sanitizers, fuzzing, layers, symbols, installation"
	@echo "make bench    measure the solvers on this machine"
	@echo "make debug    an unoptimised build with asserts in build/debug"
	@echo "make install  install to PREFIX (default /usr/local)"
	@echo "make format   format the C sources (clang-format)"
	@echo "make clean    remove build"

dependencies:
	@tools/install_dependencies build

build/build.ninja: | dependencies
	@cmake --preset release

build: dependencies build/build.ninja
	@cmake --build build
	@echo "Built $(CUTTLE). Try: make demo"

demo: build
	@mkdir -p build/demo
	$(CUTTLE) run scenes/jelly.json -o build/demo/jelly.h5
	$(CUTTLE) render build/demo/jelly.h5 --mp4 build/demo/jelly.mp4 --samples 2
	$(CUTTLE) render build/demo/jelly.h5 --png 0.5s -o build/demo/jelly.png
	@echo
	@echo "Movie:      build/demo/jelly.mp4"
	@echo "Picture:    build/demo/jelly.png"
	@echo "Trajectory: build/demo/jelly.h5 (opens in ParaView)"

test:
	@tools/install_dependencies build test
	@tools/test

bench: build
	$(CUTTLE) bench

debug: dependencies
	@cmake --preset debug
	@cmake --build --preset debug

PREFIX ?= /usr/local
install: build
	@cmake --install build --prefix $(PREFIX)

format:
	@tools/install_dependencies format
	@clang-format -i include/*.h src/*/*.[ch] cli/*.[ch] tests/*.[ch]

clean:
	rm -rf build
