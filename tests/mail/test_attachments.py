"""Text of attached documents: it counts as words, in both forms alike, and no document takes long or raises."""

import io
import time
import tracemalloc
import zipfile
import zlib

import pytest
from mail.test_hostile import encoded

from halfspace.mail import compiled, extraction
from halfspace.mail.attachments import attached_text
from halfspace.mail.message import Part
from halfspace.mail.one_shot import Late


def office(members, how=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(file := io.BytesIO(), "w", how) as document:
        for name, text in members.items():
            document.writestr(name, text)
    return file.getvalue()


def pdf(stream, packed=True, pages=1, kids=None):
    """Return a small PDF whose pages all show one content stream."""
    body = zlib.compress(stream, 9) if packed else stream
    kids = kids or " ".join(["3 0 R"] * pages)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids.encode(), pages),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        b"<< /Length %d %s>>\nstream\n" % (len(body), b"/Filter /FlateDecode " if packed else b"") + body + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for k, text in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (k, text)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 6\n0000000000 65535 f \n%strailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(out),
    )


TEXT = b"BT /F 12 Tf 72 700 Td (cheap pills) Tj ET"
DOCUMENTS = {
    "Word": office(
        {"word/document.xml": "<w:p><w:t>Che</w:t><w:t>ap</w:t></w:p><w:p><w:t>pills</w:t></w:p>", "word/media/a.png": "x"}
    ),
    "Excel": office({"xl/sharedStrings.xml": "<sst><si><t>cheap</t></si><si><t>pills</t></si></sst>"}),
    "PowerPoint": office({f"ppt/slides/slide{k}.xml": f"<a:t>{word}</a:t>" for k, word in ((1, "cheap"), (2, "pills"))}),
    "OpenDocument": office({"content.xml": "<text:p>cheap pills</text:p>"}),
    "PDF": pdf(TEXT),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_the_words_of_a_document_are_words_of_the_message(kind):
    """A message with nothing but a document has its words, whatever the document is called, in both forms of the extractor."""
    if kind == "PDF":
        pytest.importorskip("pypdfium2")
    mail = encoded(DOCUMENTS[kind], b"application/octet-stream")
    words = extraction.named_features(mail, groups=["words"]).values()
    assert {("words", "cheap"), ("words", "pills")} <= set(words)
    assert extraction.features(mail).tolist() == compiled.features(mail).tolist()


HOSTILE = {
    "an archive that unpacks to 100 MB": office({"word/document.xml": "<a>" * 33_000_000}),
    "one thousand slides": office({f"ppt/slides/slide{k}.xml": "<a:t>x</a:t>" for k in range(1_000)}),
    "another compression": office({"content.xml": "x" * 1000}, zipfile.ZIP_LZMA),
    "half an archive": DOCUMENTS["Word"][:-30],
    "a PDF whose stream unpacks to 100 MB": pdf(b"BT " * 33_000_000),
    "a PDF of text without end": pdf(TEXT * 40_000),
    "a page tree in a circle": pdf(TEXT, pages=9_999, kids="2 0 R 3 0 R"),
    "10,000 pages": pdf(TEXT, pages=10_000),
    "marks of streams": pdf(TEXT) + b"stream\n" * 20_000 + zlib.compress(bytes(10_000_000))[:-9],
    "brackets": pdf(b"[" * 200_000 + b"(" * 50_000, packed=False),
    "half a PDF": DOCUMENTS["PDF"][:-200],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_document_takes_long(name):
    """Broken and hostile documents take less than a second and 200 MB of this process, and raise nothing."""
    tracemalloc.start()
    began, waited = time.process_time(), time.perf_counter()
    text = attached_text(HOSTILE[name])
    assert time.process_time() - began < 1.0
    assert time.perf_counter() - waited < 10.0
    assert tracemalloc.get_traced_memory()[1] < 2e8
    tracemalloc.stop()
    assert len(text) <= 60_100


def test_few_documents_of_a_message_are_read():
    """Three Office documents, or one PDF, and no more, whatever a message has."""
    part = lambda body: Part(b"application/zip", "", b"base64", b"", b"", 1, body)  # noqa: E731
    many = [part(DOCUMENTS["Word"])] * 9
    assert [text != b"" for _, text in extraction.texts_in(many)] == [True] * 3
    assert len(extraction.texts_in([part(DOCUMENTS["PDF"])] * 4 + many)) == 1


def test_a_time_limit_is_not_swallowed(monkeypatch):
    """What says that time is up passes through the reader of documents."""

    def late(_):
        raise Late

    monkeypatch.setattr("halfspace.mail.attachments._office", late)
    with pytest.raises(Late):
        attached_text(DOCUMENTS["Word"])
