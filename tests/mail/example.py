"""A message like that of the lectures, written anew: nine Received lines, two SPF verdicts, Sender unlike From, two parts."""

HOPS = (
    ("mx3.example.org", "store.example.org", "[10.0.0.7]", "LMTPS"),
    ("mx3.example.org", "spool.example.org", "[10.0.0.4]", "ESMTP"),
    ("filter.example.org", "mx3.example.org", "[127.0.0.1]", "ESMTP"),
    ("relay.college.example.edu", "filter.example.org", "[192.0.2.33]", "ESMTPS"),
    ("list.college.example.edu", "relay.college.example.edu", "[192.0.2.20]", "ESMTP"),
    ("inbound.college.example.edu", "list.college.example.edu", "[192.0.2.5]", "ESMTPS"),
    ("out7.bulk.example.com", "inbound.college.example.edu", "[198.51.100.77]", "ESMTPS"),
    ("worker.bulk.example.com", "out7.bulk.example.com", "[10.8.1.9]", "HTTP"),
    ("dsl-17", "worker.bulk.example.com", "[203.0.113.200]", "ESMTP"),
)
"""From the last hop to the first: who handed over, to whom, from which number, how."""


def message() -> bytes:
    lines = ["Return-Path: <bounce-4711@bulk.example.com>", "Delivered-To: student@example.org"]
    for k, (source, by, number, how) in enumerate(HOPS):
        name = f"{source} {number}" if k < 8 else number  # the first sender has no name
        lines += [
            f"Received: from {source} ({name})",
            f"\tby {by} with {how} id q{k};",
            f"\tTue, 3 Jun 2014 14:{20 - k}:09 +0200",
        ]
    lines += [
        "Received-SPF: pass (relay.college.example.edu: domain of list.college.example.edu designates 192.0.2.33)",
        "Authentication-Results: inbound.college.example.edu; spf=softfail smtp.mailfrom=bulk.example.com; dkim=none",
        "From: =?iso-8859-1?Q?Pr=FCfungsamt?= <office@college.example.edu>",
        "Sender: campaign@bulk.example.com",
        "Reply-To: answers@other.example.net",
        "To: student@example.org",
        "Subject: =?utf-8?B?" + "V2ljaHRpZ2U=" + "?= dates",
        "Date: Tue, 3 Jun 2014 14:11:30 +0200",
        "Message-ID: <4711@bulk.example.com>",
        "MIME-Version: 1.0",
        'Content-Type: multipart/alternative; boundary="=_b1"',
        "",
        "This is a message in several parts.",
        "--=_b1",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: quoted-printable",
        "",
        "Register before the tenth: http://bit.ly/abc Gr=C3=BC=C3=9Fe",
        "--=_b1",
        "Content-Type: text/html; charset=utf-8",
        "",
        '<p>Register <b>be</b>fore: <a href="http://198.51.100.9/x">www.college.example.edu</a><!-- end',
        "--=_b1--",
        "",
    ]
    return "\r\n".join(lines).encode()
