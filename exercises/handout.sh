#!/bin/sh
# Packs the repository for students: what is under version control, without solutions, the teacher's page and the folded answers of the lessons.
#   handout.sh FILE.tar.gz
set -eu
target=$1
cd "$(dirname "$0")/.."
mkdir -p "$(dirname "$target")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
name=cuda-reduction
mkdir "$scratch/$name"
git ls-files -z | grep -zv -e '^exercises/solutions/' -e '^exercises/cheats/' -e '^tests/test_exercises\.py$' -e '^tests/class_of_200\.py$' -e '^docs/teaching\.md$' |
    tar --null -T - -cf - | tar -xf - -C "$scratch/$name"
find "$scratch/$name" -name '*.md' -exec python3 -c '
import re, sys
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    text = re.sub(r"(?s)[ \t]*<details\b.*?</details>[ \t]*\n?", "", text)
    text = re.sub(r"(?m)^\[docs/teaching\.md\].*\n| For teachers: `docs/teaching\.md`\.", "", text) # which is not packed
    open(path, "w", encoding="utf-8").write(text)' {} +
tar -czf "$target" -C "$scratch" "$name"
echo "$target: $(tar -tzf "$target" | wc -l) files, no solutions"
