# One command from a fresh clone on Debian 12: every target first installs the Debian packages it misses
# (apt-get, with sudo unless root), then configures and builds. CMake does the work; see CMakePresets.json.
.DEFAULT_GOAL := build
.PHONY: help build demo test bench debug install format clean dependencies

CUTTLE := build/bin/cuttle

help:
	@echo "make build    the program build/bin/cuttle and the library build/lib (default)"
	@echo "make demo     find the stiffness of scenes/suspension_bridge.json, render it into build/demo"
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

DEMO_LOOK := --color displacement --range 0,0.4
demo: build
	@mkdir -p build/demo
	$(CUTTLE) run scenes/suspension_bridge.json -o build/demo/before.h5
	$(CUTTLE) optimize scenes/suspension_bridge.json -o build/demo
	$(CUTTLE) render build/demo/before.h5 --mp4 build/demo/before.mp4 --fps 25 --samples 2 $(DEMO_LOOK)
	$(CUTTLE) render build/demo/result.h5 --mp4 build/demo/after.mp4 --fps 25 --samples 2 $(DEMO_LOOK)
	$(CUTTLE) render build/demo/before.h5 --png last -o build/demo/before.png $(DEMO_LOOK)
	$(CUTTLE) render build/demo/result.h5 --png last -o build/demo/after.png $(DEMO_LOOK)
	@echo
	@echo "A bridge that is too soft, and the same with the stiffness at which it sinks by 8 cm:"
	@echo "Movies:       build/demo/before.mp4, build/demo/after.mp4"
	@echo "Pictures:     build/demo/before.png, build/demo/after.png, build/demo/loss.png"
	@echo "Stiffness:    build/demo/best.json, Young's modulus and Poisson's ratio of every tet"
	@echo "Trajectories: build/demo/before.h5, build/demo/result.h5 (open in ParaView)"

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
