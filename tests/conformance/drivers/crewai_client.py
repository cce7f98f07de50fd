"""Chat through crewai's own model class, and a crew of one agent."""

import os

# It would report its use to its vendor, and ask about it.
os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"
os.environ["CREWAI_TRACING_ENABLED"] = "false"

from crewai import LLM, Agent, Crew, Task

from conformance.drivers.operation import KEY, MODEL, URL, operation


def llm(**more: object) -> LLM:
    return LLM(
        model=MODEL,
        provider="openai",
        base_url=f"{URL}/v1",
        api_key=KEY,
        temperature=0,
        max_tokens=32,
        **more,
    )


@operation("chat: whole")
def _() -> None:
    worker = Agent(role="clerk", goal="Greet.", backstory="You are brief.", llm=llm())
    task = Task(description="Say hello.", expected_output="A greeting.", agent=worker)
    assert Crew(agents=[worker], tasks=[task]).kickoff().raw


@operation("chat: streamed")
def _() -> None:
    assert llm(stream=True).call("Say hello.")
