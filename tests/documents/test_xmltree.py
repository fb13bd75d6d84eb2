"""XML trees: exact offsets, and nothing a hostile file can do."""

import re
import socket
import time
from html import escape
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thoroughness import MAX_SECONDS, scaled
from whycite.documents.sources import DiskFolder, MemoryFolder, Source
from whycite.documents.xmltree import MAX_BYTES, MAX_DEPTH, Node, Tree, Walk, XmlText, load_tree, parse_tree, plain_text
from whycite.errors import UserError


def _texts(tree: Tree) -> list[XmlText]:
    assert tree.root is not None
    return [item for item, _ in Walk(tree.root) if isinstance(item, XmlText)]


def _load(data: bytes) -> Tree:
    return load_tree(Source(MemoryFolder({"a.xml": data}, ""), "a.xml"))


def test_every_text_knows_its_place() -> None:
    source = '<?xml version="1.0"?>\r\n<a>é𝛼&amp;b\r\nc<b x="1">&#233;<c/></b><![CDATA[x & y]]>&nbsp;z</a>\n'
    tree = parse_tree(source, "a.xml")
    assert tree.warnings == ()
    for text in _texts(tree):
        if text.exact:
            assert source[text.start : text.end] == text.text
    assert [(source[t.start : t.end], t.text) for t in _texts(tree) if not t.exact] == [
        ("&amp;", "&"),
        ("&#233;", "é"),
        ("&nbsp;", "\xa0"),
    ]
    assert plain_text(tree.root) == "é𝛼&b céx & y z"


def test_elements_know_their_range() -> None:
    source = "<a>é<b>1<c/><c></c></b><d/></a>"
    tree = parse_tree(source, "a.xml")
    assert tree.root is not None
    shown = [source[n.start : n.end] for n in (tree.root, *tree.root.descend("b", "c", "d"))]
    assert shown == [source, "<b>1<c/><c></c></b>", "<c/>", "<c></c>", "<d/>"]


def test_prefixes_are_dropped_and_plain_names_win() -> None:
    root = parse_tree('<x:a xmlns:x="u" x:id="2" id="1" xlink:href="h"/>', "a.xml").root
    assert root is not None
    assert (root.tag, root.get("id"), root.get("href")) == ("a", "1", "h")


def test_paths_and_descent() -> None:
    root = parse_tree("<a><b><c>1</c></b><b><c>2<d><c>3</c></d></c></b></a>", "a.xml").root
    assert root is not None
    assert plain_text(root.find("b", "c")) == "1"
    assert root.find("b", "x", "c") is None
    assert [plain_text(node) for node in root.descend("c")] == ["1", "23", "3"]
    assert [plain_text(node) for node in root.descend("c", skip=("d",))] == ["1", "23"]
    assert plain_text(root, skip=("d",)) == "12"


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), st.booleans()), max_size=12))
def test_any_text_comes_back_from_its_offsets(parts: list[tuple[str, bool]]) -> None:
    parts = [(re.sub("[\x00-\x1f\ud800-\udfff\ufffe\uffff]", " ", text), nested) for text, nested in parts]
    inside = "".join(f"<b>{escape(text)}</b>" if nested else escape(text) for text, nested in parts)
    source = f"<a>{inside}</a>"
    tree = parse_tree(source, "a.xml")
    assert tree.warnings == ()
    found = _texts(tree)
    assert "".join(text.text for text in found) == "".join(text for text, _ in parts)
    assert all(source[text.start : text.end] == text.text for text in found if text.exact)


@settings(deadline=None)
@given(st.text(alphabet="<>/&;!?-[]a \"'=\n#x1\x00é", max_size=60))
def test_no_text_whatever_raises(text: str) -> None:
    parse_tree(text, "a.xml")
    parse_tree(f"<a>{text}</a>", "a.xml")


def test_a_truncated_file_gives_what_was_read_and_says_where() -> None:
    tree = parse_tree("<a>\n<p>One.</p>\n<p>Two", "cut.xml")
    assert tree.root is not None
    assert [plain_text(node) for node in tree.root.find_all("p")] == ["One.", "Two"]
    assert len(tree.warnings) == 1
    assert tree.warnings[0].startswith("cut.xml:3: broken XML")


def test_a_mismatched_tag_keeps_what_came_before() -> None:
    tree = parse_tree("<a><p>One</p><p>Two</q></a>", "bad.xml")
    assert plain_text(tree.root) == "OneTwo"
    assert "bad.xml:1: broken XML (mismatched tag)" in tree.warnings[0]


def test_characters_that_xml_forbids_become_spaces() -> None:
    tree = parse_tree("<a>one\x0btwo\x00</a>", "a.xml")
    assert tree.warnings == ()
    assert plain_text(tree.root) == "one two"


@pytest.mark.parametrize(
    ("data", "text", "warned"),
    [
        ("<a>é</a>".encode(), "é", False),
        ("\ufeff<a>é</a>".encode(), "é", False),
        ("<a>é</a>".encode("utf-16"), "é", False),
        ('<?xml version="1.0" encoding="ISO-8859-15"?><a>\u20ac</a>'.encode("iso-8859-15"), "€", False),
        ('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'.encode(), "é", False),
        ('<?xml version="1.0" encoding="UTF-8"?><a>é</a>'.encode("latin-1"), "é", True),
        ('<?xml version="1.0" encoding="us-ascii"?><a>x\xe9</a>'.encode("latin-1"), "x�", True),
        (b'<?xml version="1.0" encoding="no-such"?><a>\xe9</a>', "é", True),
        ('<?xml version="1.0" encoding="UTF-16"?><a>é</a>'.encode(), "é", False),
    ],
)
def test_encodings(data: bytes, text: str, warned: bool) -> None:
    tree = _load(data)
    assert plain_text(tree.root) == text
    assert bool(tree.warnings) is warned
    assert not warned or tree.warnings[0].startswith("a.xml:1: not ")


