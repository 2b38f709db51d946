import gc

import numpy as np
import pytest
from numba import TypingError, types

from maxmargin.base.compiled.accelerated import ACCELERATED
from maxmargin.base.compiled.inlined_kernels import collector_at_rest, inlined
from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.kernel_cache import caching_in

pytestmark = pytest.mark.skipif(not ACCELERATED, reason="kernels are plain")


@kernel
def halved(x):
    return x // 2


@kernel
def steps(x):
    """How often x can be halved, by a kernel that is called with a constant first and then with a variable."""
    count = halved(1)
    while x > 0:
        x = halved(x)
        count += 1
    return count


@kernel
def steps_of_all(numbers, counts):
    for i in range(len(numbers)):
        counts[i] = steps(numbers[i])


def counted(numbers):
    counts = np.zeros(len(numbers), dtype=np.int64)
    steps_of_all(np.array(numbers), counts)
    return counts.tolist()


def test_a_part_is_not_compiled_for_python():
    assert counted([1, 7, 8]) == [1, 3, 4]
    assert len(steps_of_all.signatures) == 1
    assert not steps.signatures
    assert not halved.signatures
    assert not steps.stats.cache_misses  # nor looked for on disk


def test_a_constant_is_a_number_like_any_other():
    """In kernels of this test alone: those above may come from the disk, where nothing is compiled."""

    @kernel
    def third(x):
        return x // 3

    @kernel
    def thirds(x):
        count = third(1)
        while x > 0:
            x = third(x)
            count += 1
        return count

    assert thirds(9) == 3
    assert len(third._parts) == 1


def test_a_kernel_that_python_calls_as_well():
    @kernel
    def twice(x):
        return 2 * x

    @kernel
    def run(x):
        return twice(x) + 1

    assert run(3) == 7
    assert twice(3) == 6  # its part has no machine code of its own
    assert run(0.5) == 2.0
    assert twice(0.25) == 0.5
    assert len(twice.signatures) == len(twice._parts) == 2


def test_an_array_that_is_not_contiguous_is_another_part():
    @kernel
    def total(values):
        result = 0.0
        for value in values:
            result += value
        return result

    @kernel
    def column_and_row(table):
        return total(table[:, 0]), total(table[0])

    assert column_and_row(np.arange(6.0).reshape(2, 3)) == (3.0, 3.0)
    assert len(total._parts) == 2


def test_an_error_names_the_part():
    @kernel
    def wrong(x):
        return x.no_such_name

    @kernel
    def run(x):
        return wrong(x)

    with pytest.raises(TypingError, match="no_such_name"):
        run(1)
    assert not wrong._parts


def test_an_exception_in_a_part_reaches_python():
    @kernel
    def divided(x, y):
        return x // y

    @kernel
    def run(x, y):
        return divided(x, y)

    assert run(7, 2) == 3
    with pytest.raises(ZeroDivisionError):
        run(7, 0)


@pytest.mark.parametrize("running", [True, False])
def test_the_collector_is_as_it_was(running):
    before = gc.isenabled()
    try:
        (gc.enable if running else gc.disable)()
        with collector_at_rest():
            assert not gc.isenabled()
            with collector_at_rest():
                assert not gc.isenabled()
            assert not gc.isenabled()
        assert gc.isenabled() == running
        with pytest.raises(TypingError):
            halved("nor does an error change that")
        assert gc.isenabled() == running
    finally:
        (gc.enable if before else gc.disable)()


def test_an_entry_of_another_signature_is_not_used(tmp_path):
    """Two processes that save at once may leave an index that names the code of the other one."""

    def twice(x):
        return x + x

    with caching_in(tmp_path):
        first = inlined(twice, cache=True)
        assert (first(2), first(0.5)) == (4, 1.0)
        whole, real = sorted(tmp_path.rglob("*.nbc"))
        whole.write_bytes(real.read_bytes())
        second = inlined(twice, cache=True)
    assert second(0.5) == 1.0
    assert second(3) == 6
    assert second.stats.cache_hits[(types.float64,)] == 1
    assert second.stats.cache_misses[(types.int64,)] == 1
