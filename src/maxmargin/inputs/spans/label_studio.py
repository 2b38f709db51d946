"""Annotated texts in the JSON of Label Studio: the full export ("JSON"), and the short one ("JSON-MIN").

    [{"id": 1, "data": {"text": "Ada slept."}, "annotations": [{"result": [
      {"type": "labels", "value": {"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}}]}]}]
    [{"id": 1, "text": "Ada slept.", "label": [{"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}]}]

Results that are not spans of a text, such as choices and relations, are ignored, and so are cancelled annotations. A
span with several labels becomes several spans.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from maxmargin.inputs.readers.text_file import TextFile, TextLines, reading, writing
from maxmargin.inputs.spans.span import AnnotatedText, Span, checked_span, in_order


def iterate_label_studio(source: TextFile) -> Iterator[AnnotatedText]:
    """Yield the texts of a file; the file is read as a whole."""
    with reading(source) as lines:
        tasks = _parsed("\n".join(lines), lines)
        for k, task in enumerate(tasks):
            if not isinstance(task, dict):
                raise ValueError(f"{lines.name}, task {k}: found {task!r:.40}; expected a record in curly brackets")
            name = task.get("id", "")
            where = f"{lines.name}, task {k}" + (f" (id {name!r:.40})" if name != "" else "")
            try:
                yield AnnotatedText(*_read(task), str(name))
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from None


def write_label_studio(target: TextFile, documents: Iterable[AnnotatedText]) -> None:
    """Write tasks that Label Studio imports; the labels are called "label", and the texts "text"."""
    tasks = []
    for document in documents:
        task: dict[str, Any] = {"id": document.name} if document.name else {}
        task["data"] = {"text": document.text}
        if document.spans is not None:
            task["annotations"] = [{"result": [_result(document.text, span) for span in document.spans]}]
        tasks.append(task)
    with writing(target) as file:
        file.write(json.dumps(tasks, ensure_ascii=False, indent=1) + "\n")


def _result(text: str, span: Span) -> dict[str, Any]:
    value = {"start": span.start, "end": span.end, "text": text[span.start : span.end], "labels": [span.label]}
    return {"from_name": "label", "to_name": "text", "type": "labels", "value": value}


def _parsed(content: str, lines: TextLines) -> list[Any]:
    try:
        tasks = json.loads(content)
    except RecursionError:
        raise lines.error("lists or records are nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{lines.name}, line {error.lineno}: this is not JSON: {error.msg}") from None
    except ValueError as error:  # a number with too many digits
        raise lines.error(str(error)) from None
    if not isinstance(tasks, list):
        raise lines.error(f"found {content[:40]!r}; expected a list of tasks in square brackets", 1)
    return tasks


def _read(task: dict[str, Any]) -> tuple[str, list[Span] | None]:
    data = task.get("data", task)
    text = data.get("text") if isinstance(data, dict) else None
    if not isinstance(text, str):
        raise ValueError(f"the data are {data!r:.60}; expected a record with a 'text'")
    if "data" not in task:
        values = task.get("label")
        return text, None if values is None else _spans(text, _listed("label", values))
    given = [each for each in _listed("annotations", task.get("annotations", [])) if not _cancelled(each)]
    if len(given) > 1:
        raise ValueError(f"there are {len(given)} annotations; expected one, so choose one before the export")
    if not given:
        return text, None
    results = _listed("result", given[0].get("result"))
    return text, _spans(text, [each.get("value") for each in results if _is_span(each)])


def _cancelled(annotation: Any) -> bool:
    if not isinstance(annotation, dict):
        raise ValueError(f"an annotation is {annotation!r:.40}; expected a record in curly brackets")
    return bool(annotation.get("was_cancelled"))


def _is_span(result: Any) -> bool:
    if not isinstance(result, dict):
        raise ValueError(f"a result is {result!r:.40}; expected a record in curly brackets")
    if result.get("type") in ("hypertextlabels", "paragraphlabels"):
        raise ValueError(f"a result has the type {result['type']!r}, spans of HTML or of dialogues; expected 'labels'")
    return result.get("type", "labels") == "labels"


def _spans(text: str, values: list[Any]) -> list[Span]:
    spans = []
    for value in values:
        if not isinstance(value, dict) or not {"start", "end", "labels"} <= set(value):
            raise ValueError(f"a span is {value!r:.60}; expected a record with 'start', 'end' and 'labels'")
        for label in _listed("labels", value["labels"]):
            spans.append(checked_span(text, value["start"], value["end"], label, value.get("text")))
    return in_order(spans)


def _listed(key: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{key!r} is {value!r:.40}; expected a list")
    return value
