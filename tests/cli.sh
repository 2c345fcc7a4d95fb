#!/bin/bash
# The program as a user meets it: exit codes, messages, files. usage: cli.sh PROGRAM SOURCE_DIRECTORY
# Ends like the other test programs: "[  PASSED  ] N test(s)."
cuttle=$1
source=$2
. "$(dirname "$(realpath "$0")")/claims.sh"
run() { "$cuttle" "$@" > out 2> err; code=$?; }

cat > beam.json <<'END'
{"name": "beam", "time_step": 0.01, "duration": 0.2,
 "bodies": [{"name": "beam", "box": {"size": [1, 0.2, 0.2], "cells": [5, 1, 1]}, "material": {"young": 1e6}}],
 "pins": [{"select": {"box": [[-1, -1, -1], [0.001, 1, 1]]}}]}
END
cat > touch.json <<'END'
{"name": "touch", "solver": {"type": "projective"},
 "bodies": [{"name": "block", "box": {"size": [1, 1, 1], "cells": [1, 1, 1]}, "material": {"energy": "projective"}}],
 "contact": {"method": "split", "split": "twice", "friction": 0.3, "pairs": [{"between": ["block", "ground"], "friction": 0.1}]},
 "obstacles": [{"name": "ground", "plane": {"point": [0, -1, 0], "normal": [0, 1, 0]}},
               {"sphere": {"center": [0, 5, 0], "radius": 1}, "motion": {"keys": [{"time": 0}, {"time": 1, "translate": [1, 0, 0]}]}}]}
END
sed 's/"pins".*/"chambers": [{"name": "bellows"}], "controls": [{"name": "breath", "actuator": "bellows", "values": -2}]}/' beam.json > empty.json
sed 's/"young"/"yuong"/' beam.json > typo.json
sed 's/"duration": 0.2/"duration": 2000/' beam.json > long.json
sed 's/"duration": 0.2/"duration": 0.2, "solver": {"max_iterations": 1, "max_substep_depth": 0}/' beam.json > hard.json
sed 's/\[5, 1, 1\]/[5, 1/' beam.json > syntax.json

run version
expect '[ $code = 0 ]' 'grep -q "^cuttle [0-9]*\.[0-9]*\.[0-9]*$" out'; claim version_is_printed
run help
expect '[ $code = 0 ]' 'grep -q "  run " out' 'grep -q "  bench " out'; claim help_lists_the_commands
status=0
for command in run optimize experiment grad check info render export mesh bench version; do
    run $command --help
    [ $code = 0 ] && [ -s out ] && [ ! -s err ] || status=1
done
claim every_command_has_help
run
expect '[ $code = 2 ]' '[ ! -s out ]' 'grep -q Usage err'; claim no_command_is_bad_usage
run rnu beam.json
expect '[ $code = 2 ]' "grep -q \"did you mean 'run'\" err"; claim unknown_command_names_the_nearest
run run beam.json --stesp 3
expect '[ $code = 2 ]' 'grep -q "did you mean --steps" err'; claim unknown_option_names_the_nearest
run run beam.json --steps 0
expect '[ $code = 2 ]' 'grep -q "at least 1" err'; claim steps_out_of_range_are_refused
run run beam.json --duration soon
expect '[ $code = 2 ]' 'grep -q "number" err'; claim text_in_place_of_a_number_is_refused
run run
expect '[ $code = 2 ]' 'grep -q SCENE err'; claim missing_scene_argument_is_bad_usage

run run absent.json
expect '[ $code = 2 ]' 'grep -q absent.json err' '[ ! -e absent.h5 ]'; claim missing_scene_is_bad_input
run run typo.json
expect '[ $code = 2 ]' 'grep -q "typo.json:2:" err' 'grep -q "yuong" err' 'grep -q "young" err' '[ ! -e typo.h5 ]'
claim misspelt_key_is_named_with_its_line_and_nothing_is_written
run run syntax.json --json
expect '[ $code = 2 ]' '[ "$(value "[\"error\"][\"line\"]")" -ge 1 ]' '[ ! -e syntax.h5 ]'; claim bad_scene_is_a_json_object_with_json
sed 's/"young": 1e6/"young": -1/' beam.json > negative.json
run run negative.json
expect '[ $code = 2 ]' '[ "$(grep -o "bodies\[0\]" err | wc -l)" = 1 ]'; claim a_message_names_its_place_once
run run beam.json -o nowhere/beam.h5
expect '[ $code != 0 ]' 'grep -q nowhere err'; claim unwritable_output_is_reported

