"""Runs a package that was cut short or changed in one byte, at many places; counts the refusals with one message."""

import subprocess
import sys
from pathlib import Path

content = Path(sys.argv[1]).read_bytes()
places = [len(content) * i // 100 for i in range(100)]
damaged = [content[:place] for place in places]
damaged += [content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :] for place in places]
refused = 0
for each in damaged:
    Path("damaged.twp").write_bytes(each)
    result = subprocess.run(
        ["run-model", "damaged.twp", "--random-inputs=1"], capture_output=True, text=True, check=False
    )
    lines = result.stderr.splitlines()
    refused += result.returncode == 1 and len(lines) == 1 and lines[0].startswith("run-model: error: damaged.twp: ")
print(f"{len(damaged)} damaged packages, {refused} refused")
