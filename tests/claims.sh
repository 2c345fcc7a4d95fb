# What the shell tests share, sourced by them: a place of their own, claims and their count.
# A claim's status is that of `expect`, or its second argument.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
passed=0
failed=0

claim() {  # name [status]
    if [ "${2:-$status}" = 0 ]; then
        passed=$((passed + 1))
        echo "[       OK ] $1"
    else
        failed=$((failed + 1))
        echo "[  FAILED  ] $1"
        head -20 out err 2> /dev/null
    fi
}
expect() { status=0; for test in "$@"; do eval "$test" || { status=1; echo "    not: $test"; }; done; }
value() { python3 -c "import json,sys; print(eval('d' + sys.argv[1], {'d': json.loads(open('out').read().splitlines()[-1])}))" "$1"; }