status=0
# sanitizers need more than this to begin with
(ulimit -v 150000; "$cuttle" version) > out 2> err && for threads in "" OPENBLAS_NUM_THREADS=4; do
    (ulimit -v 150000; exec env $threads timeout -s KILL 20 "$cuttle" run beam.json -o tight.h5) > out 2> err; code=$?
    [ $code = 1 ] && grep -q "address space" err && [ ! -e tight.h5 ] || status=1
done
claim too_little_address_space_is_an_error

status=0
mkfifo pipe
mkdir -p folder
for place in /dev/null pipe folder; do
    run run beam.json -o $place
    [ $code != 0 ] && grep -q "not a file" err || status=1
done
[ -c /dev/null ] && [ -p pipe ] && [ -d folder ] || status=1
claim outputs_that_are_no_files_are_refused_and_stay
cp -a /dev/null null.msh 2> /dev/null || mkfifo null.msh
run mesh "$source/models/suspension_bridge.msh" -o null.msh
expect '[ $code != 0 ]' 'grep -q "not a file" err' '[ ! -f null.msh ]'; claim meshes_do_not_replace_devices
ln -s target.h5 link.h5
run run beam.json --steps 2 -o link.h5 -q
expect '[ $code = 0 ]' '[ -L link.h5 ]' '[ -f target.h5 ]' '"$cuttle" info target.h5 | grep -q "3 frames"'
claim outputs_follow_links
"$cuttle" version > /dev/full 2> err
code=$?
expect '[ $code = 1 ]' 'grep -q "cannot be written" err'; claim output_that_is_lost_is_a_failure

# sanitizers need more address space than this
limit() { (ulimit -v 2000000; "$cuttle" version) > /dev/null 2>&1 && ulimit -v 2000000; true; }
mkfifo pipe.msh pipe.json pipe.h5
truncate -s 5G huge.msh huge.json huge.h5
status=0
for file in /dev/zero pipe.msh pipe.json pipe.h5 huge.msh huge.json huge.h5; do
    (limit; timeout -s KILL 20 "$cuttle" info $file) > out 2> err; code=$?
    [ $code = 2 ] && grep -q "$file" err && [ ! -s out ] || { echo "$file: $code"; cat err; status=1; }
done
for file in /dev/zero pipe.msh huge.msh; do
    sed "s|\"box\": {.*}, \"material\"|\"mesh\": \"$file\", \"material\"|" beam.json > endless.json
    (limit; timeout -s KILL 20 "$cuttle" run endless.json -o endless.h5) > out 2> err; code=$?
    [ $code = 2 ] && grep -q "$file" err && [ ! -e endless.h5 ] || { echo "$file: $code"; cat err; status=1; }
done
claim devices_pipes_and_huge_files_are_refused_at_once
run run empty.json
expect '[ $code = 1 ]' 'grep -q "step 1: .*\"bellows\".* above 0" err'; claim a_refused_step_says_why
run run beam.json
expect '[ $code = 0 ]' '[ -s beam.h5 ]' 'grep -q "beam.h5: 20 steps" out'; claim run_writes_a_file_named_after_the_scene
run info beam.h5 --json
expect '[ $code = 0 ]' '[ "$(value "[\"inverted\"]")" = 0 ]' '[ "$(value "[\"frames\"]")" = 21 ]' '[ "$(value "[\"tets\"]")" = 30 ]'; claim info_counts_frames_and_tets
run info beam.json --json
expect '[ $code = 0 ]' '[ "$(value "[\"tets\"]")" = 30 ]' '[ "$(value "[\"driven_nodes\"]")" = 4 ]' \
    '[ "$(value "[\"bodies\"][0][\"material\"][\"energy\"]")" = neohookean ]'
