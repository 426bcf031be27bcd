"""Data files of every format: bytes, and what a format is made of (cells, lines, headers, members of archives, tables)."""

import gzip
import io
import re
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather
from scipy import sparse

from fuzz.engine import Target, folder_in_memory
from fuzz.mutations import change_bytes
from fuzz.workbooks import workbook
from halfspace.errors import InputError
from halfspace.files import read, stream

__all__ = ["ArrowFiles", "Csv", "Excel", "JsonLines", "Npz", "Parquet", "Svmlight"]

CELLS = ["", "0", "-1", "1e308", "1e-320", "9" * 400, "nan", "inf", "NA", "-", '"', '""', '"a\nb"', "x" * 5000, "01.02.2020"]
CELLS += ["1/2/2020", "2020-02-30", "true", "=1+1", "\ud7ff", "\x1f", "0x1f", "1_000", "1,5", "1.000,5", "007"]
CELLS += ["9223372036854775808", "2e9:1", "300000000:1", "4294967296:1", "qid:3", "1:1 1:1", "#", "[]", "{}", '{"a":1}']
CELLS += ["[[[[1]]]]", "null", "NaN", "-Infinity", '"\\ud800"', '"a":1,"a":2']
MARKS = [",", ";", "\t", "|", " ", ":", '"', "'", "\n", "\r\n", "\r", "{", "}", "[", "]", "\ufeff", "\x00"]
TOKEN = re.compile(rb"[\w.+-]+")
NUMBER = re.compile(rb"-?\d+")
WORDS = [b"0", b"1", b"-1", b"3", b"65536", b"2147483648", b"9223372036854775807", b"18446744073709551616", b"1048576", b"A1"]
WORDS += [b"XFD1048576", b"A999999999", b"<f8", b"|O", b">f4", b"<U9", b"|S4", b"<m8[s]", b"?", b"True", b"xml", b"999999999"]
WORDS += [b"1e308", b"", b"b", b"str", b"s", b"e", b"d"]


class Reader(Target):
    """Mutants of files of one format: refused in one sentence, or read as a whole and in batches."""

    seconds = 10.0
    share = 0.3
    promises = False
    """Whether the library that decodes the format asks for memory that a header promises, and uses no more than it needs."""

    def corpus(self):
        self._path = folder_in_memory() / f"mutant{self.suffix}"
        self._originals = self.originals()
        return len(self._originals)

    def original(self, number):
        return self._originals[number]

    def change(self, subject, chance):
        return change_bytes(subject, chance) if chance.random() < 0.3 else self.structure_changed(subject, chance)

    def content(self, subject):
        return subject

    def tried(self, subject):
        self._path.write_bytes(subject)
        whole = self._asked(lambda: read(self._path, "y").X.shape)
        parts = self._asked(lambda: [batch.X.shape for batch in stream(self._path)])
        return whole or parts

    def _asked(self, ask):
        try:
            ask()
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017  (there may be no error)
            if isinstance(error.__cause__, MemoryError) and not self.promises:
                raise MemoryError from error
            return False
        return True


class Text(Reader):
    """Cells and lines of text."""

    mark = ","

    def structure_changed(self, subject, chance):
        text = subject.decode(errors="surrogateescape")
        lines = text.split("\n")
        at, kind = chance.randrange(len(lines)), chance.randrange(8)
        cells = lines[at].split(self.mark)
        place = chance.randrange(len(cells))
        if kind < 3:
            cells[place] = chance.choice(CELLS)
        elif kind == 3:
            cells[place:place] = [chance.choice((cells[place], chance.choice(CELLS)))] * chance.choice((1, 2, 100, 3000))
        elif kind == 4:
            del cells[place]
        elif kind == 5:
            lines[at:at] = [lines[at]] * chance.choice((1, 3, 500))
        elif kind == 6:
            del lines[at]
        else:
            mark = chance.choice(MARKS) * chance.choice((1, 1, 20, 20_000))
            cells[place] = chance.choice((cells[place] + mark, mark + cells[place], mark))
        if kind < 5 or kind == 7:
            lines[at] = self.mark.join(cells)
        return "\n".join(lines).encode(errors="surrogateescape")


