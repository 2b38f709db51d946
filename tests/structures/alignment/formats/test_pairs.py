import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.formats import SequencePair, SequenceRecord, read_fasta_pairs, write_fasta_pairs

rows = st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.text("ACGT-", min_size=n, max_size=n)] * 2))


@given(st.lists(rows, max_size=4))
def test_what_is_written_is_read(pairs):
    records = [SequencePair(SequenceRecord("a", "x y", a), SequenceRecord("b", "", b)) for a, b in pairs]
    file = io.StringIO()
    write_fasta_pairs(file, records, width=4)
    assert read_fasta_pairs(io.StringIO(file.getvalue())) == records


def test_what_is_wrong_is_told_with_its_line():
    with pytest.raises(ValueError, match="line 3: 'b' has 1 columns; expected 2, as 'a', with which it is aligned"):
        read_fasta_pairs(io.StringIO(">a\nAC\n>b\nA\n"))
    assert len(read_fasta_pairs(io.StringIO(">a\nAC\n>b\nA\n"), aligned=False)) == 1
    with pytest.raises(ValueError, match="line 5: 'c' is the last sequence and has no partner; expected pairs"):
        read_fasta_pairs(io.StringIO(">a\nAC\n>b\nAC\n>c\nA\n"))
