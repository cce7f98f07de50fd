"""Prompts: tasks with libraries for a program's menu."""

from mcp.types import (
    INVALID_PARAMS,
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from mcp import MCPError

_TEXTS = {
    "answer_from_library": (
        "Answer this question from the library {library}: {question}\n\nFind the library with"
        " list_libraries, search it with search_library, more than once if need be, and read the"
        " pages around what you find with read_document. Name the document and the page of every"
        " statement. If the library does not say it, say so."
    ),
    "summarise_document": (
        "Summarise the document {document} of the library {library}.\n\nFind both with"
        " list_libraries and list_documents, and read all pages with read_document. Begin with one"
        " sentence on what it is, then give its main points with their pages."
    ),
}

_LIBRARY = PromptArgument(name="library", description="The library's name", required=True)
_PROMPTS = (
    Prompt(
        name="answer_from_library",
        title="Answer from a library",
        description="Answers a question from the documents of a library, with their pages.",
        arguments=[
            _LIBRARY,
            PromptArgument(name="question", description="What to answer", required=True),
        ],
    ),
    Prompt(
        name="summarise_document",
        title="Summarise a document",
        description="Summarises a document of a library.",
        arguments=[
            _LIBRARY,
            PromptArgument(name="document", description="The document's name", required=True),
        ],
    ),
)


def list_prompts() -> ListPromptsResult:
    """Return the prompts."""
    return ListPromptsResult(prompts=[*_PROMPTS])


def fill(name: str, given: dict[str, str]) -> GetPromptResult:
    """Return a prompt with its arguments filled in.

    Raises:
        MCPError: there is no prompt of this name, or an argument is missing.
    """
    prompt = next((one for one in _PROMPTS if one.name == name), None)
    if prompt is None:
        raise MCPError(INVALID_PARAMS, f"There is no prompt {name[:80]}.")
    missing = [one.name for one in prompt.arguments or () if not given.get(one.name, "").strip()]
    if missing:
        raise MCPError(INVALID_PARAMS, f"The prompt {name} needs {', '.join(missing)}.")
    text = _TEXTS[name].format_map(given)
    return GetPromptResult(
        description=prompt.description,
        messages=[PromptMessage(role="user", content=TextContent(text=text))],
    )
