"""Names of the features of arcs, decoded from their keys, with the templates of compiled/arc_keys.py."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from maxmargin.structures.dependencies.lexicon import Lexicon

H, M, HT, MT = "head", "dependent", "head tag", "dependent tag"
BEFORE_H, AFTER_H, BEFORE_M, AFTER_M = (
    "tag before head",
    "tag after head",
    "tag before dependent",
    "tag after dependent",
)
HF, MF = "head fine tag", "dependent fine tag"
FINE_BEFORE_H, FINE_AFTER_H = "fine tag before head", "fine tag after head"
FINE_BEFORE_M, FINE_AFTER_M = "fine tag before dependent", "fine tag after dependent"
BETWEEN_TAG = "tag between"

# The meaning of the four fields of each template; "" if it does not have the field.
TEMPLATES: dict[int, tuple[str, str, str, str]] = {
    1: (H, "", HT, ""),
    2: (H, "", "", ""),
    3: ("", "", HT, ""),
    4: ("", M, "", MT),
    5: ("", M, "", ""),
    6: ("", "", "", MT),
    7: (H, M, "", ""),
    8: (H, M, "", MT),
    9: (H, M, HT, ""),
    10: (H, M, HT, MT),
    11: ("", M, HT, MT),
    12: (H, "", HT, MT),
    13: ("", "", HT, MT),
    14: (AFTER_H, BEFORE_M, HT, MT),
    15: (BEFORE_H, BEFORE_M, HT, MT),
    16: (AFTER_H, AFTER_M, HT, MT),
    17: (BEFORE_H, AFTER_M, HT, MT),
    18: ("", BEFORE_M, HT, MT),
    19: ("", AFTER_M, HT, MT),
    20: (BEFORE_H, "", HT, MT),
    21: (AFTER_H, "", HT, MT),
    22: (BETWEEN_TAG, "", HT, MT),
    23: ("", "", HF, ""),
    24: ("", "", "", MF),
    25: ("", "", HF, MF),
    26: ("", "", HF, MT),
    27: ("", "", HT, MF),
    28: (H, "", "", MF),
    29: ("", M, HF, ""),
    30: (FINE_BEFORE_M, FINE_AFTER_M, HF, MF),
    31: (FINE_BEFORE_H, FINE_AFTER_H, HF, MF),
    32: ("", M, "", ""),
    33: ("", "", "", MT),
    34: ("", M, "", MT),
    35: (BEFORE_M, "", "", MT),
    36: ("", AFTER_M, "", MT),
    37: (BEFORE_M, AFTER_M, "", MT),
    38: (H, "", "", ""),
    39: ("", "", HT, ""),
    40: (H, "", HT, ""),
    41: ("", "", HT, MT),
    42: (H, "", "", MT),
    43: ("", M, HT, ""),
    44: (H, M, "", ""),
    45: ("", "", HF, MF),
    46: ("", M, "", MF),
}
DISTANCES = ("1", "2", "3", "4", "5-9", "10+")
SIDES = [
    "",
    "head left",
    "head right",
    "root",
    *(f"head left by {d}" for d in DISTANCES),
    *(f"head right by {d}" for d in DISTANCES),
]


def feature_names(keys: NDArray[np.uint64], lexicon: Lexicon) -> Sequence[str]:
    """Return a name for every key."""
    from maxmargin.structures.dependencies.compiled.arc_keys import FIRST, SECOND, SIDE, TEMPLATE, THIRD

    parts = [TEMPLATE, SIDE, FIRST, SECOND, THIRD, 0]
    widths = np.diff([64, *parts]) * -1
    fields = [
        ((keys >> np.uint64(at)) & np.uint64(2 ** int(width) - 1)).tolist()
        for at, width in zip(parts, widths, strict=True)
    ]
    names = []
    for template, side, *codes in zip(*fields, strict=True):
        said = [
            f"{what}={(lexicon.forms if what in (H, M) else lexicon.fine if 'fine' in what else lexicon.tags)[code]}"
            for what, code in zip(TEMPLATES[template], codes, strict=True)
            if what
        ]
        names.append(", ".join([*said, SIDES[side]]))
    return names