claim info_describes_a_scene
run info beam.json
expect '[ $code = 0 ]' 'grep -q "30 tets" out' 'grep -q "young 1e+06" out'; claim info_describes_a_scene_in_words
for robot in xml urdf; do
    run info "$source/tests/data/double_pendulum.$robot"
    expect '[ $code = 0 ]' 'grep -q "links, 2 joint coordinates" out'
done
claim info_describes_a_robot
cat > flag.json <<'END'
{"bodies": [{"name": "flag", "sheet": {"size": [1, 1], "cells": [4, 4]}, "material": {"young": 1e5, "density": 300, "thickness": 0.002}}],
 "skeletons": [{"links": [{"name": "pole", "joint": {"type": "revolute", "anchor": [-0.2, 0, 0], "axis": [0, 1, 0]},
   "nodes": {"box": [[-0.1, -1, -1], [0.01, 2, 1]]}}]}]}
END
run info flag.json
expect '[ $code = 0 ]' 'grep -q "pole: .*, 5 nodes" out' '! grep -q "own mass" out'; claim info_counts_the_nodes_of_sheets_on_links
printf 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n' > sheet.obj
run mesh sheet.obj -o sheet.vtk
expect '[ $code = 0 ]' 'grep -q "2 triangles" out' 'grep -q "a sheet" out' '[ -s sheet.vtk ]'
run mesh sheet.obj --size 0.1
expect '[ $code != 0 ]' 'grep -q "is not closed" err'; claim meshes_of_sheets_are_checked_and_converted_not_filled
run render beam.h5 --png last --size 64x48
expect '[ $code = 0 ]' '[ -s beam.png ]'; claim a_picture_is_named_after_the_trajectory
run info touch.json --json
expect '[ $code = 0 ]' '[ "$(value "[\"obstacles\"][0][\"kind\"]")" = plane ]' '[ "$(value "[\"obstacles\"][1][\"moves\"]")" = True ]' \
    '[ "$(value "[\"contact\"][\"method\"]")" = split ]' '[ "$(value "[\"contact\"][\"split\"]")" = twice ]' \
    '[ "$(value "[\"contact\"][\"pairs\"][0][\"friction\"]")" = 0.1 ]'
claim info_describes_obstacles_and_contact
run info touch.json
expect '[ $code = 0 ]' 'grep -q "obstacle ground: plane" out' 'grep -q "obstacle obstacle1: sphere, moves" out' \
    'grep -q "contact split (twice), friction 0.3" out' 'grep -q "block and ground: collide, friction 0.1" out'
claim info_describes_obstacles_and_contact_in_words
run run beam.json -o every.h5 --steps 10 --every 5 --threads 2 --json
expect '[ $code = 0 ]' '[ "$(value "[\"steps\"]")" = 10 ]' '[ "$(value "[\"frames\"]")" = 3 ]' \
    '[ "$(value "[\"file\"]")" = every.h5 ]' '[ "$(value "[\"max_residual\"] <= 1e-6")" = True ]'
claim json_summary_says_what_was_done
run run beam.json -o quiet.h5 -q
expect '[ $code = 0 ]' '[ ! -s out ]' '[ ! -s err ]'; claim quiet_run_prints_nothing
run run beam.json -o verbose.h5 -v --steps 3
expect '[ $code = 0 ]' '[ "$(grep -c "^step" err)" = 3 ]'; claim verbose_run_prints_every_step

run run hard.json
expect '[ $code = 1 ]' 'grep -q "did not converge" err' '"$cuttle" info hard.h5 > /dev/null'
claim failed_step_is_explained_and_the_file_stays_valid

"$cuttle" run long.json -o long.h5 > out 2> err &
pid=$!
for i in $(seq 100); do [ -s long.h5 ] && break; sleep 0.05; done
sleep 0.3
"$cuttle" run beam.json -o long.h5 > /dev/null 2> second
second=$?
"$cuttle" run long.json -o long.h5 --resume > /dev/null 2> third
third=$?
expect '[ $second != 0 ]' 'grep -q "being written by another run" second' '[ $third != 0 ]' 'grep -q "another" third' 'kill -0 $pid'
claim a_second_run_with_one_output_is_refused
kill -INT $pid
wait $pid
code=$?
expect '[ $code = 1 ]' 'grep -q -- "--resume" err' '"$cuttle" info long.h5 > info.txt'; claim interrupt_closes_the_file_and_says_how_to_resume

