"""Shell scripts in which `maxmargin` is the package that is tested."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import maxmargin

COMMAND = [sys.executable, "-m", "maxmargin"]
SOURCE = str(Path(maxmargin.__file__).resolve().parent.parent)
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (SOURCE, os.environ.get("PYTHONPATH"))))}


def run_script(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it in this folder, until the first command that fails."""
    command = folder / "bin" / "maxmargin"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m maxmargin "$@"\n')
    command.chmod(0o755)
    env = {**ENVIRONMENT, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(["sh", "-e", "-c", script], cwd=folder, env=env, capture_output=True, text=True, timeout=300)
