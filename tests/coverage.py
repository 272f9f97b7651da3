"""Lines of the emulator that the tests reached, by gcov:  python3 tests/coverage.py FOLDER_WITH_OBJECTS"""
import re
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1]).resolve()
root = Path(__file__).resolve().parent.parent
reached = lines = 0
for notes in sorted(folder.glob("*.gcno")):
    said = subprocess.run(["gcov", "-n", "-o", str(folder), str(notes)], cwd=root, capture_output=True, text=True).stdout
    for name, share, count in re.findall(r"File '([^']+)'\nLines executed:([\d.]+)% of (\d+)", said):
        if name.endswith(f"common/emulator/{notes.stem}.c"):
            reached += round(float(share) * int(count) / 100)
            lines += int(count)
            print(f"{share:>7} % of {count:>5} lines  {notes.stem}.c")
print(f"{100 * reached / lines:7.2f} % of {lines:>5} lines  in all")
