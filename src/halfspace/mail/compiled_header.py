"""The header of a message and its tokens, compiled: what `message` and `extraction` do, in one pass over the bytes.

A piece of text is an array of bytes with a start and an end; tokens are written to a `Sheet`, parted by spaces, groups by line
ends. `tests/mail/test_compiled.py` compares them with the standard library's, token by token.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from halfspace._dispatch import compiled_inside_exactly
from halfspace.mail import extraction as plain
from halfspace.mail.extraction import HOP_WORDS
from halfspace.mail.message import FIELDS, KNOWN, VALUE

__all__ = ["NOTES", "READ_NAMES", "WORDS", "Sheet", "bucket", "domain_of", "header_of", "next_word", "put", "say", "spelled"]
__all__ += ["write"]

OURS = b"x-halfspace"
_MORE = b"errors-to user-agent x-originating-ip arc-authentication-results x-original-authentication-results"
NAMES = {name: k for k, name in enumerate((*KNOWN, *_MORE.split(), b"content-disposition", OURS))}
"""Numbers of the fields that are looked at."""
SENDERS = tuple(b"from sender return-path reply-to to cc errors-to list-id message-id".split())
PHRASES = tuple(
    b"no-date weekday: hour: zone: odd-weekday after-first: after-last: hops: by: -by: with: -from-nobody helo: helo-domain:"
    b" over: > from: -nameless -helo-unlike-name nameless: / -private -public origin has: -like-from -unlike-from digits:"
    b" name: mailer: spf= signed: nobody : @ -domain: has- -top: -many: = by with d=".split()
)
TEXTS = (*NAMES, *PHRASES, *plain.MONTHS, *plain.DAYS, *plain.VERDICTS)
LETTERS = np.frombuffer(b"".join(TEXTS), np.uint8).copy()
STARTS = np.cumsum([0, *map(len, TEXTS)])

[
    NO_DATE,
    WEEKDAY,
    HOUR,
    ZONE,
    ODD_DAY,
    AFTER_FIRST,
    AFTER_LAST,
    HOPS,
    BY,
    K_BY,
    WITH,
    FROM_NOBODY,
    HELO,
    HELO_DOMAIN,
    OVER,
    TO,
    FROM,
    NAMELESS,
    UNLIKE_NAME,
    NAMELESS_OF,
    SLASH,
    PRIVATE,
    PUBLIC,
    ORIGIN,
    HAS,
    LIKE_FROM,
    UNLIKE_FROM,
    DIGITS,
    NAME,
    MAILER,
    SPF,
    SIGNED,
    NOBODY,
    COLON,
    AT,
    DOMAIN,
    HAS_,
    TOP,
    MANY,
    EQUALS,
    SAYS_BY,
    SAYS_WITH,
    SAYS_D,
] = range(len(NAMES), len(NAMES) + len(PHRASES))
MONTHS = len(NAMES) + len(PHRASES)
DAYS = MONTHS + len(plain.MONTHS)
VERDICTS = DAYS + len(plain.DAYS)
END = VERDICTS + len(plain.VERDICTS)
RECEIVED, DATE, F_FROM, F_TO, F_CC = (NAMES[name] for name in (b"received", b"date", b"from", b"to", b"cc"))
X_MAILER, AGENT, ORIGINATING = (NAMES[name] for name in (b"x-mailer", b"user-agent", b"x-originating-ip"))
F_SPF, DKIM = NAMES[b"received-spf"], NAMES[b"dkim-signature"]
ADDRESSES = np.array([NAMES[name] for name in SENDERS])
COMPARED = np.array([NAMES[name] for name in (b"sender", b"return-path", b"reply-to", b"message-id", b"to")])
RESULTS = np.array(
    [NAMES[n] for n in (b"authentication-results", b"arc-authentication-results", b"x-original-authentication-results")]
)
N_NAMES, N_KNOWN, OUR_FIELD = len(NAMES), len(KNOWN), NAMES[OURS]
READ_NAMES = (b"from", b"subject", b"content-type", b"content-transfer-encoding", b"content-disposition")
READ = np.array([NAMES[name] for name in READ_NAMES])
"""Fields whose values are read outside compiled code."""

SPACES, DATES, NUMBERS, DELIMITERS, BETWEEN, WORDS = 1, 2, 4, 8, 16, 32
"""Kinds of separators, bits of `CLASSES`."""
_TABLES = {NUMBERS: plain.AROUND_NUMBERS, DELIMITERS: plain.DELIMITERS, BETWEEN: plain.BETWEEN_VERDICTS, WORDS: plain.WORD}
CLASSES = np.zeros(256, np.uint8)
for _c in range(256):
    CLASSES[_c] = (SPACES | DATES if _c == 32 or 9 <= _c <= 13 else 0) | (DATES if _c == 44 else 0)
    for _bit, _table in _TABLES.items():
        CLASSES[_c] |= _bit if _table[_c] == 32 else 0


PIECE, NUMBER, BUCKET, BYTE = -1, -2, -3, -4
"""Kinds of notes; others are numbers of fixed texts."""
NOTES = 8192


class Sheet(NamedTuple):
    """Bytes that are written one after the other, or rows of notes (kind, one, other), and how many there are."""

    data: Any
    end: Any


class Fields(NamedTuple):
    """The fields of a header: names and values as text, of each its number in `NAMES` and where they begin and end."""

    text: Any
    table: Any


@compiled_inside_exactly
def note(out: Any, kind: Any, one: Any, other: Any) -> None:
    """Note a piece of a token, to be spelled later; what compiled code does once is compiled once."""
    if out.end[0] < out.data.shape[0]:
        row = out.data[out.end[0]]
        row[0], row[1], row[2] = kind, one, other
        out.end[0] += 1


@compiled_inside_exactly
def put(out: Any, c: Any) -> None:
    """Write a byte."""
    note(out, BYTE, c, 0)


@compiled_inside_exactly
def write(out: Any, first: Any, last: Any) -> None:
    """Write a piece of the text."""
    note(out, PIECE, first, last)


@compiled_inside_exactly
def say(out: Any, k: Any) -> None:
    """Write one of the fixed texts."""
    note(out, k, 0, 0)


@compiled_inside_exactly
def number(out: Any, value: Any) -> None:
    """Write a whole number that is not negative."""
    note(out, NUMBER, value, 0)


@compiled_inside_exactly
def bucket(out: Any, value: Any) -> None:
    """Write the length of a number in bits, its sign before it."""
    note(out, BUCKET, value, 0)


@compiled_inside_exactly
def spelled(notes: Any, text: Any, letters: Any, starts: Any) -> Any:  # noqa: C901, PLR0912  (a case for each kind)
    """Return the bytes of what was noted, in lower case, what cannot be seen as a space."""
    n, size = 0, 0
    for row in notes.data[: notes.end[0]]:
        size += max(0, row[2] - row[1]) if row[0] == PIECE else starts[row[0] + 1] - starts[row[0]] if row[0] >= 0 else 24
    out = np.empty(size, np.uint8)
    for row in notes.data[: notes.end[0]]:
        kind, value = row[0], row[1]
        if kind == BYTE:
            out[n] = value
            n += 1
            continue
        if kind == BUCKET:
            if value < 0:
                out[n] = 45
                n, value = n + 1, -value
            bits = 0
            while value > 0:
                bits, value = bits + 1, value >> 1
            kind, value = NUMBER, bits
        if kind == NUMBER:
            scale = 1
            while value // scale > 9:
                scale *= 10
            while scale > 0:
                out[n] = 48 + value // scale % 10
                n, scale = n + 1, scale // 10
        elif kind == PIECE:
            for i in range(value, row[2]):
                c = text[i]
                out[n] = c + 32 if 65 <= c <= 90 else 32 if c <= 32 or c == 127 else c
                n += 1
        else:
            for i in range(starts[kind], starts[kind + 1]):
                out[n] = letters[i]
                n += 1
    return out[:n].copy()


@compiled_inside_exactly
def equal(text: Any, first: Any, last: Any, k: Any) -> bool:
    """Tell whether a piece of text, in lower case, is one of `TEXTS`."""
    start = STARTS[k]
    if last - first != STARTS[k + 1] - start:
        return False
    for i in range(last - first):
        c = text[first + i]
        if (c + 32 if 65 <= c <= 90 else c) != LETTERS[start + i]:
            return False
    return True


@compiled_inside_exactly
def alike(text: Any, first: Any, last: Any, other: Any, end: Any) -> bool:
    """Tell whether two pieces of a text are the same in lower case."""
    if last - first != end - other:
        return False
    for i in range(last - first):
        c, d = text[first + i], text[other + i]
        if (c + 32 if 65 <= c <= 90 else c) != (d + 32 if 65 <= d <= 90 else d):
            return False
    return True


@compiled_inside_exactly
def next_word(text: Any, place: Any, last: Any, kind: Any) -> tuple[int, int]:
    """Return where the next word begins and ends, words being parted by a kind of separators; empty if there is none."""
    while place < last and CLASSES[text[place]] & kind:
        place += 1
    end = place
    while end < last and not CLASSES[text[end]] & kind:
        end += 1
    return place, end


@compiled_inside_exactly
def digits(text: Any, first: Any, last: Any) -> Any:
    """Return the number that a piece of text is, or -1 if there is something else than at most 15 digits, or nothing."""
    value: Any = -1 if first >= last or last - first > 15 else 0
    for i in range(first, last):
        c = text[i]
        if value < 0 or c < 48 or c > 57:
            return -1
        value = 10 * value + np.int64(c) - 48
    return value


@compiled_inside_exactly
def stripped(text: Any, first: Any, last: Any) -> tuple[int, int]:
    """Return a piece without white space at its ends."""
    while first < last and CLASSES[text[first]] & SPACES:
        first += 1
    while last > first and CLASSES[text[last - 1]] & SPACES:
        last -= 1
    return first, last


@compiled_inside_exactly
def bare(text: Any, first: Any, last: Any, marks: Any) -> tuple[int, int]:
    """Return a piece without some marks at its ends: 0 square brackets, 1 brackets of both kinds, 2 semicolons, 3 dots."""
    while first < last and marked(text[first], marks):
        first += 1
    while last > first and marked(text[last - 1], marks):
        last -= 1
    return first, last


@compiled_inside_exactly
def marked(c: Any, marks: Any) -> bool:
    """Tell whether a byte is one of the marks that `bare` drops."""
    if marks < 2:
        return c == 91 or c == 93 or (marks == 1 and (c == 40 or c == 41))  # noqa: PLR1714  (compiled)
    return c == 59 if marks == 2 else c == 46


@compiled_inside_exactly
def domain_of(text: Any, first: Any, last: Any) -> tuple[int, int]:
    """Return the last two labels of a host name, three where the last but one is short."""
    first, last = bare(text, first, last, 3)
    dots, i, one, two = 0, last - 1, 0, 0
    while i >= first:
        if text[i] == 46:
            dots += 1
            if dots == 1:
                one = i
            elif dots == 2:
                two = i
                if not (one - two - 1 < 4 and last - one - 1 < 3):
                    return two + 1, last
            else:
                return i + 1, last
        i -= 1
    return first, last


@compiled_inside_exactly
def known(text: Any, first: Any, last: Any) -> int:
    """Return the number of a field's name, -1 for one that is not looked at."""
    for k in range(N_NAMES):
        if text[first] == LETTERS[STARTS[k]] and equal(text, first, last, k):
            return k
    return -1