_LAUGHS = '<!ENTITY l0 "lol">' + "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
_HOSTILE = {
    "nothing is expanded": (f"<!DOCTYPE a [{_LAUGHS}]><a>x&l9;y</a>", "xy"),
    "nor in attributes": (f'<!DOCTYPE a [{_LAUGHS}]><a b="&l9;">x</a>', "x"),
    "quadratic": (f'<!DOCTYPE a [<!ENTITY x "{"y" * scaled(100_000)}">]><a>{"&x;" * scaled(100_000)}</a>', ""),
    "a declaration with brackets and quotes": (
        '<!DOCTYPE a [<!ENTITY b "]>\'"><!-- ]> " --><?pi ]> ?>]><a>x</a>',
        "x",
    ),
    "a second declaration": (f'<!DOCTYPE a><!DOCTYPE a [{_LAUGHS}]><a b="&l9;">&l9;</a>', ""),
    "standalone": ('<?xml version="1.0" standalone="yes"?><!DOCTYPE a><a>x&alpha;</a>', "xα"),
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_entities_of_the_file_are_never_expanded(name: str) -> None:
    source, text = _HOSTILE[name]
    began = time.process_time()
    tree = parse_tree(source, "a.xml")
    assert time.process_time() - began < MAX_SECONDS
    assert plain_text(tree.root) == text


def test_files_named_by_the_document_are_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "socket", refuse)
    (tmp_path / "secret.txt").write_text("SECRET")
    (tmp_path / "a.xml").write_text(
        f'<!DOCTYPE a SYSTEM "http://example.org/x.dtd" [<!ENTITY x SYSTEM "file://{tmp_path}/secret.txt">'
        '<!ENTITY p SYSTEM "file:///etc/passwd"><!ENTITY % r SYSTEM "secret.txt"> %r;]>'
        "<a>before &x; &p; after</a>"
    )
    tree = load_tree(Source(DiskFolder(tmp_path), "a.xml"))
    assert plain_text(tree.root) == "before after"
    assert tree.warnings
    assert "&p;, &x;" in tree.warnings[0]


@pytest.mark.parametrize(
    "source",
    [
        "<a>" * scaled(1_000_000),
        "<a>" * scaled(1_000_000) + "x" + "</a>" * scaled(1_000_000),
        "<r>" + "<a/>" * scaled(4_000_000) + "</r>",
        "<r>" + "&lt;" * scaled(2_000_000) + "</r>",
        "<?xml ?>" * scaled(100_000),
        "<?xml " * scaled(200_000),
        "<!DOCTYPE a [" + "<!--" * scaled(250_000),
        "<!DOCTYPE a [" + "\"'" * scaled(500_000),
        "<!--" * scaled(250_000),
        "<a " + " ".join(f'x{n}="1"' for n in range(scaled(100_000))) + "/>",
        "<r>" + "x\n" * scaled(500_000) + "é</r>",
    ],
    ids=lambda source: source[:12],
)
def test_nothing_takes_long(source: str) -> None:
    began = time.process_time()
    tree = parse_tree(source, "big.xml")
    assert time.process_time() - began < MAX_SECONDS
    assert tree.warnings or tree.root is not None
    assert all(re.match(r"big\.xml:\d+: ", warning) for warning in tree.warnings)


def test_depth_is_limited_and_said() -> None:
    source = "\n<a>" * (MAX_DEPTH + 1)
    assert (
        f"big.xml:{MAX_DEPTH + 2}: elements nested deeper than {MAX_DEPTH}" in parse_tree(source, "big.xml").warnings[0]
    )
    deepest = parse_tree("<a>" * MAX_DEPTH + "x" + "</a>" * MAX_DEPTH, "ok.xml")
    assert deepest.warnings == ()
    assert plain_text(deepest.root) == "x"


def test_a_file_too_large_is_refused() -> None:
    with pytest.raises(UserError, match=r"a\.xml: larger than \d+ MB"):
        _load(b" " * (MAX_BYTES + 1))


def test_an_empty_file_has_no_root() -> None:
    tree = _load(b"")
    assert tree.root is None
    assert tree.warnings[0].startswith("a.xml:1: broken XML")


def test_a_walk_can_leave_elements_out() -> None:
    root = parse_tree("<a>1<b>2</b>3</a>", "a.xml").root
    assert root is not None
    walk, seen = Walk(root), []
    for item, opening in walk:
        if isinstance(item, Node) and item.tag == "b":
            walk.skip()
        elif isinstance(item, XmlText):
            seen.append(item.text)
        else:
            seen.append(f"{'' if opening else '/'}{item.tag}")
    assert seen == ["a", "1", "3", "/a"]


def test_elements_to_skip_leave_no_trace_and_move_nothing() -> None:
    text = "<a>one<b x='1'>no <c/> &nbsp;<b/></b> two<b/><d>three</d></a>"
    root = parse_tree(text, "", {"b"}).root
    assert root is not None
    assert [child if isinstance(child, XmlText) else child.tag for child in root.children] == [
        XmlText("one", 3, 6),
        XmlText(" two", text.index(" two"), text.index("<b/><d>")),
        "d",
    ]
    assert text[root.children[-1].start : root.children[-1].end] == "<d>three</d>"
    text = "<a><c><b/></c><c/><d/></a>"
    nodes = parse_tree(text, "", {"b"}).root
    assert nodes is not None
    assert [text[node.start : node.end] for node in nodes.children] == ["<c><b/></c>", "<c/>", "<d/>"]
