# SPDX-License-Identifier: GPL-2.0
"""Where things lie, and how the harness speaks to people and to commands."""

import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
TESTS = TOP / "tests"
CASES = TESTS / "cases"


class HarnessError(Exception):
    """Something that keeps the harness itself from working."""


def say(text: str) -> None:
    """A line for a person; results alone go to stdout."""
    print(f"tests/run: {text}", file=sys.stderr, flush=True)


def output_of(*command: str | os.PathLike) -> str:
    """The output of a command that must succeed; its errors are shown."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise HarnessError(f"{Path(command[0]).name} failed")
    return done.stdout.strip()
