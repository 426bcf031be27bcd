"""Mutations of bytes, of JSON trees and of arrays; all chance comes from the generator that is handed in."""

import json
from copy import deepcopy

import numpy as np

__all__ = ["JUNK", "change_array", "change_bytes", "change_tree", "places"]

NUMBERS = [0, 1, 2, -1, 3, 7, 255, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 2**64, 10**30, 0.0, -0.0, 0.5, 1.5, -1.0]
NUMBERS += [1e308, -1e308, 1.7976931348623157e308, 5e-324, 1e-308, 1e-160, 1e160, 1e15, 1e-15]
WORDS = ["", "x", "0", "1", "a", "ccc", "inf", "-inf", "nan", "auto", "free", "none", "\x00", "é\u2028", "ä" * 300, "1e999"]
JUNK = [None, True, False, [], {}, [[]], [None], {"": None}, [[[[]]]], {"a": {"b": []}}, [1.5, "x"], *NUMBERS, *WORDS]
PIECES = [
    b"\x00",
    b"\xff",
    b"[",
    b"{",
    b'"',
    b"9",
    b",",
    b"\n",
    b"-",
    b"e",
    b".",
    b"\\",
    b"NaN",
    b"1e999",
    b"null",
    b"\xed\xa0\x80",
]
EXTREMES = [0.0, -1.0, 1.0, 1e308, -1e308, 5e-324, 1e-200, 1e200, np.nan, np.inf, -np.inf, 0.5, 3.0, 1e6]
CONTAINERS = (dict, list)
TYPES = ["?", "i1", "u1", "<i4", "<i8", "<u8", "<u4", "<f4", "<f8", "<f2"]


def change_bytes(raw, chance):
    """Return the bytes with some flipped, cut off, inserted, doubled, removed, overwritten or moved."""
    raw, at = bytearray(raw), chance.randrange(len(raw) + 1)
    kind, size = chance.randrange(8), chance.choice((1, 2, 4, 8, 64, 1000))
    if kind == 0 and at < len(raw):
        raw[at] ^= 1 << chance.randrange(8)
    elif kind == 1:
        del raw[at:]
    elif kind == 2:
        raw[at:at] = chance.randbytes(size)
    elif kind == 3:
        raw[at:at] = raw[at : at + size] * chance.choice((1, 1, 3, 50))
    elif kind == 4:
        del raw[at : at + size]
    elif kind == 5:
        piece = raw[at : at + size]
        place = chance.randrange(len(raw) + 1)
        raw[place:place] = piece
    else:
        piece = chance.choice(PIECES) * chance.choice((1, 1, 1, 2, 40))
        raw[at : at + (len(piece) if kind == 6 else 0)] = piece
    return bytes(raw)


def places(node):
    """Return every place in a tree, as a container and a key or number in it."""
    found, open_ = [], [node]
    while open_:
        node = open_.pop()
        pairs = node.items() if type(node) is dict else enumerate(node)
        for key, value in pairs:
            found.append((node, key))
            if type(value) in CONTAINERS:
                open_.append(value)
    return found


def change_tree(tree, chance, junk=JUNK, strange=None):
    """Change one value somewhere in a tree of JSON values, in place; `strange` is another tree to take values from."""
    spots = places(tree)
    if not spots:
        return
    node, key = chance.choice(spots)
    kind = chance.randrange(12)
    if kind < 4 and _change_value(node, key, chance):
        return
    if kind < 6:
        node[key] = deepcopy(chance.choice(junk))
    elif kind == 6:
        del node[key]
    elif kind < 9:
        others = places(strange) if strange is not None and kind == 8 else spots
        alike = [spot for spot in others if spot[1] == key] if chance.random() < 0.5 else []
        other, name = chance.choice(alike or others)
        given, taken = deepcopy(node[key]), deepcopy(other[name])
        node[key] = taken
        if kind == 7 and other is not node:
            other[name] = given
    elif kind == 9 and isinstance(node, list):
        node[key:key] = [deepcopy(node[key]) for _ in range(chance.choice((1, 1, 2, 30)))]
    elif kind == 10:
        node[key] = chance.choice(([deepcopy(node[key])], {"": deepcopy(node[key])}, [deepcopy(node[key])] * 2))
    elif isinstance(node, dict):
        node[f"{key}_" if kind == 9 else chance.choice(spots)[1]] = node.pop(key)
    else:
        chance.shuffle(node)


def _change_value(node, key, chance):
    """Change a number, a text or the type of a value; tell whether there was one."""
    value = node[key]
    if isinstance(value, bool) or value is None:
        node[key] = chance.choice((not value, int(bool(value)), "true", chance.choice(NUMBERS)))
    elif isinstance(value, int | float):
        as_float = float(value) if abs(value) < 1e300 else 0.0
        nearby = [value + 1, value - 1, -value, 2 * value, 0.5 * as_float, as_float, str(value), [value]]
        node[key] = chance.choice((*nearby, *chance.sample(NUMBERS, 6)))
    elif isinstance(value, str):
        at = chance.randrange(len(value) + 1)
        nearby = [value[:at], value[:at] + "x" + value[at:], value.upper(), value * 2]
        node[key] = chance.choice((*nearby, *chance.sample(WORDS, 4)))
    else:
        return False
    return True


def change_array(array, chance):
    """Return an array with other entries, another shape or another type."""
    kind = chance.randrange(8)
    if kind < 4 and array.size:
        changed = np.array(array)
        flat = changed.reshape(-1)
        at = slice(None) if chance.random() < 0.2 else chance.randrange(flat.size)
        with np.errstate(all="ignore"):
            how = chance.randrange(3)
            if how == 0 and changed.dtype.kind != "b":
                flat[at] = -flat[at] if changed.dtype.kind != "u" else flat[at] + 1
            elif how == 1:
                flat[at] = np.array(chance.choice(EXTREMES)).astype(changed.dtype)
            else:
                kind = "u1" if changed.dtype.kind == "b" else changed.dtype
                flat[at] = np.frombuffer(chance.randbytes(changed.itemsize), kind)[0]
        return changed
    if kind == 4:
        with np.errstate(all="ignore"):
            return array.astype(chance.choice(TYPES))
    if kind == 5:
        return np.ascontiguousarray(chance.choice((array[None], array[..., None], array.T, array.reshape(-1))))
    if kind == 6:
        return array[: chance.randrange(array.shape[0] + 1)] if array.ndim else array[None]
    return np.concatenate([array, array[:1]]) if array.ndim else np.array([array, array])


def doubled_name(text, chance):
    """Return a JSON text with a name that comes twice in one object; as it is if it has no object."""
    at = [k for k, mark in enumerate(text) if mark == "{"]
    if not at:
        return text
    first = chance.choice(at) + 1
    name = text[first:].partition(":")[0]
    return f"{text[:first]}{name}:{json.dumps(chance.choice(JUNK[:10]))},{text[first:]}" if name.startswith('"') else text
