# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Arrow tables made of buffers and of JSON. pyarrow's own conversions of Python values first import
pandas, where it is installed; that takes longer than many runs. pyarrow is slow to import too:
commands that only run avoid this module."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa


def repeated(value: str | int, rows: int) -> Any:
    """Make a column with the same value in every row."""
    if isinstance(value, int):
        numbers = np.full(rows, value, np.int64)
        return pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(numbers)])
    content = value.encode()
    offsets = np.arange(rows + 1, dtype=np.int32) * np.int32(len(content))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content * rows)]
    return pa.Array.from_buffers(pa.string(), rows, buffers)


def table(rows: Sequence[Mapping[str, str | float | None]]) -> Any:
    """Make a table with one row for each of `rows` and a column for each key."""
    import pyarrow.json

    if not rows:
        return pa.table({})
    keys = list(dict.fromkeys(key for row in rows for key in row))
    texts = [key for key in keys if any(isinstance(row.get(key), str) for row in rows)]
    lines = "\n".join(json.dumps(row) for row in rows).encode()
    read = pyarrow.json.read_json(
        io.BytesIO(lines),
        # One piece gives a column one type.
        pyarrow.json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
        # Texts need a type, or a name that looks like a date becomes one.
        pyarrow.json.ParseOptions(explicit_schema=pa.schema([(key, pa.string()) for key in texts])),
    )
    return read.select(keys)


# Rows of Python's that are in memory at once: about 30 MB.
_AT_ONCE = 1 << 14


def long_table(rows: Iterable[Mapping[str, str | float | None]]) -> Any:
    """Make a table as `table` does, of more rows than the memory would hold as Python's values."""
    left = iter(rows)
    parts = list(iter(lambda: table(list(islice(left, _AT_ONCE))), pa.table({})))
    return pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({})


def parquet_bytes(table: pa.Table) -> bytes:
    """Write a table as the bytes of a Parquet file."""
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


@contextmanager
def _named(path: Path, mode: Literal["rb", "wb"]) -> Iterator[Any]:
    """Yield what pyarrow takes for a file: its name, or the open file where the name is not text
    in UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        with path.open(mode) as file:
            yield file
    else:
        yield path


def read(path: Path) -> pa.Table:
    """Read the table in a Parquet file."""
    import pyarrow.parquet as pq

    # `read_table` would import the reader of folders, and pandas with it.
    with _named(path, "rb") as place, pq.ParquetFile(place) as file:
        return file.read()


# Rows of a piece: about 2 MB of packets, and ten times that as objects of Python.
_TOGETHER = 1 << 16


def batches(path: Path, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    """Yield some columns of a Parquet file, or all, piece by piece, since the packets of a run may
    fill the memory. A file without rows yields an empty piece."""
    import pyarrow.parquet as pq

    # Reading ahead would put the whole file into memory.
    with _named(path, "rb") as place, pq.ParquetFile(place, pre_buffer=False) as file:
        yield from file.iter_batches(batch_size=_TOGETHER, columns=columns and list(columns))
        if not file.metadata.num_rows:
            schema = file.schema_arrow
            yield pa.record_batch([pa.nulls(0, kind) for kind in schema.types], schema=schema)


def labelled(batch: pa.Table, labels: Mapping[str, str | int]) -> pa.Table:
    """Add labels as the first columns, the same in each row."""
    for label, value in reversed(list(labels.items())):
        batch = batch.add_column(0, label, repeated(value, len(batch)))
    return batch


# Distributions of groups of flows; no queue has them.
_OF_GROUPS = ("fct", "page", "datagram_delay")


def label_queues(
    table: pa.Table, labels: Mapping[str, str | int], own: Mapping[str, str]
) -> pa.Table:
    """Add labels as `labelled` does, and as `tested` the algorithm under test. In the rows of a
    queue in `own`, the column `aqm` has that queue's own algorithm."""
    table = labelled(table, {**labels, "tested": labels["aqm"]})
    if not own:
        return table
    import pyarrow.compute as pc

    aqms = table["aqm"]
    column = "queue" if "queue" in table.column_names else "of"
    for queue, name in own.items():
        is_queue = pc.equal(table[column], queue)
        for quantity in _OF_GROUPS if column == "of" else ():
            is_queue = pc.and_(is_queue, pc.not_equal(table["quantity"], quantity))
        aqms = pc.if_else(is_queue, name, aqms)
    return table.set_column(table.column_names.index("aqm"), "aqm", aqms)


def write_all(path: Path, tables: Iterable[pa.Table]) -> bool:
    """Write tables of the same columns into one file, with one in memory at a time. Tell whether
    there was any."""
    import pyarrow.parquet as pq

    left = iter(tables)
    table = next(left, None)
    if table is None:
        return False
    with (
        _named(path, "wb") as place,
        pq.ParquetWriter(place, table.schema, compression="zstd") as writer,
    ):
        while table is not None:
            writer.write_table(table)
            table = next(left, None)
    return True


def alike(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Give all tables of the same columns the types of the first, in which a column without any
    value is one of numbers."""
    schema = None
    for table in tables:
        schema = schema or pa.schema(
            [
                pa.field(field.name, pa.float64() if pa.types.is_null(field.type) else field.type)
                for field in table.schema
            ]
        )
        yield table.cast(schema)


def rows_in(path: Path) -> int:
    """Count the rows of a Parquet file."""
    import pyarrow.parquet as pq

    with _named(path, "rb") as place:
        return int(pq.read_metadata(place).num_rows)
