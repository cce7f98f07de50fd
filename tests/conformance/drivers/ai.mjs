// Chat and embeddings through the AI SDK.

import assert from "node:assert/strict";

import { createMistral } from "@ai-sdk/mistral";
import { embedMany, generateText, jsonSchema, streamText, tool } from "ai";

import { key, operation, thinkingKey, thinkingUrl, url } from "./operation.mjs";

const mistral = createMistral({ baseURL: `${url}/v1`, apiKey: key });
const model = mistral("mistral-small-latest");
const hello = { model, prompt: "Say hello.", maxOutputTokens: 8, temperature: 0, maxRetries: 0 };

const thinking = {
  model: createMistral({ baseURL: `${thinkingUrl}/v1`, apiKey: thinkingKey })(
    "mistral-small-latest",
  ),
  prompt: "2+2?",
  providerOptions: { mistral: { reasoningEffort: "high" } },
  maxRetries: 0,
};

await operation("reasoning: streamed", async () => {
  const answer = streamText(thinking);
  assert.equal(await answer.reasoningText, "Let me see.");
  assert.equal(await answer.text, "Four.");
});

await operation("chat: whole", async () => {
  const answer = await generateText(hello);
  assert(answer.text);
  assert(answer.usage.outputTokens <= 8);
});

await operation("chat: streamed", async () => {
  let text = "";
  let problem;
  const answer = streamText({ ...hello, onError: ({ error }) => (problem = error) });
  for await (const part of answer.textStream) text += part;
  if (problem) throw problem;
  assert(text);
});

await operation("chat: with a tool", async () => {
  const weather = tool({
    description: "The weather of a city",
    inputSchema: jsonSchema({
      type: "object",
      properties: { city: { type: "string", maxLength: 12 } },
      required: ["city"],
    }),
    execute: async () => "Sunny.",
  });
  const asked = { role: "user", content: "How is the weather in Rome?" };
  const answer = await generateText({
    model,
    messages: [asked],
    tools: { weather },
    toolChoice: "required",
    maxOutputTokens: 64,
    temperature: 0,
    maxRetries: 0,
  });
  assert.deepEqual(
    answer.toolCalls.map((call) => call.toolName),
    ["weather"],
  );
  const messages = [asked, ...answer.response.messages];
  assert((await generateText({ ...hello, prompt: undefined, messages })).text);
});

await operation("embeddings: create", async () => {
  const { embeddings } = await embedMany({
    model: mistral.embedding("mistral-embed"),
    values: ["a lamp", "a chair"],
    maxRetries: 0,
  });
  assert.notDeepEqual(embeddings[0], embeddings[1]);
});
