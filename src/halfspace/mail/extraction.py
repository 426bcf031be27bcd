"""From a raw message to features: named groups of tokens, each of which can be switched off, hashed into slots.

The groups are those of the lectures (words, pairs of neighbouring words, date and time, recipient path, IP numbers, sender,
encoding, links) and ours: subject, authentication results, and every four neighbouring bytes at the start of the message.

An extractor takes a `Message` and returns tokens, byte strings without spaces. Every message gives features, and none raises.
This module uses the standard library only; `halfspace.mail.compiled` has the same hashing compiled.
"""

import binascii
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from halfspace.mail.hashing import GROUPS, Numbers, keys_of, named_slots, slots_of
from halfspace.mail.html import CAP, text_and_links
from halfspace.mail.message import Message, as_text, read

__all__ = ["ALL", "VERSION", "buffers_of", "features", "named_features"]

ALL = GROUPS
VERSION = 1
"""Of the extractor: a filter's state belongs to one, and is learnt anew from the messages when it changes."""
START = 3_000
"""Bytes at the start of a message whose overlapping fours count."""
LIGHT = 250
"""The most features of a message in light mode."""

LIGHT_WORDS = 150
"""And the most words."""

Tokens = list[bytes]

_PRINTABLE = bytes(c if c > 32 and c != 127 else 32 for c in range(256))
_WORD = bytes(c if (chr(c).isalnum() and c < 128) or c in b"$'-_" or c > 127 else 32 for c in range(256))
_ADDRESS = re.compile(rb"([^\s<>\"',;:()@]{1,64})@([a-z0-9.-]{1,100})")
_IP = re.compile(rb"(?<![\d.])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![\d.])")
_FROM = re.compile(rb"^from[ \t]+([^\s();]{1,100})(?:[ \t]+\(([^()]{0,200}))?")
_BY = re.compile(rb"\bby[ \t]+([^\s();]{1,100})")
_WITH = re.compile(rb"\bwith[ \t]+([a-z0-9-]{1,30})")
_DATE = re.compile(
    rb"(?:(\w{3})[a-z]*,?[ \t]+)?(\d{1,2})[ \t-]+(\w{3})[a-z]*[ \t-]+(\d{2,4})"
    rb"[ \t]+(\d{1,2}):(\d\d)(?::(\d\d))?(?:[ \t]+([+-]\d{4}|[a-z]{1,5}))?"
)
_URL = re.compile(rb"\b(https?|ftp)://([^\s\"'<>)\]]{1,400})|\bwww\.([^\s\"'<>)\]]{1,400})", re.IGNORECASE)
_ENCODED = re.compile(rb"=\?([^?\s]{1,40})\?([bq])\?([^?]{0,400})\?=(?:\s+(?==\?))?", re.IGNORECASE)
_VERDICT = re.compile(rb"\b(spf|dkim|dmarc|arc|domainkeys|sender-id|iprev|auth)=([a-z]{2,12})")
_MONTHS = {m: k for k, m in enumerate(b"jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_DAYS = frozenset(b"mon tue wed thu fri sat sun".split())
_SHORTENERS = frozenset(
    b"bit.ly tinyurl.com t.co goo.gl ow.ly is.gd buff.ly cutt.ly rb.gy tiny.cc rebrand.ly snipurl.com".split()
)


def _domain(host: bytes) -> bytes:
    """Return the last two labels of a host name, three where the last but one is short, as in co.uk."""
    labels = host.strip(b".").split(b".")
    return b".".join(labels[-3:] if len(labels) > 2 and len(labels[-2]) < 4 and len(labels[-1]) < 3 else labels[-2:])


def _bucket(number: float) -> bytes:
    """Return the length of a number in bits, its sign before it."""
    return b"%s%d" % (b"-" if number < 0 else b"", int(abs(number)).bit_length())


def _address(value: bytes) -> tuple[bytes, bytes]:
    """Return the local part and the domain of the last address in a header value."""
    found = _ADDRESS.findall(value.lower())
    return found[-1] if found else (b"", b"")


def _moment(value: bytes) -> tuple[int, tuple[bytes, ...]]:
    """Return the seconds since 1970 that a date stands for, -1 if none, and its pieces."""
    found = _DATE.search(value[-120:].lower())
    if not found or found[3] not in _MONTHS:
        return -1, ()
    day, month, year = int(found[2]), _MONTHS[found[3]], int(found[4])
    year += 1900 if 69 < year < 1000 else 2000 if year < 70 else 0
    months = year * 12 + month - 3
    days = 365 * (months // 12) + months // 48 - months // 1200 + months // 4800 + (months % 12 * 153 + 2) // 5 + day - 719469
    zone = found[8] or b""
    offset = 0
    if zone[:1] in (b"+", b"-"):
        offset = (int(zone[1:3]) * 60 + int(zone[3:5])) * (-60 if zone[:1] == b"-" else 60)
    return days * 86400 + int(found[5]) * 3600 + int(found[6]) * 60 - offset, found.groups(b"")


def _date(message: Message) -> Tokens:
    """Hour, weekday, zone, and how far the date is from the first and last hop."""
    sent, pieces = _moment(message.first(b"date"))
    if sent < 0:
        return [b"no-date"] if message.fields else []
    tokens = [b"weekday:" + pieces[0], b"hour:" + pieces[4], b"zone:" + pieces[7]]
    if pieces[0] and pieces[0] not in _DAYS:
        tokens.append(b"odd-weekday")
    hops = [_moment(value)[0] for value in message.values(b"received")]
    for name, moment in ((b"first", hops[-1:]), (b"last", hops[:1])):
        if moment and moment[0] >= 0:
            tokens.append(b"after-%s:%s" % (name, _bucket((moment[0] - sent) // 60)))
    return tokens


def _path(message: Message) -> Tokens:
    """Count the hops; name the hosts, and what was handed over from which to which."""
    hops = message.values(b"received")
    tokens = [b"hops:%d" % len(hops)] if message.fields else []
    for k, hop in enumerate(reversed(hops[-12:])):
        value = hop.lower()
        by, source, by_what = _BY.search(value), _FROM.search(value), _WITH.search(value)
        where = _domain(by[1]) if by else b"nobody"
        tokens += [b"by:" + (by[1] if by else b""), b"%d-by:%s" % (k, where)]
        if by_what:
            tokens.append(b"with:" + by_what[1])
        if source is None:
            tokens.append(b"%d-from-nobody" % k)
            continue
        helo, said = source[1].strip(b"[]"), (source[2] or b"").split(None, 1)
        name = said[0] if said and b"." in said[0] and not said[0].startswith(b"[") else b""
        nameless = not name or (name[:1].isdigit() and name.strip(b"0123456789.") == b"")
        tokens += [b"helo:" + helo, b"helo-domain:" + _domain(helo), b"over:%s>%s" % (_domain(name or helo), where)]
        tokens.append(b"%d-nameless" % k if nameless else b"from:" + _domain(name))
        if not nameless and _domain(name) != _domain(helo):
            tokens.append(b"%d-helo-unlike-name" % k)
    return tokens


def _ip(message: Message) -> Tokens:
    """Prefixes of the numbers in the path, private or public."""
    tokens = []
    numbers = [(b"%d" % k, value) for k, value in enumerate(reversed(message.values(b"received")[-12:]))]
    numbers += [(b"origin", value) for value in message.values(b"x-originating-ip")]
    for where, value in numbers:
        for a, b, c, d in _IP.findall(value)[:4]:
            private = a in (b"10", b"127") or (a, b) == (b"192", b"168") or (a == b"172" and 16 <= int(b) < 32)
            tokens += [b"%s.%s.%s.%s" % (a, b, c, d), b"%s.%s.%s" % (a, b, c), b"%s.%s" % (a, b), a]
            tokens.append(b"%s-%s" % (where, b"private" if private else b"public"))
    return tokens


def _sender(message: Message) -> Tokens:
    """Addresses, domains and names of sender and recipients, and where they differ."""
    tokens, said = [], {}
    for field in (b"from", b"sender", b"return-path", b"reply-to", b"to", b"cc", b"errors-to", b"list-id", b"message-id"):
        value = message.first(field)
        if not value:
            continue
        local, domain = said[field] = _address(value)
        tokens += [b"%s:%s@%s" % (field, local, domain), b"%s-domain:%s" % (field, _domain(domain)), b"has-" + field]
        tokens.append(b"%s-top:%s" % (field, domain.rpartition(b".")[2]))
        if field in (b"to", b"cc"):
            tokens.append(b"%s-many:%s" % (field, _bucket(value.count(b"@"))))
    writer = said.get(b"from", (b"", b""))
    for field in (b"sender", b"return-path", b"reply-to", b"message-id", b"to"):
        if field in said:
            same = _domain(said[field][1]) == _domain(writer[1])
            tokens.append(field + (b"-like-from" if same else b"-unlike-from"))
    if writer[0]:
        tokens.append(b"digits:" + _bucket(sum(c < 58 for c in writer[0])))
        name = _words(_unencoded(message.first(b"from")).split(b"<")[0])
        tokens += [b"name:" + word for word in name.split()[:6]]
    tokens += [b"mailer:" + word for word in _words(message.first(b"x-mailer") or message.first(b"user-agent")).split()[:6]]
    return tokens


def _encoding(message: Message) -> Tokens:
    """Character sets, transfer encodings, the shape of the message, and attachments by name, type and size."""
    tokens = [b"shape:" + b",".join(message.shape[:8])[:60]]
    for part in message.parts[:20]:
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
    tokens += [b"has:" + name for name in {name for name, _ in message.fields}]
    return tokens


def _links(links: Iterable[tuple[bytes, bytes]], message: Message) -> Tokens:
    """Hosts, shorteners, numbers as hosts, texts that name another host than the link leads to."""
    tokens, count = [], 0
    writer = _domain(_address(message.first(b"from"))[1])
    for target, text in links:
        kind, _, rest = target.lower().partition(b":")
        if kind not in {b"http", b"https", b"ftp"}:
            tokens.append(b"kind:" + kind[:12])
            continue
        count += 1
        if count > 40:
            break
        authority, _, after = rest.lstrip(b"/").partition(b"/")
        host, _, port = authority.rpartition(b"@")[2].partition(b":")
        domain = _domain(host)
        tokens += [b"host:" + host, b"domain:" + domain, b"top:" + domain.rpartition(b".")[2]]
        tokens += [b"at:" + piece for piece in after.translate(_WORD).split()[:6]]
        if b"@" in authority:
            tokens.append(b"user-in-link")
        if port:
            tokens.append(b"port:" + port)
        if host.replace(b".", b"").isdigit():
            tokens.append(b"number-as-host")
        if domain in _SHORTENERS:
            tokens.append(b"shortener")
        if writer:
            tokens.append(b"host-like-sender" if domain == writer else b"host-unlike-sender")
        shown = _URL.search(text)
        if shown and _domain((shown[2] or shown[3]).lower().partition(b"/")[0]).removeprefix(b"www.") != domain:
            tokens.append(b"text-unlike-target")
    return [*tokens, b"links:" + _bucket(count)] if count else tokens


def _authentication(message: Message) -> Tokens:
    """Verdicts of SPF, DKIM and DMARC, all that are given."""
    tokens = []
    for field in (b"authentication-results", b"arc-authentication-results", b"x-original-authentication-results"):
        for value in message.values(field)[:5]:
            tokens += [b"%s=%s" % verdict for verdict in _VERDICT.findall(value.lower())[:10]]
    for value in message.values(b"received-spf")[:5]:
        tokens.append(b"spf=" + value.lower().split(None, 1)[0][:12] if value else b"spf=")
    tokens += [
        b"signed:" + _domain(found[1])
        for value in message.values(b"dkim-signature")[:3]
        if (found := _SIGNED.search(value.lower()))
    ]
    return tokens


_SIGNED = re.compile(rb"\bd=([a-z0-9.-]{1,100})")


def _unencoded(value: bytes) -> bytes:
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
    return text.lower().translate(_WORD)


def _texts(message: Message) -> tuple[list[bytes], list[tuple[bytes, bytes]]]:
    """Return the text of every part that has some, and all links."""
    texts, links = [], []
    for part in message.parts:
        if not part.kind.startswith((b"text/", b"message/")) and part.kind:
            continue
        text = as_text(part.body[:CAP], part.charset)
        if part.kind == b"text/html" or b"<html" in text[:1000]:
            text, found, names = text_and_links(text)
            links += found
            if names:
                texts.append(b"")
        for found in _URL.findall(text):
            links.append((b"http://www." + found[2] if found[2] else found[0] + b"://" + found[1], b""))
        texts.append(text)
    return texts, links


_HEADER_GROUPS: dict[str, Callable[[Message], Tokens]] = {
    "date": _date,
    "path": _path,
    "ip": _ip,
    "sender": _sender,
    "encoding": _encoding,
    "authentication": _authentication,
}


def buffers_of(message: bytes, groups: Iterable[str] = ALL, *, light: bool = False) -> tuple[list[bytes], bytes]:
    """Return for each group but the last its tokens, parted by spaces, and the bytes at the start of the message.

    The pairs' buffer is b"+" if they are wanted: they are made of the words where these are hashed.
    """
    wanted, found = frozenset(groups), read(message)
    if light:
        wanted -= {"pairs", "grams"}
    texts, links = _texts(found) if wanted & {"words", "pairs", "links"} else ([], [])
    buffers = []
    for group in GROUPS[:-1]:
        if group not in wanted:
            buffers.append(b"")
        elif group == "links":
            buffers.append(b" ".join(_links(links, found)).translate(_PRINTABLE))
        elif group == "words":
            words = b" ".join(texts).translate(_WORD)
            buffers.append(b" ".join(words.split(None, LIGHT_WORDS)[:LIGHT_WORDS]) if light else words)
        elif group == "pairs":
            buffers.append(b"+")
        elif group == "subject":
            buffers.append(_unencoded(b" ".join(found.values(b"subject")[:3])).translate(_WORD))
        else:
            buffers.append(b" ".join(_HEADER_GROUPS[group](found)).translate(_PRINTABLE))
    return buffers, found.raw[:START] if "grams" in wanted else b""


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