# meshing so fine a sphere takes minutes
cat > fine.json <<'END'
{"bodies": [{"sphere": {"radius": 0.5, "size": 0.004}, "material": {"young": 1e5}}]}
END
"$cuttle" run fine.json > out 2> err &
pid=$!
sleep 0.5
kill -TERM $pid
for _ in $(seq 300); do
    kill -0 $pid 2> /dev/null || break
    sleep 0.1
done
kill -KILL $pid 2> /dev/null
wait $pid
code=$?
expect '[ $code = 1 ]' 'grep -q "cancelled while" err' '[ ! -e fine.h5 ]'; claim a_signal_ends_set_up


run run beam.json -o half.h5 --steps 10
run run beam.json -o half.h5 --resume --json
expect '[ $code = 0 ]' '[ "$(value "[\"steps\"]")" = 10 ]' '"$cuttle" info half.h5 | grep -q "21 frames"'; claim resume_goes_on_to_the_end
sed 's/"duration": 0.2/"duration": 0.3/; s/{"name"/{ "name"/' beam.json > longer.json
run run longer.json -o half.h5 --resume -q
expect '[ $code = 0 ]' '"$cuttle" info half.h5 | grep -q "31 frames"'; claim resume_takes_a_longer_duration
sed 's/"young": 1e6/"young": 2e6/; s/"time_step": 0.01/"time_step": 0.005/' longer.json > other.json
cp half.h5 kept.h5
run run other.json -o half.h5 --resume --duration 0.4
expect '[ $code = 2 ]' 'grep -q "bodies\[0\].material.young" err' 'grep -q "time_step" err' 'grep -q -- "--force" err' 'cmp half.h5 kept.h5'
claim resume_of_a_changed_scene_is_refused_and_names_what_changed
run run other.json -o half.h5 --resume --duration 0.4 --force -q
expect '[ $code = 0 ]'; claim resume_of_a_changed_scene_can_be_forced
run run beam.json -o small.h5 --compress -q --steps 10
run run beam.json -o small.h5 --resume -q
expect '[ $code = 0 ]' '"$cuttle" info small.h5 | grep -q "21 frames"' '"$cuttle" export small.h5 -o small -q'; claim compressed_runs_are_resumed_and_exported
run export small.h5 -o small.gltf
expect '[ $code = 2 ]' 'grep -q "usda or .glb" err' '[ ! -e small.gltf ]'; claim files_of_kinds_that_are_not_written_are_refused
run run absent.json --resume
expect '[ $code = 2 ]'; claim resume_of_nothing_is_bad_input

run bench --json --sizes 200 --threads 1 --steps 2
expect '[ $code = 0 ]' '[ "$(value "[\"results\"][1][\"solver\"]")" = newton ]' '[ "$(value "[\"results\"][1][\"tets\"]")" = 200 ]' \
    '[ "$(value "[\"results\"][1][\"speedup_over_projective\"] > 0")" = True ]'
claim bench_reports_both_solvers
run bench --sizes many
expect '[ $code = 2 ]'; claim bench_refuses_a_size_that_is_no_number
run bench gradient --json --sizes 200 --steps 5
expect '[ $code = 0 ]' '[ "$(value "[\"results\"][0][\"backward_solves_per_step\"] > 0")" = True ]' \
    '[ "$(value "[\"results\"][0][\"fixed_point\"][\"solves\"] > 10")" = True ]'
claim bench_gradient_reports_both_adjoint_solvers
run bench memory "$source/scenes/suspension_bridge.json" --json
expect '[ $code = 0 ]' '[ "$(value "[\"results\"][7][\"peak_memory_mb\"] > 0")" = True ]' \
    '[ "$(value "[\"results\"][7][\"gradient_identical\"]")" = True ]'
claim bench_memory_replays_the_same_gradient
run bench baseline --json --scenes "$source/scenes" --only suspension_bridge --seconds 0.05
expect '[ $code = 0 ]' '[ "$(value "[\"scenes\"][0][\"ratio\"] > 1")" = True ]' \
    '[ "$(value "[\"scenes\"][0][\"gradient\"][\"fixed_point_iterations\"] > 10")" = True ]'
