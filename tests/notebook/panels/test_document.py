from carrel.notebook.panels.document import DocumentPanel
from carrel.store.store import Store
from support.panels import Wire


def test_without_a_document_the_panel_names_the_places_that_open_one(store: Store) -> None:
    state = Wire(DocumentPanel(store)).wait_state(lambda state: "empty" in state)
    assert state["empty"] == "No document is open. Open one in Files or Libraries."
