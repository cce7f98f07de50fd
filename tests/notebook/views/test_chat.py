import pytest
from playwright.sync_api import Page, expect

from support.views import EVIL, chat_state, kernel, mount, sent, turn

# The kernel's answer to the view that asked for a page: a picture.
PICTURE = """async () => {
  const canvas = new OffscreenCanvas(100, 140);
  canvas.getContext('2d').fillRect(0, 0, 100, 140);
  const bytes = await (await canvas.convertToBlob()).arrayBuffer();
  const asked = model.sent.findLast((one) => one.name === 'page');
  model.emit('msg:custom', { kind: 'done', result: null, rid: asked.rid, to: asked.view }, [bytes]);
}"""

pytestmark = pytest.mark.xdist_group("browser")


def test_an_answer_grows_by_blocks_and_keeps_those_before(page: Page) -> None:
    mount(page, "chat", chat_state(turn(0, "user", ["<p>Hi</p>"]), turn(1, "assistant", None)))
    delta = {"kind": "delta", "session": "s1", "turn": 1}
    kernel(page, "message", {**delta, "from": 0, "blocks": ["<p>One</p>", "<p>Tw</p>"]})
    page.evaluate("window.kept = document.querySelectorAll('.carrel-turn')[1].querySelector('p')")
    kernel(page, "message", {**delta, "from": 1, "blocks": ["<p>Two</p>", "<p>Three</p>"]})
    expect(page.locator(".carrel-turn").nth(1).locator(".carrel-text")).to_have_text("OneTwoThree")
    assert page.evaluate("window.kept.isConnected")
    kernel(page, "message", {**delta, "session": "other", "from": 0, "blocks": []})
    expect(page.locator(".carrel-turn").nth(1).locator(".carrel-text")).to_have_text("OneTwoThree")


def test_a_new_chat_can_be_typed_into_at_once(page: Page) -> None:
    mount(page, "chat", chat_state(session=None))
    page.get_by_role("button", name="New", exact=True).press("Enter")
    kernel(page, "answer", "begin", {"kind": "done"})
    kernel(page, "state", chat_state())
    expect(page.get_by_label("Message")).to_be_focused()


def test_a_chat_that_another_place_began_can_be_typed_into_at_once(page: Page) -> None:
    mount(page, "chat", chat_state(session=None))
    page.evaluate("document.querySelector('.carrel').dispatchEvent(new Event('carrel:arrive'))")
    kernel(page, "state", chat_state())
    expect(page.get_by_label("Message")).to_be_focused()


def test_a_source_without_a_picture_says_so_beside_its_words(page: Page) -> None:
    source = {"id": 1, "label": "[1] lease.txt p.1", "title": "Source 1", "snippet": "Three."}
    source |= {"box": None, "cited": True}
    answer = turn(0, "assistant", ["<p>Three.</p>"], sources=[source], sources_title="Sources")
    mount(page, "chat", chat_state(answer))
    page.get_by_role("button", name="[1] lease.txt p.1").click()
    problem = {"title": "No picture of this page", "detail": "No picture of a text.", "advice": ""}
    kernel(page, "answer", "page", {"kind": "error", "problem": problem})
    pane = page.get_by_role("complementary", name="Source")
    expect(pane).to_contain_text("No picture of a text.")
    expect(pane).to_contain_text("Three.")
    expect(page.locator(".carrel-problem")).to_be_hidden()


@pytest.mark.parametrize(
    "last", ["<p>One <strong>and</strong> tw</p>", "<pre><code>tw</code></pre>"]
)
def test_what_is_selected_in_a_growing_block_stays_selected(page: Page, last: str) -> None:
    mount(page, "chat", chat_state(turn(0, "user", ["<p>Hi</p>"]), turn(1, "assistant", None)))
    delta = {"kind": "delta", "session": "s1", "turn": 1, "from": 0}
    kernel(page, "message", {**delta, "blocks": [last]})
    page.evaluate("""() => {
      const text = document.querySelectorAll('.carrel-turn')[1].querySelector('.carrel-text');
      getSelection().selectAllChildren(text.firstElementChild);
    }""")
    selected = page.evaluate("String(getSelection())")
    assert selected.strip().endswith("tw")
    grown = last.replace("tw", "two [1] and three")
    kernel(page, "message", {**delta, "blocks": [grown]})
    kernel(page, "message", {**delta, "blocks": [grown, "<p>more</p>"]})
    assert page.evaluate("String(getSelection())").strip().startswith(selected.strip())
    source = {
        "id": 1,
        "label": "[1] a.pdf",
        "title": "a.pdf",
        "snippet": "",
        "cited": True,
        "box": None,
    }
    done = turn(1, "assistant", [grown, "<p>more</p>"], sources=[source])
    kernel(page, "state", chat_state(turn(0, "user", ["<p>Hi</p>"]), done))
    assert page.evaluate("String(getSelection())").strip().startswith(selected.strip())


