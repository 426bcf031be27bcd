"""From a raw message to features: named groups of tokens, each of which can be switched off, hashed into slots.

The groups are those of the lectures (words, pairs of neighbouring words, date and time, recipient path, IP numbers, sender,
encoding, links) and ours: subject, authentication results, every four neighbouring bytes at the start of the message, and the
shape of its text: four neighbouring bytes with all small letters alike, all capitals and all digits.

An extractor takes a `Message` and returns tokens, byte strings without spaces. Every message gives features, and none raises.
This module uses the standard library only; `halfspace.mail.compiled` has the same hashing compiled.
"""

import binascii
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from halfspace.mail.attachments import DOCUMENTS, attached_text, document_in
from halfspace.mail.hashing import GROUPS, Numbers, keys_of, named_slots, slots_of
from halfspace.mail.html import CAP, PLAIN, text_and_links
from halfspace.mail.message import Message, Part, as_text, read

__all__ = ["ALL", "VERSION", "address", "buffers_of", "domain_of", "features", "named_features"]

ALL = GROUPS
VERSION = 7
"""Of the extractor: a filter's state belongs to one, and is learnt anew from the messages when it changes."""
START, END = 1_500, 1_500
"""Bytes at the start and the end of a message whose overlapping fours count."""
HEAD = 16
"""Bytes of a part that is not text whose overlapping fours count."""
HOP_WORDS = 64
"""Words of a Received line that count."""
LINKS = 25
"""Different links of a message that count."""
LIGHT = 250
"""The most features of a message in light mode."""

LIGHT_WORDS = 150
"""And the most words."""

Tokens = list[bytes]

PRINTABLE = bytes(c if c > 32 and c != 127 else 32 for c in range(256))
WORD = bytes(c if (chr(c).isalnum() and c < 128) or c in b"$'-_" or c > 127 else 32 for c in range(256))
AROUND_NUMBERS = bytes(c if 48 <= c < 58 or c == 46 or (c > 64 and c not in b"[]") else 32 for c in range(256))
_TIME = re.compile(rb"(\d{1,2}):(\d\d)(?::\d\d)?")
DELIMITERS = bytes(c if c > 32 and c not in b"<>\"',;:()" else 32 for c in range(256))
_SHAPES = bytes(48 if 48 <= c < 58 else 65 if 65 <= c < 91 else 97 if 97 <= c < 123 else c for c in range(256))
_ENCODED = re.compile(rb"=\?([^?\s]{1,40})\?([bq])\?([^?]{0,400})\?=(?:\s+(?==\?))?", re.IGNORECASE)
VERDICTS = tuple(b"spf dkim dmarc arc domainkeys sender-id iprev auth".split())
BETWEEN_VERDICTS = bytes(c if c > 32 and c not in b";,()" else 32 for c in range(256))
MONTHS = tuple(b"jan feb mar apr may jun jul aug sep oct nov dec".split())
DAYS = tuple(b"mon tue wed thu fri sat sun".split())
SHORTENERS = tuple(b"bit.ly tinyurl.com t.co goo.gl ow.ly is.gd buff.ly cutt.ly rb.gy tiny.cc rebrand.ly snipurl.com".split())


@lru_cache(maxsize=4096)
def domain_of(host: bytes) -> bytes:
    """Return the last two labels of a host name, three where the last but one is short, as in co.uk."""
    labels = host.strip(b".").split(b".")
    return b".".join(labels[-3:] if len(labels) > 2 and len(labels[-2]) < 4 and len(labels[-1]) < 3 else labels[-2:])


def _bucket(number: float) -> bytes:
    """Return the length of a number in bits, its sign before it."""
    return b"%s%d" % (b"-" if number < 0 else b"", int(abs(number)).bit_length())


def address(value: bytes) -> tuple[bytes, bytes]:
    """Return the local part and the domain of the first address in a header value."""
    local, _, domain = value.translate(DELIMITERS).partition(b"@")
    return local.rpartition(b" ")[2].lower(), domain.partition(b" ")[0].lower()


