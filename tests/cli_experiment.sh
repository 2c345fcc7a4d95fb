#!/bin/bash
# cuttle experiment as a user meets it, on small bridges. usage: cli_experiment.sh PROGRAM
# Ends like the other test programs: "[  PASSED  ] N test(s)."
cuttle=$1
. "$(dirname "$(realpath "$0")")/claims.sh"
run() { "$cuttle" experiment "$@" > out 2> err; code=$?; }
rows() { tail -n +2 "$1" | wc -l; }
results() { cut -d, -f1-5,8 "$1"; }  # without times
mark() { sed -i "s/^\($1,.*\),[^,]*,\([^,]*,[^,]*\)\$/\1,1234.500000,\2/" "$2"; }  # a time that no episode takes
marked() { grep -q "^$1,.*,1234.500000," "$2"; }

mkdir scenes
bridge() {
    cat <<END
{"name": "$1", "time_step": 0.02, "duration": 0.1,
 "bodies": [{"box": {"size": [1, 0.1, 0.1], "cells": [4, 1, 1]}, "material": {"young": $2, "damping": {"mass": 8}}}],
 "pins": [{"select": {"or": [{"box": [[-1, -1, -1], [0.001, 1, 1]]}, {"box": [[0.999, -1, -1], [2, 1, 1]]}]}}],
 "parameters": [{"type": "young", "per": "element", "lower": 1e3, "upper": 1e8}],
 "objective": [{"type": "point", "target": [0, -0.004, 0], "relative": true}],
 "optimizer": {"method": "lbfgs", "iterations": 12, "target": 1e-10}}
END
}
bridge suspension_bridge 4e4 > scenes/suspension_bridge.json
bridge arch_bridge 6e4 > scenes/arch_bridge.json

run octopuss
expect '[ $code = 2 ]' "grep -q \"did you mean 'octopus'\" err"; claim unknown_experiment_names_the_nearest
run bridges --method gradiant
expect '[ $code = 2 ]' "grep -q \"did you mean 'gradient'\" err" '[ ! -e results ]'; claim unknown_method_names_the_nearest
run octopus --scenes nowhere
expect '[ $code = 2 ]' 'grep -q "octopus.json" err' 'grep -q -- "--scenes" err' '[ ! -e results ]'; claim missing_scene_says_where_it_was_looked_for
run bridges --seeds 0
expect '[ $code = 2 ]' 'grep -q "at least 1" err'; claim no_seeds_are_refused
run bridges --size big
expect '[ $code = 2 ]' 'grep -q 960x540 err'; claim size_that_is_none_is_refused
run octopus --help
expect '[ $code = 0 ]' 'grep -q mpirun out' 'grep -q -- --fresh out'; claim help_shows_how_to_use_several_machines

run bridges --seeds 2 --episodes 20 --threads 1 -o one --no-movie --json
expect '[ $code = 0 ]' '[ "$(value "[\"experiments\"][1][\"experiment\"]")" = arch_bridge ]' \
    '[ "$(value "[\"experiments\"][0][\"methods\"][0][\"reached\"]")" = 2 ]' '[ "$(value "[\"experiments\"][0][\"searches_run\"]")" = 10 ]' \
    '[ "$(rows one/suspension_bridge/cmaes.csv)" = 40 ]' '[ "$(rows one/arch_bridge/nelder_mead.csv)" = 40 ]' \
    '[ "$(rows one/arch_bridge/gradient.csv)" -lt 24 ]' 'head -1 one/arch_bridge/bobyqa.csv | grep -q "^seed,episode,distance,loss,best_distance,forward"' \
    'head -c 4 one/arch_bridge/loss.png | grep -q PNG' 'grep -q "| gradient | 2 |" one/arch_bridge/summary.md' \
    'grep -q "cuttle experiment bridges --seeds 2" one/summary.md' 'grep -q "Arch bridge" one/summary.md' '[ -s one/arch_bridge/after.h5 ]'