claim bench_baseline_compares_both_methods
run bench contact --part scenes --only block_rest --steps 2
expect '[ $code = 0 ]' 'grep -q "^| block_rest  *|  *2 |" out'; claim bench_contact_compares_with_free_steps
run bench contact --part scenes --only nothing
expect '[ $code = 2 ]' 'grep -q "six_balls" err'; claim bench_contact_names_its_scenes
run bench contact --part drops --seed 2 --steps 3
expect '[ $code = 0 ]' 'grep -q "^seed 2: 3 steps" out'; claim bench_contact_drops_what_a_seed_says

# ---- gradients and searches ----

cat > sink.json <<'END'
{"name": "sink", "time_step": 0.01, "duration": 0.3,
 "bodies": [{"name": "beam", "box": {"size": [0.5, 0.1, 0.1], "cells": [6, 1, 1]}, "material": {"energy": "corotated", "young": 6e5, "damping": {"mass": 20}}}],
 "pins": [{"select": {"box": [[-1, -1, -1], [0.001, 1, 1]]}}],
 "parameters": [{"type": "young"}, {"type": "velocity"}],
 "objective": [{"type": "point", "target": [-0.001, -0.02, 0.001], "relative": true}],
 "optimizer": {"iterations": 80, "tolerance": 0}}
END
grep -v '"objective"' sink.json > aimless.json
sed 's/"optimizer": .*/"optimizer": {"method": "adam", "iterations": 1000000, "tolerance": 0}}/' sink.json > endless.json

run grad sink.json --json -o gradient.csv
expect '[ $code = 0 ]' '[ "$(value "[\"loss\"] > 0")" = True ]' '[ "$(value "[\"steps\"]")" = 30 ]' \
    '[ "$(value "[\"slices\"][1][\"name\"]")" = velocity ]' '[ "$(value "[\"backward\"][\"solves\"] > 0")" = True ]' \
    '[ "$(wc -l < gradient.csv)" = 5 ]' 'grep -q "^young,0,600000,0," gradient.csv'
claim grad_prints_the_gradient_and_writes_its_table
run grad sink.json --memory 0.001 --json
expect '[ $code = 0 ]' '[ "$(value "[\"backward\"][\"replayed\"] > 0")" = True ]'; claim grad_replays_what_memory_does_not_hold
run grad beam.json
expect '[ $code = 2 ]' 'grep -q "no parameters" err'; claim grad_without_parameters_is_bad_input
run grad aimless.json
expect '[ $code = 2 ]' 'grep -q "objective" err'; claim grad_without_an_objective_is_bad_input
run check sink.json --json
expect '[ $code = 0 ]' '[ "$(value "[\"passed\"]")" = True ]' '[ "$(value "[\"max_relative_error\"] < 1e-7")" = True ]' \
    '[ "$(value "[\"slices\"][0][\"name\"]")" = young ]' '[ "$(value "[\"slices\"][0][\"slope\"] > 1.7")" = True ]'
claim check_passes_a_right_gradient
cat > sunk.json <<'END'
{"name": "sunk", "time_step": 0.01, "duration": 0.1, "contact": {},
 "bodies": [{"name": "block", "box": {"size": [0.1, 0.1, 0.1], "cells": [2, 2, 2]}, "translate": [0, -0.005, 0], "contact_thickness": 0.001}],
 "obstacles": [{"name": "floor", "plane": {"normal": [0, 1, 0]}}, {"name": "wall", "box": {"center": [-5, 0, 0], "half": [4, 4, 4]}}],
 "parameters": [{"type": "young"}], "objective": [{"type": "point", "target": [0, 0, 0]}]}
END
sunk='"block" and "floor" overlap by 0.005 m at 0 -0.005 0 (node 0): move "block" by 0.006 m along 0 1 0, or exclude the pair ("collide": false)'
run run sunk.json -o sunk.h5
expect '[ $code = 2 ]' '[ "$(tail -1 err)" = "cuttle: $sunk" ]' '[ ! -e sunk.h5 ]'
claim run_refuses_an_overlap_before_it_writes
run check sunk.json
expect '[ $code = 2 ]' '[ "$(cat err)" = "cuttle: step 1: $sunk" ]'; claim check_refuses_an_overlap
run info sunk.json
expect '[ $code = 1 ]' '[ "$(tail -1 out)" = "  the motion cannot begin: $sunk" ]' 'grep -q "contact thickness 0.001 m" out' \
    'grep -q "obstacle floor: plane, contact thickness 0 m" out' 'grep -q "obstacle wall: box, contact thickness 0.001 m" out' \
    'grep -q "block and wall keep 0.002 m" out' 'grep -q "block and itself keep 0.002 m" out'
