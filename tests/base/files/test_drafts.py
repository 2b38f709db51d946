"""Files are written completely or not at all: whatever happens, there is the old file or the new one."""

import os
import stat
from errno import EFBIG, ENOSPC

import numpy as np
import pytest

from maxmargin.base.files.array_folder import ArrayFolderWriter
from maxmargin.base.files.drafts import NamedFile, replacing, write_file
from maxmargin.inputs.readers.text_file import reading, writing

SUFFIXES = ["", ".gz", ".xz", ".bz2"]


@pytest.fixture
def full_disk(monkeypatch):
    """Let the disk be full after some bytes: writing raises ENOSPC as the system does."""
    left = [1000]
    write = NamedFile.__mro__[1].write

    def limited(self, content):
        if left[0] <= 0:
            raise OSError(ENOSPC, os.strerror(ENOSPC), self.said)
        left[0] -= len(content)
        return write(self, content)

    monkeypatch.setattr(NamedFile, "write", limited)
    return left


def names(folder):
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_is_read_while_its_successor_is_written(tmp_path, suffix):
    path, link = tmp_path / f"a{suffix}", tmp_path / f"link{suffix}"
    with writing(path) as file:
        file.write("one\ntwo\n")
    link.symlink_to(path)
    with reading(path) as lines, writing(link) as file:
        file.writelines(f"{line}!\n" for line in lines)
    assert link.is_symlink()
    with reading(path) as lines:
        assert list(lines) == ["one!", "two!"]
    assert names(tmp_path) == sorted([path.name, link.name])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
def test_an_error_leaves_the_old_file(tmp_path, suffix, error):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"old")

    def texts():
        yield "new " * 100_000
        raise error

    with pytest.raises(error), writing(path) as file:
        file.writelines(texts())
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == [path.name]


@pytest.mark.every(4)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_leaves_the_old_file_and_names_it(tmp_path, suffix, full_disk):
    full_disk[0] = 0
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="No space left on device") as caught, writing(path) as file:
        file.writelines(f"{k * k}\n" for k in range(100_000))
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == [path.name]


def append_numbers(writer):
    for _ in range(50):
        writer.append("numbers", np.arange(10_000))
        writer.append("others", np.arange(10.0))


def test_a_full_disk_leaves_no_draft_of_a_folder(tmp_path, full_disk):
    with (
        pytest.raises(OSError, match="No space left on device") as caught,
        ArrayFolderWriter(tmp_path / "folder") as writer,
    ):
        append_numbers(writer)
    assert caught.value.filename == str(tmp_path / "folder")
    assert names(tmp_path) == []


def test_permissions_are_those_of_the_old_file(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_file(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may write every file")
def test_protected_files_are_not_replaced(tmp_path):
    path = tmp_path / "protected"
    path.write_bytes(b"old")
    path.chmod(0o400)
    with pytest.raises(PermissionError, match="the file is write-protected"):
        write_file(path, b"new")
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="its folder is write-protected"):
        write_file(tmp_path / "other", b"new")
    tmp_path.chmod(0o700)


def test_devices_and_pipes_are_written_to_directly_where_that_is_wanted(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with writing(pipe) as file:
        file.write("text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    write_file("/dev/null", b"text", devices=True)
    with pytest.raises(ValueError, match="a folder or a device"):
        write_file("/dev/null", b"text")
    with pytest.raises(ValueError, match="is a folder"), writing(tmp_path):
        pass
    assert names(tmp_path) == ["pipe"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no device that is always full")
def test_a_full_device_is_named():
    with pytest.raises(OSError, match="No space left") as caught, replacing("/dev/full", devices=True) as stream:
        stream.write(b"text")
    assert (caught.value.filename, caught.value.errno) == ("/dev/full", ENOSPC)


def test_a_limit_on_the_size_of_files_is_an_error_that_names_the_file(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "a"
    path.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write_file(path, bytes(2**21))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (caught.value.filename, caught.value.errno) == (str(path), EFBIG)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]
