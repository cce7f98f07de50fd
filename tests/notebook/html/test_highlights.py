import re

from hypothesis import given
from hypothesis import strategies as st

from carrel.notebook.html.markdown import to_marked_html
from carrel.store.documents.boxes import TextPassage
from carrel.store.documents.marks import TextMark, mark_text


def test_marks_go_around_text_alone_and_never_into_a_tag() -> None:
    text = "# Term\n\nthe **notice period**, see [site](https://a.example/notice 'notice')"
    marks = [
        TextMark(0, match.start(), match.end(), "hit", match[0])
        for match in re.finditer("notice", text)
    ]
    html = to_marked_html(mark_text(TextPassage(text, 0, None), marks, marks[0]))
    assert '<strong><mark class="chosen">notice</mark> period</strong>' in html
    assert 'href="https://a.example/notice"' in html
    assert html.count("<mark") == 1, "the address and the title stay as they are"


@given(st.text(alphabet="ab <>&\"'*_`[]()|#\n\u2061\u2064"), st.data())
def test_marking_changes_nothing_but_the_marks(text: str, data: st.DataObject) -> None:
    ends = st.integers(0, len(text))
    start, end = sorted((data.draw(ends), data.draw(ends)))
    passage = TextPassage(text, 0, None)
    html = to_marked_html(mark_text(passage, [TextMark(0, start, end, "doubtful", "")], None))
    assert html.count("<mark ") == html.count("</mark>")
    assert not {"\u2061", "\u2064"} & {*html}