claim info_prints_thicknesses_distances_and_overlaps
run info sunk.json --json
expect '[ $code = 1 ]' '[ "$(value "[\"overlap\"]")" = "$sunk" ]' '[ "$(value "[\"bodies\"][0][\"contact_thickness\"]")" = 0.001 ]' \
    '[ "$(value "[\"obstacles\"][1][\"thickness\"]")" = 0.001 ]' '[ "$(value "[\"contact\"][\"distances\"][1][\"distance\"]")" = 0.001 ]'
claim info_lists_thicknesses_distances_and_overlaps_in_json
sed 's/"parameters"/"pins": [{"select": {"all": true}}], "parameters"/' sunk.json > held.json
run info held.json
expect '[ $code = 0 ]' '[ "$(tail -1 out)" = "    every node of block is pinned or driven: it passes through obstacles" ]' '! grep -q keep out'
run run held.json -o held.h5
expect '[ $code = 0 ]' 'grep -q "^note: every node of \"block\" is pinned or driven: it passes through obstacles" err'
claim what_is_pinned_everywhere_is_said_to_pass_through_obstacles
run check sink.json --fresh --json
expect '[ $code = 0 ]' '[ "$(value "[\"passed\"]")" = True ]' '[ "$(value "[\"fresh\"]")" = True ]' \
    '[ "$(value "[\"max_relative_error\"] < 1e-7")" = True ]' '[ "$(value "[\"slices\"][0][\"slope\"] > 1.7")" = True ]'
claim check_compares_with_freshly_built_scenes
run check sink.json --tolerance 1e-9
expect '[ $code = 0 ]' 'grep -Eq "^Steps were solved to [0-9.]+e-(09|1[0-9]) \(asked: 1.0e-09\).$" out'
claim check_says_what_the_solver_was_asked_for_and_reached
sed 's/"duration": 0.3,/"duration": 0.3, "solver": {"max_iterations": 2, "max_substep_depth": 0},/' sink.json > hasty.json
run check hasty.json --tolerance 1e-11
expect '[ $code = 1 ]' 'grep -q "(asked for a residual of 1e-11: --tolerance 1e-09 asks for less)" err'
claim check_says_when_too_much_is_asked_of_the_solver
run check sink.json --error 1e-15
expect '[ $code = 1 ]' 'grep -q "^FAILED young" out'; claim check_fails_with_exit_code_1
run check sink.json --step 0.5
expect '[ $code = 1 ]' 'grep -q "a smaller step may pass (--step 1e-01)" out'; claim check_says_when_its_step_is_too_coarse
# a sheet on an incline, with the friction that just holds it
cat > slope.json <<'END'
{"name": "slope", "time_step": 0.01, "duration": 0.03, "gravity": [3, -10, 0], "contact": {"friction": 0.3000000001},
 "bodies": [{"name": "sheet", "sheet": {"size": [0.2, 0.2], "cells": [2, 2]}, "rotate": {"axis": [1, 0, 0], "degrees": -90},
             "translate": [0, 1e-3, 0], "material": {"young": 1e5, "thickness": 2e-3}, "contact_thickness": 1e-3}],
 "obstacles": [{"name": "floor", "plane": {"normal": [0, 1, 0]}}], "parameters": [{"type": "friction"}],
 "objective": [{"type": "point", "target": [1, 0, 0], "relative": true}]}
END
run check slope.json --threads 1
expect '[ $code = 1 ]' 'grep -q "^FAILED friction" out' 'grep -q "not derivatives: contacts switch between the rollouts" out' \
    'grep -q "at step 0 sheet and floor (plane, node 0) switch from stick to slip" out' 'grep -q "and 23 more" out'
claim check_names_contacts_that_switch
run check slope.json --threads 1 --fresh
expect '[ $code = 1 ]' 'grep -q "at step 0 sheet and floor (plane, node 0) switch from stick to slip" out' \
    'grep -q "each difference in freshly built scenes" out'