claim every_method_searches_from_every_start
first=$(for m in gradient cmaes evolution bobyqa nelder_mead; do grep "^2,1," one/arch_bridge/$m.csv | cut -d, -f1-4; done | sort -u | wc -l)
seeds=$(grep -h "^[12],1," one/arch_bridge/cmaes.csv | cut -d, -f3 | sort -u | wc -l)
expect '[ $first = 1 ]' '[ $seeds = 2 ]'; claim methods_of_a_seed_share_its_start_and_seeds_differ
expect 'python3 - <<END
import csv
best = {}
for r in csv.DictReader(open("one/arch_bridge/evolution.csv")):
    s, d = r["seed"], float(r["distance"])
    best[s] = min(best.get(s, d), d)
    assert float(r["best_distance"]) == best[s]
END'
claim best_distance_is_the_least_so_far

run bridges --seeds 2 --episodes 20 --threads 2 -o two --no-movie -q
same=0
for b in suspension_bridge arch_bridge; do
    for m in gradient cmaes evolution bobyqa nelder_mead; do cmp -s <(results one/$b/$m.csv) <(results two/$b/$m.csv) && same=$((same + 1)); done
done
expect '[ $code = 0 ]' '[ $same = 10 ]' '[ ! -s out ]' '[ ! -s err ]'; claim tables_are_the_same_for_any_number_of_threads

if command -v mpirun > /dev/null && ldd "$cuttle" | grep -q libmpi; then
    # root in a container, more ranks than cores, no direct access to one another's memory; the library's leaks are not ours
    ranks() {
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_memory=^patcher \
            OMPI_MCA_btl=self,vader OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0 \
            timeout 100 mpirun --oversubscribe --bind-to none -n "$1" "$cuttle" experiment "${@:2}" > out 2> err
        code=$?
    }
    ranks 3 bridges --seeds 2 --episodes 20 --threads 1 -o ranks --no-movie -q
    same=0
    for b in suspension_bridge arch_bridge; do
        for m in gradient cmaes evolution bobyqa nelder_mead; do cmp -s <(results one/$b/$m.csv) <(results ranks/$b/$m.csv) && same=$((same + 1)); done
    done
    expect '[ $code = 0 ]' '[ $same = 10 ]' 'grep -q "Arch bridge" ranks/summary.md'; claim tables_are_the_same_on_several_ranks
    ranks 2 octopus --scenes nowhere
    expect '[ $code = 2 ]' 'grep -q "octopus.json" err'; claim ranks_agree_on_a_failure
fi

# ---- again ----

cp two/arch_bridge/cmaes.csv before.csv
run bridges --seeds 2 --episodes 20 -o two --no-movie --json
expect '[ $code = 0 ]' '[ "$(value "[\"experiments\"][0][\"searches_run\"]")" = 0 ]' 'cmp -s before.csv two/arch_bridge/cmaes.csv'
claim whole_searches_are_not_run_again
sed -i '$d' two/arch_bridge/bobyqa.csv
printf '2,20,0.00' >> two/arch_bridge/bobyqa.csv
mark 2,7 two/arch_bridge/bobyqa.csv
run arch_bridge --seeds 3 --method bobyqa,cmaes --episodes 20 -o two/arch_bridge --no-movie --json
expect '[ $code = 0 ]' '[ "$(value "[\"experiments\"][0][\"searches_run\"]")" = 3 ]' '[ "$(rows two/arch_bridge/cmaes.csv)" = 60 ]' \
    '[ "$(value "[\"experiments\"][0][\"methods\"][4][\"seeds\"]")" = 2 ]' \
    'cmp -s <(results one/arch_bridge/bobyqa.csv) <(results two/arch_bridge/bobyqa.csv | head -41)' 'grep -q "19 episodes of these searches are known" err' \
    'marked 2,7 two/arch_bridge/bobyqa.csv'
claim what_was_cut_short_goes_on_where_it_was
for m in cmaes evolution nelder_mead; do
    cp one/arch_bridge/$m.csv whole.csv
    mark 1,3 whole.csv
    mark 2,3 whole.csv
    head -31 whole.csv > two/arch_bridge/$m.csv
