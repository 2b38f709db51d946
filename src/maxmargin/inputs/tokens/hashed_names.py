"""HashedNames: numbers of feature names without a list of the names, so that new names need no memory.

Feature hashing (Weinberger et al. 2009, without signs): names with the same number share their weights.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.checks import check_whole
from maxmargin.base.files.fields import Whole
from maxmargin.base.files.objects import Fields
from maxmargin.inputs.tokens.vocabulary import Names

MOST = 30  # bits, because columns of matrices are 32-bit integers


class HashedNames:
    """A replacement of a Vocabulary of 2**bits names, in which the number of a name is a hash of its bytes.

    It is the same in every process and on every machine.
    """

    saved: ClassVar[Fields] = {"bits": Whole(1, MOST)}
    saved_as: ClassVar[str] = "__init__"

    def __init__(self, bits: int):
        self.bits = check_whole("hash_bits", bits, least=1)
        if bits > MOST:
            raise ValueError(f"hash_bits must be at most {MOST}, got {bits}")

    def __len__(self) -> int:
        return 1 << self.bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HashedNames) and other.bits == self.bits

    def __hash__(self) -> int:
        return self.bits

    def look_up(self, names: Names) -> NDArray[np.int32]:
        """Return the number of every name; all names are known."""
        from maxmargin.inputs.tokens.compiled.names import hash_names

        numbers = np.empty(names.size, dtype=np.int32)
        hash_names(*names, np.uint64(len(self) - 1), numbers)
        return numbers

    learn = look_up