claim check_names_contacts_that_switch_in_freshly_built_scenes
run check slope.json --threads 1 --json
expect '[ $code = 1 ]' '[ "$(value "[\"slices\"][0][\"switches\"]")" = 27 ]' '[ "$(value "[\"slices\"][0][\"halved\"]")" = None ]' \
    '[ "$(value "[\"slices\"][0][\"switched\"][0][\"nodes\"]")" = "[0]" ]' '[ "$(value "[\"slices\"][0][\"switched\"][0][\"to\"]")" = slip ]'
claim check_lists_contacts_that_switch_in_json

run optimize sink.json -o found --target 1e-12 --json -q
expect '[ $code = 0 ]' '[ ! -s err ]' '[ "$(value "[\"loss\"] <= 1e-12")" = True ]' '[ "$(value "[\"reason\"]")" = "the target is reached" ]' \
    '"$cuttle" info found/result.h5 | grep -q "31 frames"' 'head -c 4 found/loss.png | grep -q PNG' 'head -1 found/loss.csv | grep -q "^iteration,loss"'
claim optimize_reaches_its_target_and_writes_its_files
run grad sink.json --from found/best.json --motion motion.h5 --json
expect '[ $code = 0 ]' '[ "$(value "[\"loss\"] <= 1e-12")" = True ]' 'cmp -s <("$cuttle" info motion.h5 | tail -n +2) <("$cuttle" info found/result.h5 | tail -n +2)'
claim grad_is_taken_where_an_optimisation_has_arrived
run grad sink.json --from absent.json
expect '[ $code = 2 ]' 'grep -q "absent.json" err'; claim grad_from_nothing_is_bad_input
run optimize sink.json -o parts -n 3 -q
rows=$(wc -l < parts/loss.csv)
cp parts/best.json first.json
printf '4,1.5' >> parts/loss.csv
run optimize sink.json -o parts -n 6 --resume --json
expect '[ $code = 0 ]' '[ $rows = 4 ]' '[ "$(wc -l < parts/loss.csv)" = 7 ]' '[ "$(value "[\"iterations\"]")" = 6 ]' \
    '[ "$(grep -c "  loss " err)" = 3 ]' \
    'python3 -c "import json; a, b = (json.load(open(f)) for f in (\"first.json\", \"parts/best.json\")); assert b[\"loss\"] <= a[\"loss\"] and b[\"iteration\"] == 6"'
claim optimize_resumes_where_it_stopped
same=0
for m in lbfgs adam slsqp cmaes; do
    run optimize sink.json -o whole -n 8 -m $m -q
    run optimize sink.json -o pieces -n 3 -m $m -q
    truncate -s -5 pieces/evaluations.bin  # as if killed
    run optimize sink.json -o pieces -n 6 -m $m -q --resume
    run optimize sink.json -o pieces -n 8 -m $m -q --resume
    python3 - <<END && same=$((same + 1))
