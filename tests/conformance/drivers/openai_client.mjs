// Chat, responses, embeddings and models through openai's own client.

import assert from "node:assert/strict";

import OpenAI from "openai";

import { key, operation, url } from "./operation.mjs";

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
const model = "mistral-small-latest";
const messages = [{ role: "user", content: "Say hello." }];
const question = { role: "user", content: "How is the weather in Rome?" };
const weather = {
  name: "weather",
  description: "The weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string", maxLength: 12 } },
    required: ["city"],
  },
};

await operation("chat: whole", async () => {
  const answer = await client.chat.completions.create({ model, messages, max_tokens: 8 });
  assert(answer.choices[0].message.content);
  assert(answer.usage.completion_tokens <= 8);
});

await operation("chat: streamed", async () => {
  const stream = client.chat.completions.stream({ model, messages, max_tokens: 8 });
  assert((await stream.finalChatCompletion()).choices[0].message.content);
});

await operation("chat: with a tool", async () => {
  const tools = [{ type: "function", function: weather }];
  const asked = { model, messages: [question], tools, tool_choice: "required" };
  const { message } = (await client.chat.completions.create(asked)).choices[0];
  assert.equal(message.tool_calls[0].function.name, "weather");
  const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "Sunny." };
  const again = { model, messages: [question, message, result], max_tokens: 8 };
  assert((await client.chat.completions.create(again)).choices[0].message.content);
});

await operation("responses: whole", async () => {
  const asked = { model, input: "Say hello.", max_output_tokens: 8 };
  const answer = await client.responses.create(asked);
  assert(answer.output_text);
  assert(answer.usage.output_tokens <= 8);
});

await operation("responses: streamed", async () => {
  const stream = client.responses.stream({ model, input: "Say hello.", max_output_tokens: 8 });
  let text = "";
  stream.on("response.output_text.delta", (event) => (text += event.delta));
  assert.equal((await stream.finalResponse()).output_text, text);
  assert(text);
});

await operation("responses: with a tool", async () => {
  const tools = [{ type: "function", strict: false, ...weather }];
  const asked = { model, input: [question], tools, tool_choice: "required" };
  const { output } = await client.responses.create(asked);
  assert.equal(output[0].name, "weather");
  const result = { type: "function_call_output", call_id: output[0].call_id, output: "Sunny." };
  const input = [question, ...output, result];
  assert((await client.responses.create({ model, input, max_output_tokens: 8 })).output_text);
});

await operation("embeddings: create", async () => {
  const input = ["a lamp", "a chair"];
  const { data } = await client.embeddings.create({ model: "mistral-embed", input });
  assert.notDeepEqual(data[0].embedding, data[1].embedding);
});

await operation("models: list", async () => {
  const ids = (await client.models.list()).data.map((card) => card.id);
  assert(ids.includes(model));
});
