#!/bin/sh
# How many lines change from each step to the next, beside the two header lines: lines added plus lines removed, the strictest way
# to count. usage: diffs.sh STEP STEP ...
set -eu
body=$(mktemp -d)
trap 'rm -r "$body"' EXIT
before=
for step in "$@"; do
    tail -n +3 "$step/reduce.cu" > "$body/$step"
    if [ -n "$before" ]; then
        changes=$(diff "$body/$before" "$body/$step" || true)
        added=$(printf '%s\n' "$changes" | grep -c '^>' || true)
        removed=$(printf '%s\n' "$changes" | grep -c '^<' || true)
        printf '%-18s to %-18s %2d lines: %d added, %d removed\n' "$before" "$step" $((added + removed)) "$added" "$removed"
    fi
    before=$step
done