@compiled_inside_exactly
def name_end(raw: Any, place: Any, end: Any) -> int:
    """Return where the name of a field ends that begins here, -1 if none does."""
    i = place
    while i < end and i - place <= 80 and 33 <= raw[i] <= 126 and raw[i] != 58:
        i += 1
    return i if i < end and raw[i] == 58 and place < i <= place + 80 else -1


@compiled_inside_exactly
def fields_of(raw: Any, header: Any) -> tuple[Any, int]:
    """Return the fields at the start of a text, and where its body begins. `header`: the bytes before the first empty line."""
    text, table, n, at, place = np.empty(2 * header + 96, np.uint8), np.empty((FIELDS, 5), np.int64), 0, 0, 0
    if raw.size > 0 and raw[0] == 10:
        return Fields(text[:0], table[:0]), 1
    while place <= header:
        end = place
        while end < header and raw[end] != 10:
            end += 1
        if n > 0 and end > place and (raw[place] == 32 or raw[place] == 9):
            if at - table[n - 1, 3] < VALUE:
                first, last = stripped(raw, place, end)
                last = min(last, first + VALUE)
                text[at] = 32
                text[at + 1 : at + 1 + last - first] = raw[first:last]
                at += 1 + last - first
                table[n - 1, 4] = at
        else:
            stop = name_end(raw, place, end)
            if stop < 0:
                return Fields(text[:at], table[:n]), place
            if n < FIELDS:
                first, last = stripped(raw, stop + 1, min(end, stop + 1 + VALUE))
                for i in range(place, stop):
                    text[at + i - place] = raw[i] + 32 if 65 <= raw[i] <= 90 else raw[i]
                begin = at + stop - place
                text[begin : begin + last - first] = raw[first:last]
                table[n, 0] = known(text, at, begin)
                table[n, 1], table[n, 2], table[n, 3], table[n, 4] = at, begin, begin, begin + last - first
                at, n = begin + last - first, n + 1
        place = end + 1
    return Fields(text[:at], table[:n]), min(place + 1, raw.size)


