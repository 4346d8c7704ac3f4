"""Large arrays in temporary files: what they hold, what they leave, and a disk that is full."""

from __future__ import annotations

import errno
import os
import tempfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from deadheat.support import scratch


@pytest.mark.parametrize("worth", [0, 1 << 60])
@pytest.mark.parametrize("fallocate", [False, True])
def test_arrays_hold_what_is_written_when_they_are_let_go(
    worth: int, fallocate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "WORTH_A_FILE", worth)
    monkeypatch.setattr(scratch, "_PIECE", 1000)
    if not fallocate:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    before = os.listdir(tempfile.gettempdir())
    arrays = scratch.arrays(2, 3000)
    assert set(os.listdir(tempfile.gettempdir())) <= set(before)
    assert [array.shape for array in scratch.arrays(1, 0)] == [(0,)]
    for k, array in enumerate(arrays):
        array[:] = np.arange(3000) + k
    scratch.let_go(*arrays, arrays[0][7:9])
    for k, array in enumerate(arrays):
        assert_array_equal(array, np.arange(3000) + k)


def test_a_full_disk_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(scratch, "_reserve", refuse)
    with pytest.raises(OSError, match=r"cannot keep 4000 MB in temporary files in '.*' \(TMPDIR .*No space") as error:
        scratch.arrays(4, 125_000_000)
    assert error.value.errno == errno.ENOSPC
    assert "\n" not in str(error.value)
