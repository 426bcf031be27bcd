"""Compiled features against those of the standard library, token by token."""

import pytest
from mail.example import message
from mail.test_hostile import BOMBS, MUTANTS, html, mutant

from halfspace.mail import compiled, extraction
from halfspace.mail.hashing import GROUPS

ODD = {
    "no header": b"come at ten, www.example.com/a and ://b.example/c\n",
    "our own field": b"X-Halfspace: ham\n id=0\nSubject: x\nx-halfspace: spam\n\nbody",
    "encoded names": b"From: =?utf-8?q?Gr=C3=BC=C3=9Fe?= Two <a1b2@x.co.uk>\nSubject: =?latin-1?b?5OQ=?=\n\n",
    "bytes in names": b"From: Gr\xc3\xbc\xc3\x9fe <A@B.example>\nTo: <@>, x@y, z@y\nCc:\nReply-To: nobody\n\n",
    "dates": b"Date: Wed, 3 Sept 02 9:05 -0130 (x)\nReceived: by b; 3 sep 1902 09:05:61 EST\nReceived: frz 31 Dec 69 1:00\n\n",
    "no date": b"Date: Wed, 3 Foo 2002 9:05:00\nReceived:\nReceived: from a\n\n",
    "path": b"Received: from [a] (b.c.de [10.1.2.3]) BY by WITH with; x\nReceived: from x.y. (1.2.3.4) with smtp; by\n\n",
    "numbers": b"Received: 172.31.0.1 172.032.0.1 192.168.1.1 192.0168.1.1 010.1.1.1\nX-Originating-IP: [127.0.0.1] 1.2.3\n\n",
    "verdicts": b"Authentication-Results: a; spf=pass (x) DKIM=Fail; auth=; foo=bar\nReceived-SPF: Neutral (y)\nReceived-SPF:\n"
    b"DKIM-Signature: v=1; d=Mail.Example.COM; s=d=x\nDKIM-Signature: a=b\n\n",
    "tags": html(b"<B>bo</b>ld<br/>x<bx></a\n>z<a\thref = 'http://u@h.example:81/p-q/r?s'>ftp://h.x/</A><a href=\"\">e</a>"),
    "marks": html(b"a<!-->b-->c<script>d</scrip></script>e<scripts>f<style x>g</STYLE>h< i<3 j<?k>l<!m>n</p"),
    "entities": html(b"&AMP;&nbspx;&#65;&#x41;&#201;&#215;&#0;&#8364&#x1f600;&#1114112;&#xd800;&copy;&foo;&;&#;&#x;&quot"),
    "links": html(b"<img src=http://1.2.3.4/x><form action=mailto:a@b><td background='HTTPS://bit.ly/1'>www. www.x ://"),
    "repeated links": html(b"<a href=http://a.example/>x</a>" * 30 + b"<a href=http://%d.example/>x</a>"),
    "many links": html(b"".join(b"<a href=http://%d.example/>x</a>" % k for k in range(40))),
}


def differences(raw):
    """Return the groups whose tokens differ."""
    plain, fast = extraction.buffers_of(raw), compiled.buffers_of(raw)
    tokens = zip(GROUPS, plain[0], fast[0], strict=False)
    return [group for group, a, b in tokens if set(a.split()) != set(b.split())] + ["bytes"] * (plain[1:] != fast[1:])


@pytest.mark.parametrize("name", ODD)
def test_odd_messages_have_the_same_tokens(name):
    """Both forms find the same tokens, in each group, where grammars are easily read in two ways."""
    assert differences(ODD[name]) == []
    assert extraction.features(ODD[name]).tolist() == compiled.features(ODD[name]).tolist()


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_have_the_same_tokens(name):
    """Limits on fields, words, links and bytes are the same in both forms."""
    assert differences(BOMBS[name]) == []


def test_mutants_have_the_same_tokens():
    """Both forms find the same tokens in structure-aware mutants of the example, and the same slots."""
    assert differences(message()) == []
    for seed in range(MUTANTS // 4):
        raw = mutant(10**6 + seed)
        assert differences(raw) == [], seed
        assert extraction.features(raw).tolist() == compiled.features(raw).tolist(), seed
