#!/bin/bash
# Batches under mpirun give what they give without, bit for bit. usage: mpi.sh MPI_BATCH SOURCE_DIRECTORY BUILT_WITH_MPI
# Ends like the other test programs; 77: MPI is not installed, and only its absence was tested.
program=$1
scene=$2/scenes/suspension_bridge.json
built=$3
. "$(dirname "$(realpath "$0")")/claims.sh"
# root in a container, more ranks than cores, no direct access to one another's memory; the library's leaks are not ours
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_memory=^patcher
export OMPI_MCA_btl=self,vader OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0
ranks() { timeout 100 mpirun --oversubscribe --bind-to none -n "$1" "$program" "${@:2}" > out 2> err; }

"$program" "$scene" 0.1 1 10 > alone 2> err
[ $? = 0 ] && [ "$(wc -l < alone)" = 10 ] && ! grep -qi nan alone
claim without_mpirun_a_process_is_alone $?

if [ "$built" != 1 ]; then
    OMPI_COMM_WORLD_SIZE=2 "$program" "$scene" 0.1 1 10 > out 2> err
    [ $? = 1 ] && [ ! -s out ] && grep -q "libopenmpi-dev" err
    claim without_mpi_a_launch_of_several_says_what_is_missing $?
    skipped="built without MPI"
elif ! command -v mpirun > /dev/null; then
    skipped="there is no mpirun"
else
    ranks 2 "$scene" 0.1 1 10 && grep -q "^2 workers" err && cmp alone out
    claim two_ranks_give_the_same $?
    ranks 3 "$scene" 0.1 2 10 && grep -q "^6 workers" err && cmp alone out
    claim three_ranks_of_two_workers_give_the_same $?
    ranks 1 "$scene" 0.1 1 10 && cmp alone out
    claim one_rank_gives_the_same $?
    ranks 2 nowhere.json 0.1 1 10
    [ $? != 0 ] && [ ! -s out ] && grep -q "nowhere.json" err
    claim a_missing_scene_ends_all_ranks $?
fi

[ -z "$skipped" ] || echo "skipped: $skipped"
echo "[  PASSED  ] $passed test(s)."
[ "$failed" = 0 ] || { echo "[  FAILED  ] $failed test(s)."; exit 1; }
[ -z "$skipped" ] || exit 77