a, b = ([list(map(float, line.split(",")))[:3] for line in open(d + "/loss.csv").readlines()[1:]] for d in ("whole", "pieces"))
assert len(a) == len(b) == 8 and all(abs(x - y) <= 1e-6 * abs(a[0][1]) for r, s in zip(a, b) for x, y in zip(r, s))
END
done
expect '[ $same = 4 ]'; claim optimize_in_pieces_is_the_same_search
sed 's/-0.02/-0.03/' sink.json > deeper.json
run optimize deeper.json -o pieces -n 9 -m cmaes --resume --json
best=$(python3 -c 'import json; print(json.load(open("pieces/best.json"))["iteration"])')
expect '[ $code = 0 ]' '[ "$(grep -c "  loss " err)" = 1 ]' '[ "$best" = 9 ]'; claim optimize_of_another_version_of_the_scene_goes_on_from_the_best
run optimize sink.json -o parts -n 6 --resume -q
expect '[ $code = 0 ]' '[ "$(wc -l < parts/loss.csv)" = 7 ]'; claim optimize_does_nothing_when_the_iterations_are_used_up
run optimize sink.json -o absent --resume
expect '[ $code = 2 ]' 'grep -q "absent/best.json" err' '[ ! -e absent ]'; claim optimize_resume_of_nothing_is_bad_input
echo '{"loss": 1, "iteration": 2, "seconds": 1, "y": [1, 2]}' > parts/best.json
run optimize sink.json -o parts --resume
expect '[ $code = 2 ]' 'grep -q "parts/best.json" err'; claim optimize_refuses_the_best_of_another_scene
run optimize sink.json --method newton
expect '[ $code = 2 ]' 'grep -q slsqp err' '[ ! -e sink-optimized ]'; claim optimize_names_its_methods
run optimize sink.json -o seed5 --method cmaes -n 9 --seed 5 -q
run optimize sink.json -o again --method cmaes -n 9 --seed 5 -q
run optimize sink.json -o seed6 --method cmaes -n 9 --seed 6 --json
expect '[ $code = 0 ]' '[ "$(wc -l < seed5/loss.csv)" = 10 ]' '[ "$(grep -c gradient err)" = 0 ]' '[ "$(value "[\"method\"]")" = cmaes ]' \
    '[ "$(cut -d, -f1-3 seed5/loss.csv)" = "$(cut -d, -f1-3 again/loss.csv)" ]' '[ "$(cut -d, -f2 seed5/loss.csv)" != "$(cut -d, -f2 seed6/loss.csv)" ]'
claim optimize_without_gradients_repeats_itself_by_its_seed
run optimize sink.json --seed -4
expect '[ $code = 2 ]' 'grep -q "at least 0" err' '[ ! -e sink-optimized ]'; claim optimize_refuses_a_negative_seed

run optimize endless.json -o late --time-limit 0.3 --json
expect '[ $code = 0 ]' '[ "$(value "[\"reason\"]")" = "the time limit is reached" ]' '[ "$(value "[\"interrupted\"]")" = False ]' '[ -s late/result.h5 ]'
claim optimize_ends_at_its_time_limit
sed -e 's/"duration": 0.3,/"duration": 0.3, "solver": {"max_iterations": 10, "max_substep_depth": 0},/' \
    -e 's/"optimizer": .*/"optimizer": {"method": "adam", "rate": 2, "iterations": 8, "tolerance": 0}}/' sink.json > hasty.json
run optimize hasty.json -o hasty
expect '[ $code = 0 ]' 'grep -q "failed, counts as a large loss.*: step [0-9]*: the step did not converge" err' \
    'python3 -c "import json; f = json.load(open(\"hasty/failed.json\")); assert f[\"failure\"].startswith(\"step \") and len(f[\"y\"]) == 4"'
run grad hasty.json --from hasty/failed.json
expect '[ $code != 2 ]'  # readable; a fresh factor may get over it
claim optimize_says_why_an_evaluation_failed_and_keeps_its_parameters

"$cuttle" optimize endless.json -o busy > /dev/null 2>&1 &
pid=$!
for i in $(seq 100); do [ -s busy/best.json ] && break; sleep 0.05; done
run optimize endless.json -o busy
expect '[ $code = 1 ]' 'grep -q "another search" err' 'kill -0 $pid'; claim a_second_search_in_one_directory_is_refused
kill -KILL $pid
wait $pid 2> /dev/null

for signal in INT KILL; do
    "$cuttle" optimize endless.json -o endless-$signal > out 2> err &
    pid=$!
    for i in $(seq 100); do [ -s endless-$signal/best.json ] && break; sleep 0.05; done
    sleep 0.3
    kill -$signal $pid
    wait $pid 2> /dev/null
    code=$?
    [ $signal = KILL ] || interrupted=$code
done
expect '[ $interrupted = 1 ]' '"$cuttle" info endless-INT/result.h5 > info.txt' \
    'python3 -c "import json; assert json.load(open(\"endless-KILL/best.json\"))[\"iteration\"] > 1"' \
    '"$cuttle" optimize endless.json -o endless-KILL --resume -n 1 -q'
claim optimize_keeps_the_best_through_interrupt_and_kill

echo "[==========] $((passed + failed)) test(s) run."
echo "[  PASSED  ] $passed test(s)."
[ $failed = 0 ] || echo "[  FAILED  ] $failed test(s)."
[ $failed = 0 ]