@compiled_inside_exactly
def first_of(fields: Any, k: Any) -> tuple[int, int]:
    """Return the first value of a field, empty if there is none."""
    for row in range(fields.table.shape[0]):
        if fields.table[row, 0] == k:
            return fields.table[row, 3], fields.table[row, 4]
    return 0, 0


@compiled_inside_exactly
def time_in(text: Any, first: Any, last: Any) -> tuple[int, int, int]:
    """Return where the hour ends, hour and minute of a piece such as 14:05:59; -1 first if it is none."""
    colon = first
    while colon < last and text[colon] != 58:
        colon += 1
    hour, minute = digits(text, first, colon), digits(text, colon + 1, min(last, colon + 3))
    fits = colon - first < 3 and (last - colon == 3 or last - colon == 6)
    if not fits or hour < 0 or minute < 0:
        return -1, 0, 0
    if last - colon == 6 and (text[colon + 3] != 58 or digits(text, colon + 4, last) < 0):
        return -1, 0, 0
    return colon, hour, minute


@compiled_inside_exactly
def month_in(text: Any, first: Any, last: Any) -> int:
    """Return the month that a word begins with, from 0, or -1."""
    for k in range(12):
        if equal(text, first, min(last, first + 3), MONTHS + k):
            return k
    return -1


