"""Writes the C source of the extension module cuttle._cuttle (cffi, API mode, stable ABI).

usage: build_ffi.py INCLUDE_DIRECTORY OUTPUT.c

Declarations come from include/cuttle.h by way of the C preprocessor, so that nothing is written down twice; the
compiler checks every struct and function against the headers when the module is built.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import cffi

HERE = pathlib.Path(__file__).resolve().parent

# What the preprocessor must not bring in: cffi knows these types.
STANDARD_HEADERS = ("stdbool.h", "stddef.h", "stdint.h")

# Of _host.c: what Python sees, and the functions that it implements.
HOST = """
typedef struct cuttle_host { ...; } cuttle_host;
typedef struct cuttle_record { const ct_model* model; int steps, nvert, ncoordinate, nactuation; double *x, *v, *q, *actuation,
    *contact; ct_state* last; } cuttle_record;
typedef struct cuttle_seeds { const ct_model* model; int steps, nvert, ncoordinate, nactuation; const double *x, *v, *q,
    *actuation, *last; } cuttle_seeds;
size_t cuttle_host_size(void);
void cuttle_host_begin(cuttle_host* host, void* self);
bool cuttle_host_cancel(void* user);
void cuttle_record_state(int step, const ct_state* state, void* user);
bool cuttle_seed_state(int step, const ct_state* state, double* state_bar, void* user);
extern "Python+C" bool cuttle_python_cancel(void* user);
extern "Python" bool cuttle_python_progress(const ct_progress* progress, void* user);
extern "Python" void cuttle_python_term(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar,
    double* q_bar, void* user);
"""


def declarations(include: pathlib.Path) -> str:
    """The API as plain C declarations."""
    with tempfile.TemporaryDirectory() as empty:
        for name in STANDARD_HEADERS:
            pathlib.Path(empty, name).write_text("")
        compiler = os.environ.get("CC", "cc").split()
        command = [*compiler, "-E", "-P", "-nostdinc", "-I", empty, "-I", str(include), str(include / "cuttle.h")]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    text = re.sub(r"__attribute__\(\(visibility\(\"default\"\)\)\)", "", text)
    return text


def main() -> None:
    include, output = pathlib.Path(sys.argv[1]), sys.argv[2]
    ffi = cffi.FFI()
    ffi.cdef(declarations(include))
    ffi.cdef(HOST)
    source = '#include "cuttle.h"\n' + (HERE / "cuttle" / "_host.c").read_text()
    ffi.set_source("cuttle._cuttle", source, py_limited_api=True)
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main()