def test_the_transcript_follows_only_a_reader_at_its_end(page: Page) -> None:
    long = ["<p>line</p>"] * 60
    mount(page, "chat", chat_state(turn(0, "user", long), turn(1, "assistant", None)))
    bottom = """() => {
      const log = document.querySelector('.carrel-log');
      return log.scrollHeight - log.scrollTop - log.clientHeight < 5;
    }"""
    delta = {"kind": "delta", "session": "s1", "turn": 1, "from": 0}
    kernel(page, "message", {**delta, "blocks": long})
    assert page.evaluate(bottom)
    page.evaluate("document.querySelector('.carrel-log').scrollTop = 0")
    page.wait_for_function("document.querySelector('.carrel-log').scrollTop === 0")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    kernel(page, "message", {**delta, "blocks": long * 2})
    assert not page.evaluate(bottom)


def test_stop_is_there_from_the_moment_of_sending(page: Page) -> None:
    mount(page, "chat", chat_state())
    page.get_by_role("textbox", name="Message").fill("How long?")
    page.keyboard.press("Enter")
    [question] = sent(page, "send")
    assert (question["args"], question["of"]) == ({"text": "How long?"}, "s1")
    kernel(page, "answer", "send", {})
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")
    kernel(page, "state", {"busy": True, "phase": "◐ support v1: waiting for the model …"})
    expect(page.get_by_text("waiting for the model")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    assert len(sent(page, "stop")) == 1


def test_what_was_not_sent_stays_in_the_field(page: Page) -> None:
    mount(page, "chat", chat_state())
    page.get_by_role("textbox", name="Message").fill("How long?")
    page.keyboard.press("Enter")
    problem = {"title": "The connection failed", "detail": "", "advice": None}
    kernel(page, "answer", "send", {"kind": "error", "problem": problem})
    expect(page.get_by_role("textbox", name="Message")).to_have_value("How long?")


def test_a_source_opens_beside_the_answer(page: Page) -> None:
    source = {"id": 1, "label": "[1] lease.pdf p.7", "title": "Source 1 · lease.pdf p. 7"}
    source |= {"snippet": EVIL, "cited": True, "box": [10, 40, 80, 10]}
    mount(page, "chat", chat_state(turn(0, "assistant", ["<p>x</p>"], sources=[source])))
    page.get_by_role("button", name="[1] lease.pdf p.7").click()
    expect(page.get_by_role("complementary", name="Source")).to_contain_text(EVIL)
    page.get_by_role("button", name="Full page").click()
    assert sent(page, "open")[0]["args"] == {"turn": 0, "source": 1}
    assert sent(page, "page")[0]["args"] == {"turn": 0, "source": 1}
    page.evaluate(PICTURE)
    frame = page.locator(".carrel-frame")
    expect(frame).to_be_visible()
    sheet, place = page.locator(".carrel-sheet").bounding_box(), frame.bounding_box()
    assert sheet and place
    assert abs(place["x"] - sheet["x"] - 0.1 * sheet["width"]) < 2
    assert abs(place["y"] - sheet["y"] - 0.4 * sheet["height"]) < 2
    page.get_by_role("textbox", name="Message").fill("And who pays?")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("complementary", name="Source")).to_be_hidden()


def test_shift_enter_breaks_the_line_and_sends_nothing(page: Page) -> None:
    mount(page, "chat", chat_state())
    page.get_by_role("textbox", name="Message").fill("One")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Two")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("One\nTwo")
    assert sent(page, "send") == []


def test_a_retried_answer_begins_empty(page: Page) -> None:
    mount(page, "chat", chat_state(turn(0, "assistant", ["<p>Old</p>"])))
    kernel(page, "state", {"turns": [turn(0, "assistant", None)], "busy": True})
    expect(page.locator(".carrel-turn .carrel-text")).to_be_empty()


