"""PDF files that are broken or made to do harm: each a clear error or warning, within 5 s and 1 GiB."""

import resource
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.thoroughness import examples
from whycite.documents.model import Document
from whycite.documents.pdf import READER
from whycite.errors import UserError

Read = Callable[..., list[Document]]
CATALOGUE = b"<</Type/Catalog/Pages 2 0 R>>"
PAGES = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>"
HELLO = b"BT /F1 10 Tf 72 700 Td (Hello world, this is a short text that can be read.) Tj ET"


def pdf(objects: list[bytes], trailer: bytes = b"") -> bytes:
    """A file of these objects, numbered from 1."""
    parts, places, at = [b"%PDF-1.7\n"], [], 9
    for number, body in enumerate(objects, 1):
        places.append(at)
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (number, body))
        at += len(parts[-1])
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    parts += [b"%010d 00000 n \n" % place for place in places]
    parts.append(b"trailer\n<</Size %d/Root 1 0 R%b>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, at))
    return b"".join(parts)


def page(content: bytes, filters: bytes = b"", box: bytes = b"[0 0 612 792]", extra: bytes = b"") -> bytes:
    """A file of one page."""
    resources = b"<</Font<</F1 5 0 R>>>>"
    sheet = b"<</Type/Page/Parent 2 0 R/MediaBox%b/Contents 4 0 R/Resources%b%b>>" % (box, resources, extra)
    return pdf([CATALOGUE, PAGES, sheet, stream(content, filters), FONT])


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<<%b/Length %d>>\nstream\n%b\nendstream" % (entries, len(content), content)


def deflated(chunk: bytes, times: int) -> bytes:
    """A stream that inflates to `times` the chunk, without packing it more than once."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(chunk) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x78\xda" + block * times + b"\x03\x00"


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """For files that a free machine reads in a second: a busy one may take longer, and is not given up on."""
    monkeypatch.setattr("whycite.documents.pdf.MAX_SILENT_SECONDS", 60.0)


@contextmanager
def within_limits() -> Iterator[None]:
    begun, before = time.monotonic(), _largest_child()
    yield
    assert time.monotonic() - begun < 25
    # Other tests have children too, and a child counts what this process had when it was started.
    assert _largest_child() <= max(before, 1 << 20, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _largest_child() -> int:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # in KiB


def outcome(read_bytes: Read, data: bytes) -> str:
    """The error or the warnings, in one string; "" where all is well."""
    with within_limits():
        try:
            (document,) = read_bytes(READER, data, "paper.pdf")
        except UserError as error:
            return str(error)
        return " ".join(document.warnings)


@pytest.mark.usefixtures("unhurried")
def test_a_good_page_is_read(read_bytes: Read) -> None:
    (document,) = read_bytes(READER, page(HELLO), "paper.pdf")
    assert [sentence.text for sentence in document.sentences] == ["Hello world, this is a short text that can be read."]
    assert document.warnings == ()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "the file is empty"),
        (b"just some words, no PDF" * 50, "not a PDF"),
        (b"%PDF-1.4\n", "the PDF is damaged or incomplete"),
        (b"%PDF-1.4\n" + bytes(range(256)) * 2000, "the PDF is damaged or incomplete"),
        (page(HELLO)[:300], "the PDF is damaged or incomplete"),
    ],
    ids=["empty", "no pdf", "only a head", "garbage", "truncated"],
)
def test_files_that_are_no_pdf(read_bytes: Read, data: bytes, says: str) -> None:
    assert outcome(read_bytes, data).startswith(f"paper.pdf: {says}")


def test_an_encrypted_file_is_refused_plainly(read_bytes: Read) -> None:
    lock = b"<</Filter/Standard/V 1/R 2/O<%b>/U<%b>/P -4>>" % (b"ab" * 32, b"cd" * 32)
    data = pdf([CATALOGUE, PAGES, b"<</Type/Page/Parent 2 0 R>>", lock], b"/Encrypt 4 0 R/ID[<00><00>]")
    assert outcome(read_bytes, data) == "paper.pdf: the PDF is encrypted; remove its password first"


@pytest.mark.usefixtures("unhurried")
def test_a_million_objects(read_bytes: Read) -> None:
    sheet = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>"
    data = pdf([CATALOGUE, PAGES, sheet, *[b"<<>>"] * 1_000_000])
    assert "no text layer" in outcome(read_bytes, data)
    unlisted = b"%PDF-1.4\n" + b"".join(b"%d 0 obj<<>>endobj " % n for n in range(1_000_000))
    assert "damaged or incomplete" in outcome(read_bytes, unlisted)


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize(
    "data",
    [
        page(HELLO, extra=b"/X " + b"[" * 200_000 + b"]" * 200_000),
        page(HELLO, extra=b"/X " + b"<</A " * 100_000 + b"1" + b">>" * 100_000),
        page(b"q " * 500_000 + HELLO),
        page(b"[" * 300_000 + b"]" * 300_000 + HELLO),
    ],
    ids=["arrays", "dictionaries", "states", "operands"],
)
def test_deep_nesting(read_bytes: Read, data: bytes) -> None:
    said = outcome(read_bytes, data)
    assert not said or said.startswith("paper.pdf: no text layer; ")


@pytest.mark.usefixtures("unhurried")
def test_a_page_tree_in_a_loop(read_bytes: Read) -> None:
    loop = pdf([CATALOGUE, b"<</Type/Pages/Kids[2 0 R 3 0 R]/Count 2>>", b"<</Type/Pages/Kids[2 0 R]/Count 5>>"])
    assert "could not be read" in outcome(read_bytes, loop)
    claims = pdf(
        [CATALOGUE, b"<</Type/Pages/Kids[3 0 R]/Count 1000000>>", b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000000>>"]
    )
    assert "only the first 1000 of 1000000 pages" in outcome(read_bytes, claims)


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("box", [b"[0 0 1000000000 1000000000]", b"[0 0 1e38 -1e38]", b"[100 100 100 100]"])
def test_absurd_page_sizes(read_bytes: Read, box: bytes) -> None:
    assert outcome(read_bytes, page(HELLO, box=box)) == ""


@pytest.mark.parametrize(
    ("data", "filters"),
    [
        (deflated(b" " * (1 << 20), 3000), b"/Filter/FlateDecode"),
        (zlib.compress(deflated(b" " * (1 << 20), 3000), 9), b"/Filter[/FlateDecode/FlateDecode]"),
        (deflated(HELLO * 10_000, 300), b"/Filter/FlateDecode"),
        (deflated(b"0 0 m 100 100 l S\n" * 10_000, 300), b"/Filter/FlateDecode"),
    ],
    ids=["spaces", "twice packed", "text", "paths"],
)
def test_streams_that_inflate_to_gigabytes(read_bytes: Read, data: bytes, filters: bytes) -> None:
    assert outcome(read_bytes, page(data, filters)).startswith("paper.pdf: ")


def test_forms_that_call_each_other(read_bytes: Read) -> None:
    def form(number: int) -> bytes:
        head = b"/Type/XObject/Subtype/Form/BBox[0 0 600 700]/Resources<</XObject<</X %d 0 R>>/Font<</F1 5 0 R>>>>"
        return stream(b"/X Do " * 20 + HELLO, head % number)

    sheet = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</XObject<</X 6 0 R>>>>>>"
    forms = [form(number) for number in range(7, 17)]
    data = pdf([CATALOGUE, PAGES, sheet, stream(b"/X Do " * 20), FONT, *forms, stream(HELLO, b"/Subtype/Form")])
    said = outcome(read_bytes, data)
    assert "memory" in said or "gave up after" in said or "could not be read" in said


@pytest.mark.usefixtures("unhurried")
def test_ten_thousand_empty_pages(read_bytes: Read) -> None:
    kids = b" ".join(b"%d 0 R" % n for n in range(3, 10_003))
    sheets = [b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>"] * 10_000
    said = outcome(read_bytes, pdf([CATALOGUE, b"<</Type/Pages/Kids[%b]/Count 10000>>" % kids, *sheets]))
    assert "only the first 1000 of 10000 pages were read (the document is too long)" in said


@pytest.mark.parametrize(
    "content",
    [
        b"BT /F1 1 Tf " + b" ".join(b"1 0 0 1 %d %d Tm (a) Tj" % (n * 7 % 600, n * 13 % 790) for n in range(30_000)),
        b"BT /F1 1 Tf " + b" ".join(b"1 0 0 1 %.3f 300 Tm (ab) Tj" % (n * 0.01) for n in range(50_000)),
        b"BT /F1 10 Tf 72 700 Td " + b"0 -0.05 Td (1 Introduction) Tj " * 8_000,
    ],
    ids=["scattered", "on one line", "one over the other"],
)
def test_letters_strewn_over_a_page(read_bytes: Read, content: bytes) -> None:
    said = outcome(read_bytes, page(content + b" ET"))
    assert said == "" or said.startswith("paper.pdf: ")


@given(st.data())
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_changed_at_random(read_bytes: Read, data: st.DataObject) -> None:
    damaged = bytearray(page(HELLO + b" " + HELLO.replace(b"700", b"680")))
    for _ in range(data.draw(st.integers(1, 12))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at : at + data.draw(st.integers(0, 6))] = data.draw(st.binary(max_size=8))
    outcome(read_bytes, bytes(damaged))


def test_the_reader_works_after_all_that(read_bytes: Read) -> None:
    outcome(read_bytes, page(deflated(b" " * (1 << 20), 3000), b"/Filter/FlateDecode"))
    (document,) = read_bytes(READER, page(HELLO), "paper.pdf")
    assert len(document.sentences) == 1
