#!/usr/bin/env bash
# hack/conformance with a suite that is made up: it must refuse one that lacks tests, and must not
# call a failure a pass.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/mailroom-runner.XXXXXX")
trap 'rm -rf "$dir"' EXIT
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# Knows the names in $dir/known and fails those in $dir/broken.
cat >"$dir/e2e.test" <<'STUB'
#!/usr/bin/env bash
here=$(dirname "$0")
for each in "$@"; do
  case $each in
    --ginkgo.focus=*) focus=${each#*=} ;;
    --ginkgo.dry-run) dry=yes ;;
  esac
done
chosen=$(grep -cE -- "$focus" "$here/known")
echo "Will run $chosen of 7000 specs"
[ -z "${dry:-}" ] || exit 0
bad=$(grep -E -- "$focus" "$here/broken" | sed 's/^/  [FAIL] /')
count=$(grep -c . <<<"$bad")
printf '%s\n' "$bad"
if [ "$count" = 0 ]; then word='SUCCESS!'; else word='FAIL!'; fi
echo "$word -- $((chosen - count)) Passed | $count Failed | 0 Pending | 1 Skipped"
[ "$count" = 0 ]
STUB
chmod +x "$dir/e2e.test"
export KUBECONFIG=$dir/none KUBECTL=/bin/true OUT=$dir/out
judge() { "$root/hack/conformance" "$dir/e2e.test" "$@" >"$dir/said" 2>&1; }

cp "$root/test/conformance/class_a.txt" "$dir/known"
: >"$dir/broken"
judge || fail "all pass: $(cat "$dir/said")"
grep -qx '113 of 113 passed' "$dir/said" || fail "the count: $(cat "$dir/said")"
judge 'sig-auth' || fail "some pass: $(cat "$dir/said")"
grep -qE '^[0-9]{1,2} of [0-9]{1,2} passed$' "$dir/said" || fail "the count of some"
judge 'no such test' && fail "nothing to run is no success"

export NAMES=$root/test/conformance/class_b.txt
cp "$NAMES" "$dir/known"
judge || fail "the other list: $(cat "$dir/said")"
grep -qx '15 of 15 passed' "$dir/said" || fail "the count of the other list"
unset NAMES
cp "$root/test/conformance/class_a.txt" "$dir/known"

head -n 1 "$dir/known" >"$dir/broken"
judge && fail "a failure is no success"
grep -qx '112 of 113 passed' "$dir/said" || fail "the count of failures: $(cat "$dir/said")"
grep -q '^FAILED \[sig-' "$dir/said" || fail "the name of the failure"

: >"$dir/broken"
sed -i 1d "$dir/known"
judge && fail "a test that is not there is no success"
grep -q 'knows 112 of the 113 tests' "$dir/said" || fail "what is missing: $(cat "$dir/said")"
echo ok