class Csv(Text):
    name, suffix = "csv", ".csv"

    def originals(self):
        rows = [
            (i * i, f"w{i % 5}", f"2020-01-{i % 28 + 1:02d}", ["true", "false"][i % 2], i / 7, "pq"[i % 2]) for i in range(30)
        ]
        files = []
        for mark in (",", ";", "\t"):
            head = mark.join(("a", "s", "when", "yes", "r", "y"))
            lines = [mark.join(map(str, row)) for row in rows]
            files.append("\n".join([head, *lines, ""]).encode())
        quoted = '"a, b","t ""x""",y\n' + "".join(f'"{i}","word {i % 3}\nnext",{i % 2}\n' for i in range(20))
        return [*files, quoted.encode(), quoted.encode("utf-16"), gzip.compress(files[0])]


class JsonLines(Text):
    name, suffix = "jsonl", ".jsonl"

    def originals(self):
        lines = [f'{{"a": {i}, "s": "w{i % 4}", "l": [{i}], "n": null, "y": "c{i % 2}"}}\n' for i in range(30)]
        return ["".join(lines).encode(), b'{"y": 1}\n{"b": {"c": 2.5}, "y": 2}\n{"a": NaN, "y": 1}\n']


class Svmlight(Text):
    name, suffix, mark = "svmlight", ".svm", " "

    def originals(self):
        lines = [f"{i % 2} 1:{i} 3:0.{i * i} 7:1e-{i}\n" for i in range(30)]
        return ["".join(lines).encode(), b"# head\n+1 qid:1 0:1 5:2 # note\n-1 qid:1 2:3\n"]


class Archive(Reader):
    """Members of a zip archive, packed again with correct sums."""

    def structure_changed(self, subject, chance):
        try:
            with zipfile.ZipFile(io.BytesIO(subject)) as archive:
                members = {info.filename: archive.read(info) for info in archive.infolist()}
        except Exception:  # noqa: BLE001  (an earlier change of bytes)
            return change_bytes(subject, chance)
        if not members:
            return change_bytes(subject, chance)
        name, kind = chance.choice(list(members)), chance.randrange(10)
        if kind == 0:
            del members[name]
        elif kind == 1:
            members[chance.choice((*members, "X.npy", "y.npy", "shape.npy"))] = members[name]
        elif kind == 2:
            members[name] = change_bytes(members[name], chance)
        elif kind == 3:
            members[name] = b"\x00" * chance.choice((0, 100, 10**6))
        else:
            members[name] = self.member_changed(members[name], chance)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
            for one, content in members.items():
                archive.writestr(one, content)
        return out.getvalue()

    def member_changed(self, content, chance):
        """Replace a word or a number of the text in a member."""
        found = list((NUMBER if chance.random() < 0.5 else TOKEN).finditer(content[:4000]))
        if not found:
            return change_bytes(content, chance)
        place = chance.choice(found)
        return content[: place.start()] + chance.choice(WORDS) + content[place.end() :]


class Npz(Archive):
    name, suffix = "npz", ".npz"

    def originals(self):
        g, files = np.random.default_rng(0), []
        matrix = sparse.random(40, 9, 0.3, "csr", random_state=0)
        parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": np.array(matrix.shape)}
        for arrays in (
            {"X": g.standard_normal((30, 3)), "y": np.arange(30) % 2},
            {"X": np.asfortranarray(g.integers(0, 9, (30, 3)).astype("i1")), "y": np.array(["a", "b", "c"] * 10)},
            {**parts, "y": np.arange(40) % 3},
            {**parts, "format": np.array(b"csr")},
        ):
            out = io.BytesIO()
            np.savez_compressed(out, **arrays)
            files.append(out.getvalue())
        return files

    def member_changed(self, content, chance):
        """Change a word of the header of an array, keeping its length right; rarely the numbers."""
        if chance.random() < 0.2 or content[:6] != b"\x93NUMPY" or len(content) < 12:
            return content[:128] + change_bytes(content[128:], chance)
        size = int.from_bytes(content[8:10], "little")
        header = super().member_changed(content[10 : 10 + size].rstrip(), chance)
        header += b" " * (-(len(header) + 11) % 64) + b"\n"
        return content[:8] + len(header).to_bytes(2, "little") + header + content[10 + size :]


