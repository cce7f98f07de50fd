"""Chat through dspy, with its prompts and its tools."""

import os
import tempfile

# Its cache would answer a question that was asked before.
os.environ["DSPY_CACHEDIR"] = tempfile.mkdtemp()

import dspy

from conformance.drivers.operation import KEY, MODEL, QUESTION, URL, WEATHER, operation

lm = dspy.LM(
    f"openai/{MODEL}",
    api_base=f"{URL}/v1",
    api_key=KEY,
    temperature=0,
    max_tokens=200,
    cache=False,
    num_retries=0,
)


@operation("chat: whole")
def _() -> None:
    with dspy.context(lm=lm):
        assert lm("Say hello.")[0]


@operation("chat: with a tool")
def _() -> None:
    message = lm(QUESTION, tools=[WEATHER], tool_choice="required")[0]
    assert message["tool_calls"][0]["function"]["name"] == "weather"