@compiled_inside_exactly
def offset_of(text: Any, first: Any, last: Any) -> int:
    """Return the seconds that a zone such as +0200 stands for."""
    if last - first != 5 or (text[first] != 43 and text[first] != 45) or digits(text, first + 1, last) < 0:
        return 0
    seconds = (digits(text, first + 1, first + 3) * 60 + digits(text, first + 3, last)) * 60
    return -seconds if text[first] == 45 else seconds


@compiled_inside_exactly
def moment(text: Any, first: Any, last: Any, found: Any) -> int:
    """Return the seconds of a date, -1 if none; `found` has start and end of the last five words, then of hour and zone."""
    place, n = max(first, last - 120), 0
    while True:
        a, b = next_word(text, place, last, DATES)
        if a == b:
            return -1
        place, n = b, n + 1
        found[:8] = found[2:10]
        found[8], found[9] = a, b
        colon, hour, minute = time_in(text, a, b)
        if n < 4 or colon < 0:
            continue
        day, month, year = (
            digits(text, found[2], found[3]),
            month_in(text, found[4], found[5]),
            digits(text, found[6], found[7]),
        )
        if day < 0 or found[3] - found[2] > 2 or month < 0 or year < 0 or not 1 < found[7] - found[6] < 5:
            continue
        found[10], found[11] = a, colon
        found[12], found[13] = next_word(text, place, last, DATES)
        found[13] = min(found[13], found[12] + 5)
        year += 1900 if 69 < year < 1000 else 2000 if year < 70 else 0
        months = year * 12 + month - 2
        days = (
            365 * (months // 12) + months // 48 - months // 1200 + months // 4800 + (months % 12 * 153 + 2) // 5 + day - 719469
        )
        letters = n > 4
        for i in range(found[0], found[1]):
            c = text[i] | 32
            letters &= 97 <= c <= 122
        found[1] = min(found[1], found[0] + 3) if letters else found[0]
        return days * 86400 + hour * 3600 + minute * 60 - offset_of(text, found[12], found[13])


@compiled_inside_exactly
def labelled(out: Any, k: Any, first: Any, last: Any) -> None:
    """Write a token: one of the fixed texts and a piece."""
    say(out, k)
    write(out, first, last)
    put(out, 32)


@compiled_inside_exactly
def date(fields: Any, hops: Any, out: Any) -> None:
    """Write the tokens of the date."""
    text, found, other = fields.text, np.zeros(14, np.int64), np.zeros(14, np.int64)
    first, last = first_of(fields, DATE)
    sent = moment(text, first, last, found)
    if sent < 0:
        if fields.table.shape[0] > 0:
            say(out, NO_DATE)
        return
    labelled(out, WEEKDAY, found[0], found[1])
    labelled(out, HOUR, found[10], found[11])
    labelled(out, ZONE, found[12], found[13])
    odd = found[0] < found[1]
    for k in range(7):
        odd &= not equal(text, found[0], found[1], DAYS + k)
    if odd:
        labelled(out, ODD_DAY, 0, 0)
    for end in range(2 if hops.size > 0 else 0):
        row = fields.table[hops[hops.size - 1 if end == 0 else 0]]
        came = moment(text, row[3], row[4], other)
        if came >= 0:
            say(out, AFTER_FIRST if end == 0 else AFTER_LAST)
            bucket(out, (came - sent) // 60)
            put(out, 32)


@compiled_inside_exactly
def handed(text: Any, first: Any, last: Any, found: Any) -> int:  # noqa: C901  (one loop over words)
    """Find in a Received line helo, looked-up name, receiver and protocol, as starts and ends; return the number of words."""
    found[:] = 0
    place, n, after_by, after_with, says = first, 0, 0, 0, False
    a, b = next_word(text, place, last, SPACES)
    while a < b and n < HOP_WORDS:
        if n == 0:
            says = equal(text, a, b, F_FROM)
        elif n == 1:
            found[8], found[9] = a, b
        elif n == 2 and says:
            found[0], found[1] = bare(text, found[8], found[9], 0)
            dots, other = False, False
            s, e = bare(text, a, b, 1)
            for i in range(s, e):
                dots |= text[i] == 46
                other |= text[i] != 46 and not 48 <= text[i] <= 57
            if text[a] == 40 and dots and other:
                found[2], found[3] = s, e
        if after_by == 1:
            found[4], found[5], after_by = a, b, 2
        if after_with == 1:
            found[6], found[7] = bare(text, a, b, 2)
            after_with = 2
        if after_by == 0 and equal(text, a, b, SAYS_BY):
            after_by = 1
        if after_with == 0 and equal(text, a, b, SAYS_WITH):
            after_with = 1
        place, n = b, n + 1
        a, b = next_word(text, place, last, SPACES)
    return n if after_by == 2 or n == 0 else -n


@compiled_inside_exactly
def hop(text: Any, k: Any, found: Any, out: Any) -> bool:
    """Write the tokens of hop k; tell whether it is without a name."""
    labelled(out, BY, found[4], found[5])
    w, z = domain_of(text, found[4], found[5])
    number(out, k)
    labelled(out, K_BY, w, z)
    labelled(out, WITH, found[6], found[7])
    if found[0] >= found[1]:
        number(out, k)
        labelled(out, FROM_NOBODY, 0, 0)
        return False
    a, b = domain_of(text, found[0], found[1])
    labelled(out, HELO, found[0], found[1])
    labelled(out, HELO_DOMAIN, a, b)
    named = found[2] < found[3]
    c, d = domain_of(text, found[2], found[3]) if named else (a, b)
    say(out, OVER)
    write(out, c, d)
    labelled(out, TO, w, z)
    if not named:
        number(out, k)
        labelled(out, NAMELESS, 0, 0)
        return True
    labelled(out, FROM, c, d)
    if not alike(text, a, b, c, d):
        number(out, k)
        labelled(out, UNLIKE_NAME, 0, 0)
    return False


@compiled_inside_exactly
def path(fields: Any, hops: Any, out: Any) -> None:
    """Write the tokens of the path. The text ends with the word "nobody"."""
    text, found, nameless = fields.text, np.zeros(10, np.int64), 0
    if fields.table.shape[0] > 0:
        say(out, HOPS)
        number(out, hops.size)
        put(out, 32)
    for k in range(min(12, hops.size)):
        row = fields.table[hops[hops.size - 1 - k]]
        if handed(text, row[3], row[4], found) < 0:
            found[4], found[5] = text.size - 6, text.size
        nameless += hop(text, k, found, out)
    if nameless:
        say(out, NAMELESS_OF)
        number(out, nameless)
        say(out, SLASH)
        number(out, hops.size)


@compiled_inside_exactly
def numbers_in(text: Any, first: Any, last: Any, k: Any, out: Any) -> None:  # noqa: C901  (one loop over words)
    """Write the tokens of the IP numbers in a value; k is the hop, -1 for the field of their origin."""
    place, count, dots = first, 0, np.zeros(5, np.int64)
    while count < 4:
        a, b = next_word(text, place, last, NUMBERS)
        if a == b:
            return
        place, n = b, 0
        for i in range(a, b):
            if text[i] == 46:
                n += 1
                if n < 4:
                    dots[n] = i
        if n != 3:
            continue
        count += 1
        whole = b - a < 16
        dots[0], dots[4] = a - 1, b
        for i in range(4):
            whole &= digits(text, dots[i] + 1, dots[i + 1]) >= 0
        if not whole:
            continue
        for i in range(4):
            write(out, a, dots[4 - i])
            put(out, 32)
        one, two = private_part(text, a, dots[1]), digits(text, dots[1] + 1, dots[2])
        long_two = dots[2] - dots[1] - 1
        own = one == 10 or one == 127 or (one == 192 and two == 168 and long_two == 3) or (one == 172 and 16 <= two < 32)  # noqa: PLR1714  (compiled)
        if k < 0:
            say(out, ORIGIN)
        else:
            number(out, k)
        labelled(out, PRIVATE if own else PUBLIC, 0, 0)


@compiled_inside_exactly
def private_part(text: Any, first: Any, last: Any) -> int:
    """Return the first piece of a number, -1 if it has zeros before it."""
    return -1 if text[first] == 48 and last - first > 1 else digits(text, first, last)


@compiled_inside_exactly
def address(text: Any, first: Any, last: Any) -> tuple[int, int, int, int]:
    """Return start and end of the local part and of the domain of the first address in a value."""
    at = first
    while at < last and text[at] != 64:
        at += 1
    a = at
    while a > first and not CLASSES[text[a - 1]] & DELIMITERS:
        a -= 1
    b = min(at + 1, last)
    c = b
    while c < last and not CLASSES[text[c]] & DELIMITERS:
        c += 1
    return a, at, b, c


@compiled_inside_exactly
def sender(fields: Any, out: Any) -> None:
    """Write the tokens of the sender."""
    text, said = fields.text, np.zeros((END, 4), np.int64)
    for k in ADDRESSES:
        first, last = first_of(fields, k)
        if first == last:
            continue
        a, b, c, d = address(text, first, last)
        e, f = domain_of(text, c, d)
        said[k, 0], said[k, 1], said[k, 2], said[k, 3] = 1, e, f, a
        say(out, k)
        say(out, COLON)
        write(out, a, b)
        labelled(out, AT, c, d)
        say(out, k)
        labelled(out, DOMAIN, e, f)
        say(out, HAS_)
        labelled(out, k, 0, 0)
        top = d
        while top > c and text[top - 1] != 46:
            top -= 1
        say(out, k)
        labelled(out, TOP, top, d)
        if k in (F_TO, F_CC):
            count = 0
            for i in range(first, last):
                count += text[i] == 64
            say(out, k)
            say(out, MANY)
            bucket(out, count)
            put(out, 32)
        if k == F_FROM and b > a:
            about_writer(text, a, b, first, last, out)
    for k in COMPARED:
        if said[k, 0]:
            same = alike(text, said[k, 1], said[k, 2], said[F_FROM, 1], said[F_FROM, 2])
            say(out, k)
            labelled(out, LIKE_FROM if same else UNLIKE_FROM, 0, 0)
    first, last = first_of(fields, X_MAILER)
    if first == last:
        first, last = first_of(fields, AGENT)
    some_words(out, MAILER, text, first, last)


@compiled_inside_exactly
def about_writer(text: Any, first: Any, last: Any, value: Any, end: Any, out: Any) -> None:
    """Write how many digits the local part of the sender has, and the words of the name, if they are simple."""
    count = 0
    for i in range(first, last):
        count += text[i] < 58
    say(out, DIGITS)
    bucket(out, count)
    put(out, 32)
    if simple(text, value, end):
        stop = value
        while stop < end and text[stop] != 60:
            stop += 1
        some_words(out, NAME, text, value, stop)


@compiled_inside_exactly
def some_words(out: Any, k: Any, text: Any, first: Any, last: Any) -> None:
    """Write the first six words of a piece as tokens."""
    for _ in range(6):
        a, first = next_word(text, first, last, WORDS)
        if a < first:
            labelled(out, k, a, first)


@compiled_inside_exactly
def verdicts(text: Any, first: Any, last: Any, out: Any) -> None:
    """Write the verdicts of a field of results, at most ten."""
    count = 0
    while count < 10:
        a, first = next_word(text, first, last, BETWEEN)
        if a == first:
            return
        mark = a
        while mark < first and text[mark] != 61:
            mark += 1
        for k in range(VERDICTS, END):
            if mark < first and equal(text, a, mark, k):
                say(out, k)
                labelled(out, EQUALS, mark + 1, min(first, mark + 13))
                count += 1


@compiled_inside_exactly
def authentication(fields: Any, out: Any) -> None:
    """Write the verdicts of SPF, DKIM and DMARC."""
    text, counts = fields.text, np.zeros(END, np.int64)
    for row in range(fields.table.shape[0]):
        k, first, last = fields.table[row, 0], fields.table[row, 3], fields.table[row, 4]
        if k < 0:
            continue
        counts[k] += 1
        if counts[k] <= 5 and (k == RESULTS[0] or k == RESULTS[1] or k == RESULTS[2]):
            verdicts(text, first, last, out)
        elif k == F_SPF and counts[k] <= 5:
            a, b = next_word(text, first, last, BETWEEN)
            labelled(out, SPF, a, min(b, a + 12))
        elif k == DKIM and counts[k] <= 3:
            a, b = next_word(text, first, last, BETWEEN)
            while a < b and not equal(text, a, min(b, a + 2), SAYS_D):
                a, b = next_word(text, b, last, BETWEEN)
            if a < b:
                c, d = domain_of(text, a + 2, b)
                labelled(out, SIGNED, c, d)


@compiled_inside_exactly
def simple(text: Any, first: Any, last: Any) -> bool:
    """Tell whether a value is ASCII without encoded words."""
    found = True
    for i in range(first, last):
        found &= text[i] < 128 and not (text[i] == 61 and i + 1 < last and text[i + 1] == 63)
    return found


@njit(cache=True, nogil=True)
def header_of(raw: Any, header: Any, line: Any) -> tuple[Any, Any, Any]:
    """Return the tokens of a header, the text of its fields, and where things are.

    `header`: the bytes before the first empty line. Tokens are those of date, path, IP numbers, sender and authentication, and
    the names of the fields, parted by `line`. Where things are: the start of the body, whether one of our own fields is there,
    whether the words of the sender's name are still to be found, and start and end of the values of `READ`.
    """
    found, start = fields_of(raw, header)
    spots, known, size = np.zeros(3 + 2 * READ.size, np.int64), False, found.text.size
    for k in found.table[:, 0]:
        known |= 0 <= k < N_KNOWN
        spots[1] |= k == OUR_FIELD
    text = np.empty(size + 6, np.uint8)
    text[:size] = found.text
    text[size:] = LETTERS[STARTS[NOBODY] : STARTS[NOBODY + 1]]
    fields = Fields(text, found.table if known else found.table[:0])
    spots[0] = start if known or spots[1] else 0
    for k in range(READ.size):
        spots[3 + 2 * k], spots[4 + 2 * k] = first_of(fields, READ[k])
    out = Sheet(np.empty((NOTES, 3), np.int64), np.zeros(1, np.int64))
    if not spots[1]:
        spots[2] = not simple(text, spots[3], spots[4])
        tokens_of(fields, line, out)
    return spelled(out, text, LETTERS, STARTS), text, spots


@compiled_inside_exactly
def tokens_of(fields: Any, line: Any, out: Any) -> None:
    """Write the tokens of a header, groups parted by `line`."""
    text, hops = fields.text, np.flatnonzero(fields.table[:, 0] == RECEIVED)
    date(fields, hops, out)
    mark(out, line)
    path(fields, hops, out)
    mark(out, line)
    for k in range(min(12, hops.size)):
        row = fields.table[hops[hops.size - 1 - k]]
        numbers_in(text, row[3], row[4], k, out)
    count = 0
    for row in fields.table:
        if row[0] == ORIGINATING and count < 5:
            numbers_in(text, row[3], row[4], -1, out)
            count += 1
    mark(out, line)
    sender(fields, out)
    mark(out, line)
    authentication(fields, out)
    mark(out, line)
    for row in fields.table:
        labelled(out, HAS, row[1], row[2])


@compiled_inside_exactly
def mark(out: Any, line: Any) -> None:
    """Write the end of a group."""
    put(out, line)