done
sed -i 's/\(^2,2,.*\),.*/\1,0123456789abcdef/' two/arch_bridge/evolution.csv
run arch_bridge --seeds 2 --episodes 20 --threads 2 -o two/arch_bridge --no-movie --json
same=0
for m in cmaes evolution nelder_mead; do cmp -s <(results one/arch_bridge/$m.csv) <(results two/arch_bridge/$m.csv | grep -v ^3,) && same=$((same + 1)); done
expect '[ $code = 0 ]' '[ $same = 3 ]' 'marked 2,3 two/arch_bridge/cmaes.csv' 'marked 2,3 two/arch_bridge/nelder_mead.csv' \
    '! marked 2,3 two/arch_bridge/evolution.csv' 'marked 1,3 two/arch_bridge/evolution.csv'
claim what_is_known_is_used_as_long_as_the_points_are_the_same
mark 1,3 two/arch_bridge/cmaes.csv
run arch_bridge --seeds 1 --method cmaes --episodes 30 -o two/arch_bridge --no-movie --json
expect '[ $code = 0 ]' '[ "$(value "[\"experiments\"][0][\"searches_run\"]")" = 1 ]' '[ "$(grep -c "^1," two/arch_bridge/cmaes.csv)" = 30 ]' \
    '[ "$(grep -c "^2," two/arch_bridge/cmaes.csv)" = 20 ]' 'cmp -s <(results one/arch_bridge/cmaes.csv | grep ^1,) <(results two/arch_bridge/cmaes.csv | head -21 | grep ^1,)' \
    'marked 1,3 two/arch_bridge/cmaes.csv'
claim larger_budget_goes_further
bridge arch_bridge 7e4 > other.json
sed -i 's/"arch_bridge"/"other"/' other.json
mkdir changed
cp other.json changed/arch_bridge.json
run arch_bridge --seeds 1 --scenes changed -o two/arch_bridge
expect '[ $code = 2 ]' 'grep -q "another version of this scene" err' 'grep -q -- --fresh err'; claim results_of_another_scene_are_refused
run arch_bridge --seeds 1 --method gradient --scenes changed -o two/arch_bridge --fresh --no-movie --json
expect '[ $code = 0 ]' '[ "$(value "[\"experiments\"][0][\"searches_run\"]")" = 1 ]' '[ ! -e two/arch_bridge/cmaes.csv ]'; claim fresh_starts_over

# ---- spreads ----

