"""maxmargin completion: print a bash script that completes commands and options (for zsh use bashcompinit)."""

from __future__ import annotations

import argparse

from maxmargin.command.kinds import KINDS
from maxmargin.command.parser import words_after

SCRIPT = """\
_maxmargin() {{
    local words=""
    case "$COMP_CWORD:${{COMP_WORDS[1]-}}:${{COMP_WORDS[2]-}}" in
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _maxmargin maxmargin
"""


def run(settings: argparse.Namespace) -> int:
    """Print the script; where it has no words to offer, bash offers file names."""
    cases = {"1:*": words_after([]), "2:fit:*": words_after(["fit"])}
    cases |= {f"*:fit:{kind}": words_after(["fit", kind]) for kind in KINDS}
    cases |= {f"*:{name}:*": words_after([name]) for name in words_after([]) if name[0] != "-" and name != "fit"}
    print(
        SCRIPT.format(cases="\n".join(f'        {case}) words="{" ".join(each)}";;' for case, each in cases.items())),
        end="",
    )
    return 0
