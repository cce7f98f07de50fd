"""Chat and Carrel's tools through smolagents."""

from typing import Any

from smolagents import MCPClient, OpenAIModel, ToolCallingAgent

from conformance.drivers.operation import KEY, MODEL, URL, operation

model = OpenAIModel(model_id=MODEL, api_base=f"{URL}/v1", api_key=KEY, max_tokens=8, temperature=0)
hello: Any = [{"role": "user", "content": [{"type": "text", "text": "Say hello."}]}]
door: Any = {
    "url": f"{URL}/mcp",
    "transport": "streamable-http",
    "headers": {"Authorization": f"Bearer {KEY}"},
}


@operation("chat: whole")
def _() -> None:
    assert model.generate(hello).content


@operation("chat: streamed")
def _() -> None:
    assert "".join(delta.content or "" for delta in model.generate_stream(hello))


@operation("MCP: tools")
def _() -> None:
    with MCPClient(door, structured_output=False) as tools:
        named = {tool.name: tool for tool in tools}
        assert "libraries" in named["list_libraries"](page=0)
        assert ToolCallingAgent(tools=tools, model=model)
