# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Do what the tutorial says, in the current folder, with the `sojourn` of this environment.

    python tests/tutorial.py docs/start/your-aqm.md [--linux]

Its TOML is saved as it says, each command must succeed, and each line of output that it shows must
be among what was printed since the heading. Commands for a Linux kernel run with --linux.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^## ([^\n]*)$|^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(page: str, linux: bool) -> int:
    """How many commands ran."""
    commands, printed = 0, ""
    for heading, language, text in BLOCK.findall(page):
        if heading:
            printed = ""
        elif language == "toml":
            Path("scenario.toml").write_text(text)
        elif language == "text":
            missing = [line for line in text.splitlines() if line not in printed.splitlines()]
            if missing:
                raise SystemExit(f"not printed: {missing}\nbut:\n{printed}")
        elif language == "console":
            for line in text.splitlines():
                command = line.removeprefix("$ ")
                if "--host linux" in command and not linux:
                    continue
                done = subprocess.run(
                    ["bash", "-c", command],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    check=False,
                )
                if done.returncode:
                    raise SystemExit(f"{command}: status {done.returncode}\n{done.stdout}")
                printed += done.stdout
                commands += 1
        elif language != "yaml":  # tests/test_workflow.py has the workflow
            raise SystemExit(f"what is to be done with a block of {language}?")
    return commands


if __name__ == "__main__":
    count = follow(Path(sys.argv[1]).read_text(), "--linux" in sys.argv)
    print(f"tutorial: {count} commands ran")
