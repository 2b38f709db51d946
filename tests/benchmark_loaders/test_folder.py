import pytest

from benchmarks.loaders import (
    DataNotFound,
    data_folder,
    load_20newsgroups,
    load_conll2000,
    load_conll2002_es,
    load_covertype,
    load_imclef07a,
    load_lasvm_reuters,
    load_letor,
    load_lightgbm_rank,
    load_mnist,
    load_ocr_letters,
    load_optdigits,
    load_prefab4,
    load_prefab4_homologs,
    load_ptb_sample,
    load_reuters21578,
    load_substitution_matrix,
    load_tmalign,
    load_usps,
)

TRAIN_AND_TEST = [
    load_20newsgroups,
    load_conll2000,
    load_imclef07a,
    load_lasvm_reuters,
    load_mnist,
    load_optdigits,
    load_reuters21578,
    load_usps,
]
LOADERS = [
    *(lambda load=load: load("train") for load in TRAIN_AND_TEST),
    lambda: load_conll2002_es("train"),
    load_covertype,
    lambda: load_lightgbm_rank("train"),
    lambda: load_letor("mq2008", 1, "train"),
    lambda: load_letor("ohsumed", 1, "train"),
    load_ocr_letters,
    load_prefab4,
    load_prefab4_homologs,
    load_ptb_sample,
    lambda: load_substitution_matrix("BLOSUM62"),
    lambda: load_tmalign("test"),
]


@pytest.mark.parametrize("load", LOADERS)
def test_unset_variable_is_named(load, monkeypatch):
    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)
    with pytest.raises(DataNotFound, match=r"environment variable MAXMARGIN_DATA.*is not set") as caught:
        load()
    assert isinstance(caught.value, FileNotFoundError)


@pytest.mark.parametrize("load", LOADERS)
def test_missing_set_is_named(load, folder):
    with pytest.raises(DataNotFound, match="does not contain it"):
        load()


def test_missing_file_is_named(folder):
    (folder / "usps").mkdir()
    assert data_folder("usps") == folder / "usps"
    with pytest.raises(DataNotFound, match=r"'usps' is incomplete.*no file 'zip\.test\.txt\.xz'"):
        load_usps("test")


@pytest.mark.parametrize("load", TRAIN_AND_TEST)
def test_unknown_split_is_refused(load):
    with pytest.raises(ValueError, match="split must be 'train' or 'test', not 'dev'"):
        load("dev")


@pytest.mark.parametrize("load", [load_conll2002_es, lambda split: load_letor("mq2008", 1, split)])
def test_unknown_split_of_three_is_refused(load):
    with pytest.raises(ValueError, match="split must be 'train', 'validation' or 'test', not 'dev'"):
        load("dev")