class Excel(Archive):
    name, suffix = "excel", ".xlsx"

    def originals(self):
        out = io.BytesIO()
        rows = [["a", "s", "t", "y"], *([i / 3, f"w{i % 4}", bool(i % 2), "pq"[i % 2]] for i in range(20))]
        workbook(out, First=rows, Second=[["y", "b"], [1, 2]])
        return [out.getvalue()]


def table():
    """Return a table with columns of many kinds."""
    n = 40
    whole = pa.array(range(n))
    columns = {
        "a": pa.array(np.arange(n) / 7),
        "i": whole,
        "s": pa.array([f"w{i % 9}" for i in range(n)]),
        "d": pa.array(["u", "v"] * (n // 2)).dictionary_encode(),
        "b": pa.array([True, None] * (n // 2)),
        "t": whole.cast(pa.timestamp("ms")),
        "l": pa.array([[i] for i in range(n)]),
        "c": pa.array([i % 50 for i in range(n)]).cast(pa.decimal128(21, 2)),
        "y": pa.array(["p", "q"] * (n // 2)),
    }
    return pa.table(columns)


KINDS = [
    pa.int8(),
    pa.uint64(),
    pa.float16(),
    pa.float32(),
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.date32(),
    pa.null(),
]
KINDS += [pa.time64("ns"), pa.duration("us"), pa.decimal128(38, 10), pa.timestamp("ns", "UTC"), pa.bool_()]
KINDS += [pa.dictionary(pa.int8(), pa.string())]


class Tables(Reader):
    """Tables of other types, or with other names, written again; most changes are of the bytes of headers and footers."""

    promises = True

    def originals(self):
        return [self.written(table(), how) for how in range(3)]

    def structure_changed(self, subject, chance):
        if chance.random() < 0.3:
            return self.written(self._other(chance), chance.randrange(3))
        raw, size = bytearray(subject), len(subject)
        for _ in range(chance.choice((1, 1, 2, 5))):
            at = chance.choice((chance.randrange(max(1, min(600, size))), max(0, size - 1 - chance.randrange(1200))))
            if at < size:
                raw[at] = chance.choice((0, 1, 255, 127, raw[at] ^ 1, raw[at] ^ 64, chance.randrange(256)))
        return bytes(raw)

    def _other(self, chance):
        found = table()
        for _ in range(chance.randrange(1, 4)):
            at, kind = chance.randrange(found.num_columns), chance.choice(KINDS)
            name = chance.choice((found.column_names[at], "y", "", "a"))
            column = found.column(at)
            try:
                column = column.cast(kind, safe=False)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                column = pa.nulls(found.num_rows, kind)
            found = found.set_column(at, name, column)
        return found.slice(0, chance.choice((0, 1, 40)))


class Parquet(Tables):
    name, suffix = "parquet", ".parquet"

    def written(self, found, how):
        out = io.BytesIO()
        try:
            pq.write_table(found, out, compression=("snappy", "zstd", "none")[how], row_group_size=25, use_dictionary=how != 2)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
            pq.write_table(table(), out)
        return out.getvalue()


class ArrowFiles(Tables):
    name, suffix = "arrow", ".arrow"

    def written(self, found, how):
        out = io.BytesIO()
        if how == 0:
            with pa.ipc.new_stream(out, found.schema) as writer:
                writer.write_table(found, max_chunksize=25)
        else:
            feather.write_feather(found, out, compression=("lz4", "uncompressed")[how - 1])
        return out.getvalue()
