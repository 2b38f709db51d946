"""Tagged sentences in columns, the format of CoNLL's shared tasks."""

from __future__ import annotations

from maxmargin.inputs.text_file import TextFile, reading


def read_conll(source: TextFile) -> tuple[list[list[tuple[str, ...]]], list[list[str]]]:
    """Sentences with a tag for every token: ``(sentences, tags)``, a token being all columns of its line but the last.

    One token a line, columns separated by blanks or tabs, the last one being the tag; empty lines between sentences. In
    CoNLL-2000 (chunks; train.txt and test.txt) and CoNLL-2002 (named entities; esp.train, esp.testa and esp.testb) a
    token is ``(word, part of speech)``, which is what `chunk_features` takes. Files are read as UTF-8; one in another
    encoding can be given open.
    """
    sentences: list[list[tuple[str, ...]]] = []
    tags: list[list[str]] = []
    with reading(source) as lines:
        new_sentence = True
        n_columns = 0  # of the first token
        for line in lines:
            columns = line.split()
            if not columns:
                new_sentence = True
                continue
            n_columns = n_columns or len(columns)
            if len(columns) != n_columns or n_columns < 2:
                expected = f"{n_columns} as in the lines above" if n_columns > 1 else "a word and its tag at least"
                raise lines.error(f"{len(columns)} columns in {line!r}; expected {expected}")
            if new_sentence:
                sentences.append([])
                tags.append([])
                new_sentence = False
            *token, tag = columns
            sentences[-1].append(tuple(token))
            tags[-1].append(tag)
    return sentences, tags
