"""Features in words, for people."""

import re

__all__ = ["in_words"]

_PHRASES = {
    "host-unlike-sender": "link to a host unlike the sender's",
    "host-like-sender": "link to the sender's own host",
    "text-unlike-target": "link whose text names another host than its target",
    "number-as-host": "link to a number instead of a host name",
    "shortener": "link through a shortener",
    "user-in-link": "link with a user name before its host",
    "no-date": "no date, or none that can be read",
}
_PATTERNS = (
    (re.compile(r"(\d+)-nameless"), "hop {0} without a name"),
    (re.compile(r"(\d+)-helo-unlike-name"), "hop {0} calls itself by another name"),
    (re.compile(r"(\d+)-from-nobody"), "hop {0} does not say from where"),
    (re.compile(r"hops:(\d+)"), "{0} hops"),
    (re.compile(r"(\S+)-unlike-from"), "{0} of another domain than From"),
    (re.compile(r"(\S+)-like-from"), "{0} of the same domain as From"),
    (re.compile(r"has:(\S+)"), "header field {0}"),
    (re.compile(r"has-(\S+)"), "header field {0} with an address"),
    (re.compile(r"(spf|dkim|dmarc)=(\S+)"), "{0} verdict: {1}"),
)
_GROUPS = {
    "words": 'word "{}"',
    "pairs": 'words "{}"',
    "subject": 'word "{}" in the subject',
    "grams": 'bytes "{}"',
    "ip": "IP number {}",
}


def in_words(group: str, token: str) -> str:
    """Return a feature as people would say it.

    Examples
    --------
    >>> in_words("links", "host-unlike-sender"), in_words("path", "2-nameless"), in_words("words", "pills")
    ("link to a host unlike the sender's", 'hop 2 without a name', 'word "pills"')
    """
    if group in _GROUPS:
        return _GROUPS[group].format(token)
    if token in _PHRASES:
        return _PHRASES[token]
    for pattern, phrase in _PATTERNS:
        found = pattern.fullmatch(token)
        if found:
            return phrase.format(*found.groups())
    return f"{group}: {token.replace(':', ' ')}"