def test_numbers_of_sources_are_links_only_where_they_are_there(page: Page) -> None:
    source = {"id": 1, "label": "[1] a.pdf", "title": "Source 1 · a.pdf", "cited": True}
    source |= {"snippet": "three months", "box": None}
    text = ["<p>Three [1] months [2], <code>x[1]</code>.</p>"]
    answer = turn(0, "assistant", text, sources=[source], sources_title="Sources")
    mount(page, "chat", chat_state(answer))
    cites = page.locator(".carrel-cite")
    expect(cites).to_have_text(["[1]"])
    expect(page.locator(".carrel-text")).to_have_text("Three [1] months [2], x[1].")
    cites.click()
    expect(page.get_by_role("complementary", name="Source")).to_contain_text("three months")


def test_variants_are_gone_through_and_questions_taken_up_again(page: Page) -> None:
    question, answer = turn(0, "user", ["<p>Why?</p>"]), turn(1, "assistant", ["<p>So.</p>"])
    mount(page, "chat", chat_state(question, {**answer, "variant": [2, 2]}))
    expect(page.locator(".carrel-turn .variants:visible")).to_have_count(1)
    page.get_by_role("button", name="Next variant").click()
    assert sent(page, "variant")[0]["args"] == {"turn": 1, "number": 1}
    page.get_by_role("button", name="Edit").click()
    kernel(page, "answer", "edit", {"result": "Why?"})
    expect(page.get_by_role("textbox", name="Message")).to_have_value("Why?")
    kernel(page, "state", {"editing": 0})
    expect(page.get_by_text("Edit question")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    assert sent(page, "edit")[1]["args"] == {"turn": None}


def test_a_call_says_where_its_result_is_written(page: Page) -> None:
    calls = ['weather(city="Paris")']
    answer = turn(1, "assistant", [], calls=calls)
    mount(page, "chat", chat_state(answer, prompt=f"Result of {calls[0]}"))
    expect(page.get_by_text('calls weather(city="Paris")')).to_be_visible()
    expect(page.get_by_text('Result of weather(city="Paris")')).to_be_visible()
    expect(page.get_by_placeholder("What the function returned")).to_be_visible()
    kernel(page, "state", {"prompt": ""})
    expect(page.get_by_placeholder("Ask something.")).to_be_visible()


def test_names_are_offered_after_an_at_sign_and_written_out(page: Page) -> None:
    mount(page, "chat", chat_state())
    field = page.get_by_role("textbox", name="Message")
    field.press_sequentially("See @le")
    page.wait_for_function("model.sent.filter((one) => one.name === 'names').length === 3")
    one = {"id": "f1", "kind": "file", "name": "lease 1.pdf", "library": None}
    two = {"id": "f2", "kind": "file", "name": "lease 2.pdf", "library": None}
    names = [{**each, "mention": f'@"{each["name"]}"'} for each in (one, two)]
    kernel(page, "answer", "names", {"result": names})
    expect(page.get_by_role("option", name="lease 1.pdf")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(field).to_have_value('See @"lease 2.pdf" ')
    assert sent(page, "attach_known")[0]["args"]["id"] == "f2"
    assert sent(page, "send") == []
    kernel(page, "state", {"attached": [names[1]]})
    page.get_by_role("button", name="Take away lease 2.pdf").click()
    assert sent(page, "detach")[0]["args"] == {"id": "f2"}


def test_the_arrows_bring_back_what_was_asked(page: Page) -> None:
    mount(page, "chat", chat_state(history=["One?", "Two?"]))
    field = page.get_by_role("textbox", name="Message")
    field.fill("Unsent")
    for key, shown in (
        ("ArrowUp", "Two?"), ("ArrowUp", "One?"), ("ArrowUp", "One?"), ("ArrowDown", "Two?"),
        ("ArrowDown", "Unsent"),
    ):  # fmt: skip
        field.press(key)
        expect(field).to_have_value(shown)


def test_only_the_beginning_and_the_end_of_an_answer_are_announced(page: Page) -> None:
    mount(page, "chat", chat_state(turn(0, "user", ["<p>Why?</p>"])))
    news = page.locator("[aria-live=polite].carrel-news")
    heard = "window.heard = []; new MutationObserver(() => heard.push(news.textContent))"
    page.evaluate(
        f"const news = document.querySelector('.carrel-news'); {heard}"
        ".observe(news, { childList: true, characterData: true, subtree: true })"
    )
    kernel(page, "state", {"busy": True, "phase": "◐ support v1: loading …"})
    for second in range(5):
        kernel(page, "state", {"phase": f"◐ support v1: writing … {second} s"})
    expect(page.get_by_text("writing … 4 s")).to_be_visible()
    assert page.locator("[aria-live] >> text=writing").count() == 0
    kernel(page, "state", {"busy": False, "phase": "", "turns": [turn(0, "assistant", [])]})
    expect(news).to_have_text("assistant has answered.")
    assert page.evaluate("heard") == ["support v1 is answering.", "assistant has answered."]


def test_another_version_is_chosen_on_the_spot(page: Page) -> None:
    mount(page, "chat", chat_state())
    page.get_by_label("Answered by").select_option("support v0")
    assert sent(page, "choose")[0]["args"] == {"agent": "a1", "version": 0}
    page.get_by_label("Answered by").select_option("support, active (v1)")
    assert sent(page, "choose")[1]["args"] == {"agent": "a1", "version": None}


def test_another_model_is_chosen_on_the_spot(page: Page) -> None:
    mount(page, "chat", chat_state())
    model = page.get_by_label("Model of the next answers")
    expect(model).to_have_value("")
    model.select_option("small")
    assert sent(page, "model")[0]["args"] == {"model": "small"}
    # A model that the service does not list stays chosen.
    parameters = {**chat_state()["parameters"], "model": "rare"}
    kernel(page, "state", {"parameters": parameters})
    expect(model).to_have_value("rare")
    assert model.locator("option").all_inner_texts() == ["large", "small", "rare"]


def test_parameters_and_exports(page: Page) -> None:
    mount(page, "chat", chat_state(turn(0, "user", ["<p>Why?</p>"])))
    page.get_by_role("button", name="More").click()
    page.get_by_label("Temperature").fill("0.2")
    page.get_by_role("button", name="Apply").click()
    assert sent(page, "parameters")[0]["args"]["values"]["temperature"] == "0.2"
    with page.expect_download() as download:
        page.get_by_role("button", name="Save Markdown").click()
        kernel(page, "answer", "export", {"result": "# Why?"})
    assert download.value.suggested_filename == "chat.md"
    assert download.value.path().read_text() == "# Why?"


def test_what_is_said_is_never_markup(page: Page) -> None:
    answer = turn(0, "assistant", ["<p>x</p>"], calls=[EVIL], attached=[EVIL], note=EVIL)
    mount(page, "chat", chat_state(answer, prompt=EVIL, attached=[
        {"id": "f1", "kind": "file", "name": EVIL, "library": None, "mention": EVIL}
    ], sessions=[{"id": "s1", "name": EVIL, "note": "now"}]))  # fmt: skip
    expect(page.get_by_text(EVIL).first).to_be_visible()
    assert page.evaluate("window.hacked") is None


def test_in_a_narrow_panel_a_source_covers_the_transcript(page: Page) -> None:
    source = {"id": 1, "label": "[1] lease.pdf p.7", "title": "Source 1", "snippet": "Three."}
    source |= {"cited": True, "box": None}
    page.set_viewport_size({"width": 500, "height": 700})
    question = turn(0, "user", ["<p>?</p>"])
    answer = turn(1, "assistant", ["<p>Three.</p>"], sources_title="Sources", sources=[source])
    mount(page, "chat", chat_state(question, answer))
    page.get_by_role("button", name="[1] lease.pdf p.7").click()
    room = page.get_by_role("complementary", name="Source").bounding_box()
    assert room and room["width"] > 480
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()


def test_a_narrow_chat_shows_its_whole_title_and_room_to_write(page: Page) -> None:
    page.set_viewport_size({"width": 640, "height": 700})
    mount(page, "chat", chat_state(
        turn(0, "user", ["<p>?</p>"]), title="support v1", tokens="238 of 8,192 tokens",
        parameter_words="smollm2",
    ))  # fmt: skip
    for one in page.locator(".carrel-talk > .carrel-tools > :is(h3, .carrel-range)").all():
        assert one.evaluate("one => one.scrollWidth <= one.clientWidth")
    room = page.get_by_label("Message").bounding_box()
    assert room is not None and room["width"] > 240


def test_titles_stand_on_a_line_of_a_wide_chat(page: Page) -> None:
    page.set_viewport_size({"width": 1500, "height": 700})
    name = "May readers keep books at their desk for a week …"
    session = {"id": "s1", "name": name, "note": "now"}
    mount(page, "chat", chat_state(sessions=[session]))
    room = page.get_by_role("option", name=name).bounding_box()
    assert room is not None and room["height"] < 32


def test_a_draft_is_among_those_who_may_answer(page: Page) -> None:
    mount(page, "chat", chat_state(draft=True, title="support draft", agent="a1"))
    who = page.get_by_label("Answered by")
    expect(who.locator("option:checked")).to_have_text("support draft")
    who.select_option("support v0")
    assert sent(page, "choose")[0]["args"] == {"agent": "a1", "version": 0}


def test_a_question_that_was_asked_from_around_is_not_edited_here(page: Page) -> None:
    mount(page, "chat", chat_state(turn(0, "user", ["<p>How long?</p>"]), asks=False))
    expect(page.get_by_role("button", name="Edit")).to_have_count(0)
    page.get_by_label("Transcript").press("e")
    assert sent(page, "edit") == []


def test_a_tool_of_the_settings_is_allowed_in_the_panel(page: Page) -> None:
    asked = {"key": "m", "title": "Let agents run this command?", "runs": f"weather: {EVIL}",
             "about": f"An agent calls it with {EVIL}.",
             "choices": [["no", "Cancel"], ["once", "This time"]]}  # fmt: skip
    mount(page, "chat", chat_state(turn(0, "user", ["<p>Hi</p>"]), busy=True, permission=asked))
    question = page.get_by_role("alertdialog", name="Let agents run this command?")
    expect(question).to_contain_text(EVIL)
    question.get_by_role("button", name="This time").click()
    assert sent(page, "permit")[0]["args"] == {"key": "m", "permission": "once"}
    kernel(page, "state", chat_state(turn(0, "user", ["<p>Hi</p>"]), busy=True))
    expect(question).to_be_hidden()


def test_a_test_case_is_made_of_an_answer(page: Page) -> None:
    question, answer = turn(0, "user", ["<p>Hi</p>"]), turn(1, "assistant", ["<p>Hello</p>"])
    mount(page, "chat", chat_state(question, answer))
    take = page.get_by_role("button", name="Test case…")
    expect(take.filter(visible=True)).to_have_count(1)
    take.filter(visible=True).click()
    expect(page.get_by_role("alertdialog", name="Confirm")).to_contain_text("cases.yaml")
    page.get_by_role("button", name="Good answer").click()
    [asked] = sent(page, "take_case")
    assert asked["args"] == {"turn": 1, "good": True, "file": "cases.yaml"}
    kernel(page, "answer", "take_case", {"kind": "done", "result": "cases.yaml"})
    expect(page.get_by_text("Added to cases.yaml.")).to_be_visible()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_label("Test cases in").fill("other.yaml")
    take.filter(visible=True).click()
    page.get_by_role("button", name="Bad answer").click()
    assert sent(page, "take_case")[-1]["args"] == {"turn": 1, "good": False, "file": "other.yaml"}


def test_parameters_that_are_typed_stay_while_the_chat_goes_on(page: Page) -> None:
    mount(page, "chat", chat_state(turn(0, "user", ["<p>Why?</p>"])))
    page.get_by_role("button", name="More").click()
    page.get_by_label("Temperature").fill("0.2")
    page.get_by_label("Seed").fill("7")
    kernel(page, "state", {"tokens": "12 of 8,192 tokens"})
    expect(page.get_by_label("Temperature")).to_have_value("0.2")
    kernel(page, "state", {"parameters": {**chat_state()["parameters"], "temperature": "0.3"}})
    expect(page.get_by_label("Temperature")).to_have_value("0.3")
    expect(page.get_by_label("Seed")).to_have_value("7")
    kernel(page, "state", {"session": "s2"})
    expect(page.get_by_label("Seed")).to_have_value("")


def test_a_chat_opens_at_the_turn_that_was_found(page: Page) -> None:
    turns = [turn(number, "user", [f"<p>Question {number}</p>"] * 3) for number in range(40)]
    mount(page, "chat", chat_state(*turns, found=[5, 1]))
    expect(page.get_by_text("Question 5").first).to_be_in_viewport()
    kernel(page, "state", {"phase": "waiting"})
    expect(page.get_by_text("Question 5").first).to_be_in_viewport()
    expect(page.get_by_text("Question 39").first).not_to_be_in_viewport()
    kernel(page, "state", {"found": [20, 2]})
    expect(page.get_by_text("Question 20").first).to_be_in_viewport()
