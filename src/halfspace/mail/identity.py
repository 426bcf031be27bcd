"""What a message is known by: digits that depend on it and on the secret of the filter, and prove that we issued them."""

from hashlib import blake2b

from halfspace.mail.header import id_in, unstamped

__all__ = ["identity", "issued"]


def identity(message: bytes, salt: bytes) -> str:
    r"""Return what a message is known by: that of our field in it if it is ours, else a new one.

    Parameters
    ----------
    message : bytes
        The message, whatever its line ends.
    salt : bytes
        The secret of the filter, at most 64 bytes.

    Returns
    -------
    str
        24 hexadecimal digits: 16 that depend on the message, and 8 that depend on these.

    Examples
    --------
    >>> key = identity(b"Subject: hello\n\nworld\n", b"secret")
    >>> len(key), key == identity(b"Subject: hello\r\n\r\nworld\r\n", b"secret")
    (24, True)
    """
    if key := issued(message, salt):
        return key
    text = unstamped(message).replace(b"\r\n", b"\n")
    if text.startswith((b"From ", b">From ")):  # the line that an mbox begins with
        text = text[text.find(b"\n") + 1 :]
    digits = blake2b(text, digest_size=8, key=salt, person=b"message").hexdigest()
    return digits + _check(digits, salt)


def issued(message: bytes, salt: bytes) -> str:
    """Return the id in our field of a message; empty if there is none, or if it was not made with the salt."""
    key = id_in(message)
    return key if len(key) == 24 and key[16:] == _check(key[:16], salt) else ""


def _check(digits: str, salt: bytes) -> str:
    """Return the digits that only who has the salt can add."""
    return blake2b(digits.encode("ascii", "replace"), digest_size=4, key=salt, person=b"issued").hexdigest()