def _moment(value: bytes) -> tuple[int, bytes, bytes, bytes]:
    """Return the seconds since 1970 that a date stands for, -1 if none, its weekday, hour and zone."""
    words = value[-120:].lower().replace(b",", b" ").split()
    for i in range(3, len(words)):
        day, name, year, time = words[i - 3 : i + 1]
        found = _TIME.fullmatch(time)
        if not (found and day.isdigit() and len(day) < 3 and name[:3] in MONTHS and year.isdigit() and 1 < len(year) < 5):
            continue
        zone = words[i + 1][:5] if i + 1 < len(words) else b""
        offset = 0
        if len(zone) == 5 and zone[:1] in (b"+", b"-") and zone[1:].isdigit():
            offset = (int(zone[1:3]) * 60 + int(zone[3:])) * (-60 if zone[:1] == b"-" else 60)
        seconds = _days(int(year), MONTHS.index(name[:3]), int(day)) * 86400 + int(found[1]) * 3600 + int(found[2]) * 60
        weekday = words[i - 4] if i > 3 and words[i - 4].isalpha() else b""
        return seconds - offset, weekday[:3], found[1], zone
    return -1, b"", b"", b""


def _days(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a date, months counted from 0; years of two digits are those from 1970 on."""
    year += 1900 if 69 < year < 1000 else 2000 if year < 70 else 0
    months = year * 12 + month - 2
    return 365 * (months // 12) + months // 48 - months // 1200 + months // 4800 + (months % 12 * 153 + 2) // 5 + day - 719469


def _date(message: Message) -> Tokens:
    """Hour, weekday, zone, and how far the date is from the first and last hop."""
    sent, weekday, hour, zone = _moment(message.first(b"date"))
    if sent < 0:
        return [b"no-date"] if message.fields else []
    tokens = [b"weekday:" + weekday, b"hour:" + hour, b"zone:" + zone]
    if weekday and weekday not in DAYS:
        tokens.append(b"odd-weekday")
    hops = message.values(b"received")
    for name, hop in ((b"first", hops[-1:]), (b"last", hops[:1])):
        moment = _moment(hop[0])[0] if hop else -1
        if moment >= 0:
            tokens.append(b"after-%s:%s" % (name, _bucket((moment - sent) // 60)))
    return tokens


def _path(message: Message) -> Tokens:
    """Count the hops; name the hosts, and what was handed over from which to which."""
    hops = message.values(b"received")
    tokens, nameless = [b"hops:%d" % len(hops)] if message.fields else [], 0
    for k, hop in enumerate(reversed(hops[-12:])):
        helo, name, by, how = _handed(hop.lower().split()[:HOP_WORDS])
        where = domain_of(by)
        tokens += [b"by:" + by, b"%d-by:%s" % (k, where), b"with:" + how]
        if not helo:
            tokens.append(b"%d-from-nobody" % k)
            continue
        tokens += [b"helo:" + helo, b"helo-domain:" + domain_of(helo), b"over:%s>%s" % (domain_of(name or helo), where)]
        tokens.append(b"from:" + domain_of(name) if name else b"%d-nameless" % k)
        nameless += not name
        if name and domain_of(name) != domain_of(helo):
            tokens.append(b"%d-helo-unlike-name" % k)
    return [*tokens, b"nameless:%d/%d" % (nameless, len(hops))] if nameless else tokens


def _handed(words: Tokens) -> tuple[bytes, bytes, bytes, bytes]:
    """Return of a Received line how the sender called itself, its looked-up name, the receiver, and the protocol."""
    if not words:
        return b"", b"", b"", b""
    helo = name = b""
    if words[0] == b"from" and len(words) > 2:
        helo, said = words[1].strip(b"[]"), words[2].strip(b"()[]")
        name = said if words[2][:1] == b"(" and b"." in said and said.strip(b"0123456789.") else b""
    by = words[words.index(b"by") + 1 :][:1] if b"by" in words else []
    how = words[words.index(b"with") + 1 :][:1] if b"with" in words else []
    return helo, name, by[0] if by else b"nobody", how[0].strip(b";") if how else b""


def _ip(message: Message) -> Tokens:
    """Prefixes of the numbers in the path, private or public."""
    tokens = []
    numbers = [(b"%d" % k, value) for k, value in enumerate(reversed(message.values(b"received")[-12:]))]
    numbers += [(b"origin", value) for value in message.values(b"x-originating-ip")[:5]]
    for where, value in numbers:
        for number in [word for word in value.translate(AROUND_NUMBERS).split() if word.count(b".") == 3][:4]:
            a, b, c, d = number.split(b".")
            if a.isdigit() and b.isdigit() and c.isdigit() and d.isdigit() and len(number) < 16:
                private = a in (b"10", b"127") or (a, b) == (b"192", b"168") or (a == b"172" and 16 <= int(b) < 32)
                tokens += [number, b"%s.%s.%s" % (a, b, c), b"%s.%s" % (a, b), a]
                tokens.append(b"%s-%s" % (where, b"private" if private else b"public"))
    return tokens


def _sender(message: Message) -> Tokens:
    """Addresses, domains and names of sender and recipients, and where they differ."""
    tokens, said = [], {}
    for field in (b"from", b"sender", b"return-path", b"reply-to", b"to", b"cc", b"errors-to", b"list-id", b"message-id"):
        value = message.first(field)
        if not value:
            continue
        local, domain = said[field] = address(value)
        tokens += [b"%s:%s@%s" % (field, local, domain), b"%s-domain:%s" % (field, domain_of(domain)), b"has-" + field]
        tokens.append(b"%s-top:%s" % (field, domain.rpartition(b".")[2]))
        if field in (b"to", b"cc"):
            tokens.append(b"%s-many:%s" % (field, _bucket(value.count(b"@"))))
    writer = said.get(b"from", (b"", b""))
    for field in (b"sender", b"return-path", b"reply-to", b"message-id", b"to"):
        if field in said:
            same = domain_of(said[field][1]) == domain_of(writer[1])
            tokens.append(field + (b"-like-from" if same else b"-unlike-from"))
    if writer[0]:
        tokens.append(b"digits:" + _bucket(sum(c < 58 for c in writer[0])))
        tokens += [b"name:" + word for word in name_of(message.first(b"from")).split()[:6]]
    tokens += [b"mailer:" + word for word in _words(message.first(b"x-mailer") or message.first(b"user-agent")).split()[:6]]
    return tokens


def name_of(value: bytes) -> bytes:
    """Return the words before the address in a field, parted by spaces."""
    return _words(unencoded(value).split(b"<")[0])


def _encoding(message: Message) -> Tokens:
    """Name the shape of the message, its parts, and its fields."""
    return [*of_parts(message.shape, message.parts), *(b"has:" + name for name, _ in message.fields)]


def of_parts(shape: Tokens, parts: list[Part]) -> Tokens:
    """Character sets, transfer encodings, the shape of the message, and attachments by name, type and size."""
    tokens = [b"shape:" + b",".join(shape[:8])[:60]]
    for part in parts[:20]:
        charset, transfer = part.charset.encode("ascii", "replace"), part.transfer
        tokens += [
            b"type:" + part.kind,
            b"charset:" + charset,
            b"transfer:" + transfer,
            b"%s;%s;%s" % (part.kind, charset, transfer),
        ]
        if part.name or part.disposition == b"attachment":
            end = part.name.lower().rpartition(b".")[2][:12]
            tokens += [
                b"attached:" + end,
                b"file:" + part.name.lower(),
                b"attached-size:%s:%s" % (end, _bucket(len(part.body))),
            ]
        if not part.kind.startswith(b"text/"):
            tokens.append(b"size:%s:%s" % (part.kind, _bucket(len(part.body))))
    return tokens


def _links(links: Iterable[tuple[bytes, bytes]], message: Message) -> Tokens:
    """Hosts, shorteners, numbers as hosts, texts that name another host than the link leads to."""
    tokens, count = [], 0
    writer = domain_of(address(message.first(b"from"))[1])
    first: dict[bytes, bytes] = {}
    for target, text in links:
        first.setdefault(target, text)
    for target, text in list(first.items())[:LINKS]:
        kind, _, rest = target.partition(b":")
        if kind not in {b"http", b"https", b"ftp"}:
            tokens.append(b"kind:" + kind[:12])
            continue
        count += 1
        authority, _, after = rest.lstrip(b"/").partition(b"/")
        host, _, port = authority.rpartition(b"@")[2].partition(b":")
        domain = domain_of(host)
        tokens += [b"host:" + host, b"domain:" + domain, b"top:" + domain.rpartition(b".")[2]]
        tokens += [b"at:" + piece for piece in after.translate(WORD).split()[:6]]
        if b"@" in authority:
            tokens.append(b"user-in-link")
        if port:
            tokens.append(b"port:" + port)
        if host.replace(b".", b"").isdigit():
            tokens.append(b"number-as-host")
        if domain in SHORTENERS:
            tokens.append(b"shortener")
        if writer:
            tokens.append(b"host-like-sender" if domain == writer else b"host-unlike-sender")
        shown = PLAIN.search(text)
        if shown and domain_of(shown[1].partition(b"/")[0]) != domain:
            tokens.append(b"text-unlike-target")
    return [*tokens, b"links:" + _bucket(count)] if count else tokens


def _authentication(message: Message) -> Tokens:
    """Verdicts of SPF, DKIM and DMARC, all that are given."""
    tokens = []
    for field in (b"authentication-results", b"arc-authentication-results", b"x-original-authentication-results"):
        for value in message.values(field)[:5]:
            said = (word.partition(b"=") for word in value.lower().translate(BETWEEN_VERDICTS).split())
            tokens += [b"%s=%s" % (name, verdict[:12]) for name, equals, verdict in said if equals and name in VERDICTS][:10]
    for value in message.values(b"received-spf")[:5]:
        tokens.append(b"spf=" + b"".join(value.lower().translate(BETWEEN_VERDICTS).split()[:1])[:12])
    for value in message.values(b"dkim-signature")[:3]:
        words = value.lower().translate(BETWEEN_VERDICTS).split()
        tokens += [b"signed:" + domain_of(word[2:]) for word in words if word.startswith(b"d=")][:1]
    return tokens


def unencoded(value: bytes) -> bytes:
    """Return a header value with its encoded words in UTF-8 and lower case."""
    if b"=?" not in value:
        return as_text(value, "")

    def word(found: re.Match[bytes]) -> bytes:
        text = found[3].replace(b"_", b" ")
        try:
            body = binascii.a2b_qp(text) if found[2] in b"qQ" else binascii.a2b_base64(text)
        except binascii.Error:
            body = text
        return as_text(body, found[1].decode("ascii", "replace").lower())

    return _ENCODED.sub(word, value).lower()


def _words(text: bytes) -> bytes:
    """Return text in lower case, words parted by spaces."""
    return text.lower().translate(WORD)


def texts_in(parts: list[Part]) -> list[tuple[Part, bytes]]:
    """Return the parts that are text, or documents that are read, with their text in lower case."""
    found, left = [], DOCUMENTS
    for part in parts:
        if not part.kind or part.kind.startswith((b"text/", b"message/")):
            found.append((part, as_text(part.body[:CAP], part.charset)))
        elif left > 0 and (kind := document_in(part.body)):
            left -= DOCUMENTS if kind == "pdf" else 1
            found.append((part, as_text(attached_text(part.body), "utf-8")))
    return found


def is_page(part: Part, text: bytes) -> bool:
    """Tell whether a part is HTML."""
    return part.kind == b"text/html" or b"<html" in text[:1000]


def _texts(message: Message) -> tuple[list[bytes], list[tuple[bytes, bytes]]]:
    """Return the text of every part that has some, and all links."""
    texts: list[bytes] = []
    links: list[tuple[bytes, bytes]] = []
    for part, plain in texts_in(message.parts):
        text = plain
        if is_page(part, text):
            text, found = text_and_links(text)
            links += found
        if b"://" in text or b"www." in text:
            links += [(b"http://" + rest, b"") for rest in PLAIN.findall(text)]
        texts.append(text)
    return texts, links


_HEADER_GROUPS: dict[str, Callable[[Message], Tokens]] = {
    "date": _date,
    "path": _path,
    "ip": _ip,
    "sender": _sender,
    "authentication": _authentication,
    "encoding": _encoding,
}


def buffers_of(message: bytes, groups: Iterable[str] = ALL, *, light: bool = False) -> tuple[list[bytes], bytes, bytes]:
    """Return for each group but the last two its tokens, parted by spaces, and the bytes of those two.

    The pairs' buffer is b"+" if they are wanted: they are made of the words where these are hashed.
    """
    wanted, found = frozenset(groups), read(message)
    if light:
        wanted -= {"pairs", "shape", "grams"}
    texts, links = _texts(found) if wanted & {"words", "pairs", "links"} else ([], [])
    buffers = []
    for group in GROUPS[:-2]:
        if group not in wanted:
            buffers.append(b"")
        elif group == "links":
            buffers.append(b" ".join(_links(links, found)).translate(PRINTABLE))
        elif group == "words":
            words = b" ".join(texts).translate(WORD)
            buffers.append(b" ".join(words.split(None, LIGHT_WORDS)[:LIGHT_WORDS]) if light else words)
        elif group == "pairs":
            buffers.append(b"+")
        elif group == "subject":
            buffers.append(unencoded(found.first(b"subject")).translate(WORD))
        else:
            buffers.append(b" ".join(_HEADER_GROUPS[group](found)).translate(PRINTABLE))
    shape = shape_of(found.parts) if "shape" in wanted else b""
    return buffers, shape, ends_of(readable(found.raw, found.parts)) if "grams" in wanted else b""


def shape_of(parts: list[Part]) -> bytes:
    """Return the start and the end of the first text with letters and digits alike."""
    shown = next((part.body for part in parts if part.kind.startswith(b"text/") or not part.kind), b"")
    return ends_of(shown).translate(_SHAPES)


def readable(raw: bytes, parts: list[Part]) -> bytes:
    """Return a message as it was received, but where parts are in base64, its header and what is in them.

    Of a part that is not text only the first bytes count: the rest is noise that would drown what tells it.
    """
    if not any(part.transfer == b"base64" for part in parts):
        return raw
    head = raw[: raw.find(b"\n\n") + 1]
    shown = (part.kind + b"\n" + (part.body if part.kind.startswith(b"text/") else part.body[:HEAD]) for part in parts)
    return b"\n".join([head, *shown])


def ends_of(text: bytes) -> bytes:
    """Return the start and the end of a text, so that padding at one of them leaves the other."""
    return text if len(text) <= START + END else text[:START] + text[-END:]


@lru_cache(maxsize=4)
def keys_for(salt: bytes) -> "Numbers[int]":
    return keys_of(salt)


def features(message: bytes, *, salt: bytes = b"", groups: Iterable[str] = ALL, light: bool = False) -> "Numbers[int]":
    r"""Return the features of a raw message, as slots of a table of 2^20.

    Parameters
    ----------
    message : bytes
        As it was received, with its header; of any form, and however broken.
    salt : bytes
        A secret, so that nobody else can tell which words a slot stands for.
    groups : iterable of str
        Those of `ALL` to use.
    light : bool
        At most 250 features: no pairs, no bytes, and not every word.

    Returns
    -------
    array of unsigned 32-bit numbers, shape (n_features,)
        Sorted, each once.

    Examples
    --------
    >>> features(b"Subject: hello\n\nhello", salt=b"secret", groups=["words"]).tolist() == features(
    ...     b"Subject: other\n\nHello, hello!", salt=b"secret", groups=["words"]).tolist()
    True
    """
    return slots_of(*buffers_of(message, groups, light=light), keys_for(salt))[: LIGHT if light else None]


def named_features(
    message: bytes, *, salt: bytes = b"", groups: Iterable[str] = ALL, light: bool = False
) -> dict[int, tuple[str, str]]:
    r"""Return for each feature of a message its group and what it stands for.

    Examples
    --------
    >>> list(named_features(b"Subject: hello\n\n", groups=["subject"]).values())
    [('subject', 'hello')]
    """
    named = named_slots(*buffers_of(message, groups, light=light), keys_for(salt))
    return {slot: (group, token.decode("utf-8", "backslashreplace")) for slot, (group, token) in named.items()}
