"""A data set of Ray Data with a text a row, resolved by a pool of actors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from streamcoref.errors import LanguageWarning, StreamcorefError
from streamcoref.integrations.ray_cluster import ModelParcel, check_workers, connect, cpus, device_of, parcel_in_store
from streamcoref.integrations.ray_rows import ANSWER, answer_row, answer_schema, table_of
from streamcoref.resolver import Resolver, load


def resolve_dataset(
    ds: Any,
    *,
    text: str | None = "text",
    words: str | None = None,
    speakers: str | None = None,
    key: str | None = None,
    model: str | Path | Resolver | None = None,
    workers: int | None = None,
    gpus: float = 0.0,
    batch_size: int = 16,
    **options: Any,
) -> Any:
    """The data set with the answer for each row, in the same order, as a data set that has not been computed yet.

    `text`, or `words` with `speakers`, are the names of the columns to read, as `Resolver.resolve` takes them; `key`
    that of a column whose values an error names. All columns stay, and there are new ones: `entities` and
    `quotations`; `error`, a sentence, where a row could not be resolved, which stops no other; `warning`, where its
    text does not look like English.

    `workers` are actors of one CPU each, and of so many `gpus`, with the model loaded once; without a number there are
    as many as the cluster has CPUs, started as they are needed. A worker takes `batch_size` rows at a time. `options`
    are those of `Resolver.resolve`.
    """
    check_workers(workers)
    if batch_size < 1:
        raise StreamcorefError(f"batch_size is {batch_size}; give at least 1")
    columns = _columns(None if words is not None else text, words, speakers)
    ray = connect()
    resolver = model if isinstance(model, Resolver) else load(model)
    resolver.resolve("", **options)  # raises if this model cannot do what is asked for
    _refuse_taken(ds.schema(fetch_if_missing=False))
    result = ds.map_batches(
        DatasetWorker,
        fn_constructor_args=(parcel_in_store(ray, resolver), device_of(gpus), columns, key, options),
        batch_size=batch_size,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers or cpus(ray)),
        num_cpus=1,
        **({"num_gpus": gpus} if gpus else {}),
    )
    result.context.execution_options.preserve_order = True  # of this data set, and of those that it is made from
    return result


def _columns(text: str | None, words: str | None, speakers: str | None) -> dict[str, str]:
    """Arguments of `resolve` with the columns that they are in."""
    if (text is None) == (words is None):
        raise StreamcorefError("name one column to read, text or words")
    if speakers is not None and words is None:
        raise StreamcorefError("speakers go with words; name the column that has these")
    given = {"text": text, "words": words, "speakers": speakers}
    return {name: column for name, column in given.items() if column is not None}


def _refuse_taken(schema: Any) -> None:
    taken = [name for name in ANSWER if schema is not None and name in schema.names]
    if taken:
        raise StreamcorefError(f"the data set has columns of the answer already: {', '.join(taken)}; rename them first")


class DatasetWorker:
    """An actor of the pool."""

    def __init__(
        self,
        fetch: Callable[[], ModelParcel],
        device: str,
        columns: Mapping[str, str],
        key: str | None,
        options: Mapping[str, Any],
    ) -> None:
        self._resolver = fetch().unpack(device)
        self._columns, self._key, self._options = columns, key, options

    def __call__(self, batch: Any) -> Any:
        """A table with some columns to one with those of the answer besides."""
        missing = [name for name in (*self._columns.values(), self._key) if name and name not in batch.column_names]
        if missing:
            has = ", ".join(batch.column_names)
            raise StreamcorefError(f"the data set has no column {missing[0]!r}; its columns are {has}")
        _refuse_taken(batch.schema)
        read = batch.select(list(dict.fromkeys([*self._columns.values(), *([self._key] if self._key else [])])))
        answers = table_of([self._answer(row) for row in read.to_pylist()], answer_schema())
        for field in answers.schema:
            batch = batch.append_column(field, answers.column(field.name))
        return batch

    def _answer(self, row: Mapping[str, Any]) -> dict[str, Any]:
        given: dict[str, Any] = {name: row[column] for name, column in self._columns.items()}
        empty = next((column for name, column in self._columns.items() if given[name] is None), None)
        given |= {} if self._key is None else {"key": str(row[self._key])}
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", LanguageWarning)
            try:
                if empty is not None:
                    raise StreamcorefError(f"there is nothing in the column {empty!r}")
                answer = answer_row(self._resolver.resolve(**given, **self._options))
                table_of([answer], answer_schema())  # what Arrow cannot hold must show here
            except Exception as error:  # of this row alone
                return {"error": sentence_of(error, row.get(self._key or ""))}
        foreign = [str(one.message) for one in said if issubclass(one.category, LanguageWarning)]
        return answer | {"warning": foreign[0] if foreign else None}


def sentence_of(error: Exception, key: object = None) -> str:
    """An error as a value: what went wrong, and with which text."""
    said = str(error) if isinstance(error, StreamcorefError) else f"{type(error).__name__}: {error}"
    return said if key is None else f"{key}: {said}"
