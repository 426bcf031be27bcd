"""The parts of a model file, to be damaged and sealed again."""

import contextlib
import hashlib
import json

import numpy as np
from safetensors.numpy import save

import halfspace as hs
from halfspace.modelfiles.container import FORMAT, _digest

__all__ = ["File", "seal", "sealed"]


class File:
    """The parts of a model file, to be damaged and sealed again with a correct checksum."""

    def __init__(self, raw):
        length = int.from_bytes(raw[:8], "little")
        self.header, self.data = json.loads(raw[8 : 8 + length]), bytearray(raw[8 + length :])
        self.about = json.loads(self.header["__metadata__"]["halfspace"])
        self.tree = self.about["tree"]

    def sealed(self, text=None):
        """Return the bytes of a file with these parts; `text` replaces the JSON of the tree."""
        return seal(self.header, self.about, json.dumps(self.tree) if text is None else text, bytes(self.data))

    def array(self, node):
        """Return a view of the array of a node, to be changed."""
        entry = self.header[node["@array"]]
        kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U32": "<u4", "BOOL": "?"}
        first, end = entry["data_offsets"]
        return np.frombuffer(memoryview(self.data)[first:end], dtype=kinds[entry["dtype"]])

    def learnt(self, *path):
        """Return the node of something learnt, by its path."""
        node = self.tree["fitted"][path[0]]
        for name in path[1:]:
            node = node["fields"][name] if isinstance(node, dict) and "fields" in node else node[name]
        return node


def seal(header, about, tree, data):
    """Return a file with the checksum that its contents have; a header that safetensors refuses gets none."""
    digest = hashlib.sha256(f"{about['version']} {tree}".encode())
    kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U32": "<u4", "U8": "|u1", "BOOL": "|b1"}
    with contextlib.suppress(Exception):
        for name in sorted(name for name in header if name != "__metadata__"):
            entry = header[name]
            first, end = entry["data_offsets"]
            digest.update(f"{name} {kinds[entry['dtype']]} {tuple(entry['shape'])}".encode())
            digest.update(data[first:end])
    opening = f'"format":{about["format"]},"version":"{about["version"]}","sha256":"{digest.hexdigest()}"'
    raw = json.dumps({**header, "__metadata__": {"halfspace": f'{{{opening},"tree":{tree}}}'}}, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    return len(raw).to_bytes(8, "little") + raw + data


def sealed(tree, arrays):
    """Return the bytes that `halfspace.modelfiles.container.write` writes for the text of a tree and its arrays."""
    opening = f'"format":{FORMAT},"version":"{hs.__version__}","sha256":"{_digest(hs.__version__, tree, arrays)}"'
    return save(arrays, {"halfspace": f'{{{opening},"tree":{tree}}}'})