run arch_bridge --seeds 1 --method gradient,evolution --episodes 12 -o tuned --no-movie --json
run arch_bridge --seeds 1 --method gradient,evolution --episodes 12 --tune -o tuned --no-movie --json
spreads() { python3 -c 'import json; e = json.load(open("tuned/experiment.json")); t = e["trials"]
best = min(t, key=lambda x: x["distance"])["spread"]
print(len(t), len({x["spread"] for x in t}), all(s["spread"] == best for s in e["searches"] if s["method"] == "evolution"))'; }
expect '[ $code = 0 ]' '[ "$(spreads)" = "4 4 True" ]' 'grep -q "Spreads, chosen of four by a seed that is not reported: evolution" tuned/summary.md' \
    '[ "$(rows tuned/evolution.csv)" = 12 ]'
claim spreads_are_chosen_by_a_seed_that_is_not_reported
run arch_bridge --seeds 1 --method evolution --episodes 12 --tune -o tuned --no-movie --json
expect '[ $code = 0 ]' '[ "$(value "[\"experiments\"][0][\"searches_run\"]")" = 0 ]' '[ "$(spreads)" = "4 4 True" ]'; claim spreads_are_kept

# ---- what other programs find ----

bridge gripper 4e4 > scenes/gripper.json
mkdir merged
{
    head -1 one/arch_bridge/cmaes.csv
    echo "2,1,0.2,0.04,0.2,1.5,0.5,0000000000000000"
    printf '1,%d,0.1,0.01,0.1,1.5,0.5,0000000000000000\n' 1 2
    echo "1,3,nan,nan,0.1,1.5,0.5,0000000000000000"
    echo "1,4,0.01,0.0001,0.01,1.5,0.5,0000000000000000"
} > merged/ppo.csv
cp merged/ppo.csv ppo.csv
for again in "" "" --fresh; do
    run gripper --method gradient --seeds 1 -o merged --no-movie --json $again
    expect '[ $code = 0 ]' 'grep -q "^| PPO | 2 | 1 of 2 seeds, first 4 | 35 % (3.33 - 66.7) | 1 |" merged/summary.md' \
        'cmp -s ppo.csv merged/ppo.csv' 'grep -q "Missing: SAC (.merged/sac.csv.)" merged/summary.md' '! grep -q ppo merged/experiment.json'
    claim "tables_of_other_programs_are_merged${again:+_and_kept}"
done

# ---- interruption ----

"$cuttle" experiment other.json --method cmaes --seeds 4 --episodes 300000 --threads 2 -o cut > out 2> err &
pid=$!
for i in $(seq 100); do [ -s cut/cmaes.csv ] && [ "$(rows cut/cmaes.csv)" -gt 20 ] && break; sleep 0.05; done
kill -INT $pid
wait $pid
code=$?
expect '[ $code = 1 ]' 'grep -q "to continue: cuttle experiment other.json" err' 'sort -c -t, -k1,1n -k2,2n <(tail -n +2 cut/cmaes.csv)'
claim interrupt_leaves_a_table_in_order_and_says_how_to_go_on
run other.json --method cmaes,gradient --seeds 2 --episodes 20 -o cut --size 96x54 --json
expect '[ $code = 0 ]' '[ "$(value "[\"experiments\"][0][\"searches_run\"]")" = 4 ]' '[ "$(rows cut/cmaes.csv)" = 40 ]' \
    'head -c 4 cut/before.png | grep -q PNG' 'head -c 4 cut/strip.png | grep -q PNG' \
    '! command -v ffmpeg > /dev/null || [ -s cut/before_after.mp4 ]' 'python3 -c "import json; assert len(json.load(open(\"cut/best.json\"))[\"y\"]) == 24"'
claim an_interrupted_experiment_is_completed
run other.json --method evolution --seeds 2 --episodes 1000 -o whole --no-movie -q
for last in 100 300 700; do  # rows after which it is killed
    "$cuttle" experiment other.json --method evolution --seeds 2 --episodes 1000 -o killed --no-movie -q &
    pid=$!
    for i in $(seq 400); do [ -s killed/evolution.csv ] && [ "$(rows killed/evolution.csv)" -gt $last ] && break; sleep 0.01; done
    kill -KILL $pid
    wait $pid 2> /dev/null
done
run other.json --method evolution --seeds 2 --episodes 1000 -o killed --no-movie
expect '[ $code = 0 ]' 'cmp -s <(results whole/evolution.csv) <(results killed/evolution.csv)'
claim killed_experiments_find_the_same

run other.json --method cmaes --seeds 2 --episodes 300000 --time-limit 0.5 -o slow --no-movie
expect '[ $code = 0 ]' 'grep -q "The time limit is reached. Nothing is lost" err' '[ "$(rows slow/cmaes.csv)" -gt 1 ]' '[ -s slow/summary.md ]'
claim an_experiment_ends_at_its_time_limit

# ---- comparisons ----

mkdir small
cat > small/humanoid_y.json <<END
{"name": "humanoid_y", "time_step": 0.02, "duration": 0.3, "solver": {"tolerance": 1e-5}, "contact": {"friction": 0.5},
 "bodies": [{"name": "humanoid", "box": {"size": [2, 1.8, 0.2], "cells": [9, 8, 1]}, "translate": [-1, 0, -0.1],
             "material": {"young": 1e5, "density": 100, "damping": {"stiffness": 0.01}}}],
 "obstacles": [{"plane": {"point": [0, -0.15, 0], "normal": [0, 1, 0]}}],
 "skeletons": [{"name": "bones", "links": [
   {"name": "torso", "joint": {"type": "free", "anchor": [0, 1, 0]}, "nodes": {"capsule": {"a": [0, 0.7, 0], "b": [0, 1.6, 0], "radius": 0.2}}},
   {"name": "left_arm", "parent": "torso", "joint": {"type": "revolute", "axis": [0, 0, 1], "anchor": [0.3, 1.3, 0]},
    "nodes": {"capsule": {"a": [0.5, 1.3, 0], "b": [0.9, 1.3, 0], "radius": 0.2}}},
   {"name": "right_arm", "parent": "torso", "joint": {"type": "revolute", "axis": [0, 0, 1], "anchor": [-0.3, 1.3, 0]},
    "nodes": {"capsule": {"a": [-0.5, 1.3, 0], "b": [-0.9, 1.3, 0], "radius": 0.2}}},
   {"name": "left_leg", "parent": "torso", "joint": {"type": "ball", "anchor": [0.3, 0.6, 0]}, "nodes": {"capsule": {"a": [0.4, 0.5, 0], "b": [0.4, 0.1, 0], "radius": 0.2}}},
   {"name": "right_leg", "parent": "torso", "joint": {"type": "ball", "anchor": [-0.3, 0.6, 0]}, "nodes": {"capsule": {"a": [-0.4, 0.5, 0], "b": [-0.4, 0.1, 0], "radius": 0.2}}}]}],
 "controls": [{"name": "left", "torque": "left_arm"}, {"name": "right", "torque": "right_arm"}],
 "parameters": [{"type": "control", "control": "left", "shape": "spline", "knots": 4, "scale": 100},
                {"type": "control", "control": "right", "shape": "spline", "knots": 4, "scale": 100}],
 "objective": [{"type": "joint", "link": "left_arm", "target": 0.95, "from": 0.1, "to": 0.3},
               {"type": "joint", "link": "right_arm", "target": -0.95, "from": 0.1, "to": 0.3}],
 "optimizer": {"method": "lbfgs", "iterations": 3}}
END
run humanoid --seeds 2 --scenes small -o man --size 96x54 --json
expect '[ $code = 0 ]' 'python3 - <<END
import json
e = json.load(open("out"))["experiments"][0]
r = {k["rival"]: k for k in e["rivals"]}
assert all(r[k]["starts"] == 2 and r[k]["failures"] == 0 for k in ("ours", "none", "rigid", "passive")), r
assert max(r[k]["bone"][0] for k in ("ours", "rigid", "passive")) < 1e-12 < 1e-4 < r["none"]["bone"][0], r
assert r["ours"]["joint"][0] < 0.9 * r["passive"]["joint"][0] and abs(r["rigid"]["joint"][0] - 1.9) < 1e-9, r
assert r["rigid"]["body"][0] < 1e-12 and r["ours"]["episodes"][0] == 3 and r["mpm"]["starts"] == 0, r
END' 'grep -q "Missing: MPM" man/summary.md' 'head -c 4 man/comparison.png | grep -q PNG' '[ -s man/passive.h5 ]'
claim a_comparison_measures_every_rival_from_every_start
cp man/table.csv table.csv
sed -i '/^none,2/d' man/table.csv
printf 'rival,start\nmpm,1,0.5,0.1,nan,nan,11,0,0,\n' > man/mpm.csv
run humanoid --seeds 2 --scenes small -o man --no-movie
expect '[ $code = 0 ]' '[ "$(grep -c "start [12]:" err)" = 1 ]' 'cmp -s <(cut -d, -f1-5,8 table.csv | sort) <(cut -d, -f1-5,8 man/table.csv | sort)' \
    '! grep -q Missing man/summary.md' 'grep -q "^| MPM | 0.5 ± 0" man/summary.md'
claim what_is_missing_of_a_comparison_is_run_and_a_script_has_its_row

echo "[==========] $((passed + failed)) test(s) run."
echo "[  PASSED  ] $passed test(s)."
[ $failed = 0 ] || echo "[  FAILED  ] $failed test(s)."
[ $failed = 0 ]
