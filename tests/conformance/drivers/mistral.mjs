// Full life cycles through the vendor's JavaScript client, old and new.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

import { Mistral } from "@mistralai/mistralai";

import { key, operation, thinkingKey, thinkingUrl, url } from "./operation.mjs";

const client = new Mistral({ apiKey: key, serverURL: url });
const thinking = new Mistral({ apiKey: thinkingKey, serverURL: thinkingUrl });
const { agents, libraries } = client.beta;
const { accesses, documents } = libraries;

const pdf = await readFile("report.pdf");
const png = await readFile("notice.png");
const upload = () => new File([pdf], "report.pdf", { type: "application/pdf" });
const short = { maxTokens: 8, randomSeed: 1 };
const hello = [{ role: "user", content: "Say hello." }];
const weather = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather of a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string", maxLength: 12 } },
      required: ["city"],
    },
  },
};
const made = {};

/** What a signed address gives without a key. */
async function fetched(address) {
  const answer = await fetch(address);
  assert.equal(answer.status, 200);
  return Buffer.from(await answer.arrayBuffer());
}

async function collected(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

await operation("files: upload", async () => {
  made.file = await client.files.upload({ file: upload(), purpose: "ocr" });
  assert.equal(made.file.sizeBytes, pdf.length);
});

await operation("files: list", async () => {
  const { data } = await client.files.list();
  assert(data.some((file) => file.id === made.file.id));
  assert.deepEqual((await client.files.list({ search: "no such file", pageSize: 1 })).data, []);
});

await operation("files: retrieve", async () => {
  const file = await client.files.retrieve({ fileId: made.file.id });
  assert.deepEqual([file.filename, file.deleted], ["report.pdf", false]);
});

await operation("files: download", async () => {
  const stream = await client.files.download({ fileId: made.file.id });
  assert(Buffer.concat(await collected(stream)).equals(pdf));
});

await operation("files: signed address", async () => {
  made.address = (await client.files.getSignedUrl({ fileId: made.file.id, expiry: 1 })).url;
  assert((await fetched(made.address)).equals(pdf));
});

const ocr = (document, options) =>
  client.ocr.process({ model: "mistral-ocr-latest", document, ...options });
const byId = () => ({ type: "file", fileId: made.file.id });

await operation("OCR: file id", async () => {
  const answer = await ocr(byId(), { includeImageBase64: true });
  assert.deepEqual(
    answer.pages.map((page) => page.index),
    [0, 1],
  );
  assert.equal(answer.usageInfo.pagesProcessed, 2);
});

await operation("OCR: signed address", async () => {
  const answer = await ocr({ type: "document_url", documentUrl: made.address });
  assert(answer.pages[0].markdown.includes("carrel"));
});

await operation("OCR: data URL", async () => {
  const imageUrl = `data:image/png;base64,${png.toString("base64")}`;
  const answer = await ocr({ type: "image_url", imageUrl });
  assert(answer.pages[0].markdown.includes("carrel"));
});

await operation("OCR: pages", async () => {
  const answer = await ocr(byId(), { pages: [1] });
  assert.deepEqual(
    answer.pages.map((page) => page.index),
    [1],
  );
});

await operation("OCR: blocks", async () => {
  const [page] = (await ocr(byId(), { includeBlocks: true, pages: "0" })).pages;
  const types = page.blocks.map((block) => block.type);
  for (const type of ["title", "text", "table"]) assert(types.includes(type), types.join());
});

await operation("OCR: scores", async () => {
  const scores = async (granularity) => {
    const options = { confidenceScoresGranularity: granularity, pages: "0-1" };
    return (await ocr(byId(), options)).pages[0].confidenceScores;
  };
  const words = await scores("word");
  assert(words.averagePageConfidenceScore > 0 && words.averagePageConfidenceScore <= 1);
  assert(words.wordConfidenceScores.length > 0);
  assert.equal((await scores("page")).wordConfidenceScores?.length ?? 0, 0);
});

await operation("files: delete", async () => {
  assert((await client.files.delete({ fileId: made.file.id })).deleted);
});

const library = () => ({ libraryId: made.library.id });

await operation("libraries: create", async () => {
  made.library = await libraries.create({ name: "rules", description: "of the house" });
  assert.equal(made.library.nbDocuments, 0);
});

await operation("libraries: list", async () => {
  const { data } = await libraries.list();
  assert(data.some((one) => one.id === made.library.id));
});

await operation("libraries: get", async () => {
  assert.equal((await libraries.get(library())).name, "rules");
});

// A body has one name in the old client and another in the new; each ignores the other's.

await operation("libraries: update", async () => {
  const change = { name: "house rules" };
  const updated = await libraries.update({
    ...library(),
    libraryInUpdate: change,
    updateLibraryRequest: change,
  });
  assert.equal(updated.name, "house rules");
});

await operation("libraries: share", async () => {
  const [owner] = (await accesses.list(library())).data;
  const whom = { orgId: owner.orgId, shareWithUuid: owner.orgId, shareWithType: "Workspace" };
  const share = { ...whom, level: "Viewer" };
  const shared = await accesses.updateOrCreate({
    ...library(),
    sharingIn: share,
    sharingRequest: share,
  });
  assert.equal(shared.role, "Viewer");
  assert.equal((await accesses.list(library())).data.length, 2);
  const ended = await accesses.delete({ ...library(), sharingDelete: whom });
  assert.equal(ended.shareWithUuid, owner.orgId);
  assert.equal((await accesses.list(library())).data.length, 1);
});

const document = () => ({ ...library(), documentId: made.document.id });

/** The document's status once processing is over. */
async function processed() {
  const deadline = Date.now() + 120_000;
  while (Date.now() < deadline) {
    const status = await documents.status(document());
    if (status.processingStatus !== "Running") return status;
    await sleep(200);
  }
  throw new Error("the document was not processed in 120 seconds");
}

await operation("documents: upload", async () => {
  made.document = await documents.upload({ ...library(), requestBody: { file: upload() } });
  assert.equal(made.document.size, pdf.length);
});

await operation("documents: status", async () => {
  const status = await processed();
  assert.equal(status.processingStatus, "Completed");
  assert.equal(status.processStatus ?? "done", "done");
});

await operation("documents: list", async () => {
  const { data, pagination } = await documents.list(library());
  assert.deepEqual(
    data.map((one) => one.id),
    [made.document.id],
  );
  assert.equal(pagination.totalItems, 1);
});

await operation("documents: get", async () => {
  assert.equal((await documents.get(document())).numberOfPages, 2);
});

await operation("documents: update", async () => {
  const change = { name: "rules.pdf" };
  const updated = await documents.update({
    ...document(),
    documentUpdateIn: change,
    updateDocumentRequest: change,
  });
  assert.equal(updated.name, "rules.pdf");
});

await operation("documents: text", async () => {
  assert((await documents.textContent(document())).text.includes("carrel"));
});

await operation("documents: signed addresses", async () => {
  assert((await fetched(await documents.getSignedUrl(document()))).equals(pdf));
  const text = await fetched(await documents.extractedTextSignedUrl(document()));
  assert(text.includes("carrel"));
});

await operation("documents: reprocess", async () => {
  await documents.reprocess(document());
  assert.equal((await processed()).processingStatus, "Completed");
});

const agent = () => ({ agentId: made.agent.id });

await operation("agents: create", async () => {
  made.agent = await agents.create({
    model: "smollm2",
    name: "guide",
    instructions: "Be brief.",
    tools: [weather],
    completionArgs: { temperature: 0.1 },
  });
  assert.equal(made.agent.version, 0);
});

await operation("agents: get", async () => {
  assert.equal((await agents.get(agent())).instructions, "Be brief.");
});

await operation("agents: update", async () => {
  const change = { instructions: "Be short.", tools: [] };
  const updated = await agents.update({
    ...agent(),
    agentUpdateRequest: change,
    updateAgentRequest: change,
  });
  assert.equal(updated.version, 1);
});

await operation("agents: list", async () => {
  assert((await agents.list()).some((one) => one.id === made.agent.id));
});

await operation("agents: list by cursor", async () => {
  const pages = await collected(await agents.listPages({ pageSize: 1 }));
  assert(pages.some(({ result }) => result.data.some((one) => one.id === made.agent.id)));
});

await operation("agents: versions", async () => {
  const versions = await agents.listVersions(agent());
  assert.deepEqual(versions.map((one) => one.version).sort(), [0, 1]);
});

await operation("agents: one version", async () => {
  const first = await agents.getVersion({ ...agent(), version: "0" });
  assert.equal(first.instructions, "Be brief.");
});

await operation("agents: switch version", async () => {
  const first = await agents.updateVersion({ ...agent(), version: 0 });
  assert.equal(first.instructions, "Be brief.");
  const second = await agents.updateVersion({ ...agent(), version: 1 });
  assert.equal(second.instructions, "Be short.");
});

await operation("agents: aliases", async () => {
  const alias = { ...agent(), alias: "live" };
  assert.equal((await agents.createVersionAlias({ ...alias, version: 0 })).version, 0);
  assert.deepEqual(
    (await agents.listVersionAliases(agent())).map((one) => one.alias),
    ["live"],
  );
  const live = await agents.get({ ...agent(), agentVersion: "live" });
  assert.equal(live.instructions, "Be brief.");
  await agents.deleteVersionAlias(alias);
  assert.deepEqual(await agents.listVersionAliases(agent()), []);
});

await operation("agent completions: whole", async () => {
  const answer = await client.agents.complete({ ...agent(), messages: hello, ...short });
  assert(answer.choices[0].message.content);
  assert(answer.usage.completionTokens <= 8);
});

await operation("agent completions: streamed", async () => {
  const events = await client.agents.stream({ ...agent(), messages: hello, ...short });
  const chunks = (await collected(events)).map((event) => event.data);
  assert(chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join(""));
  assert(["stop", "length"].includes(chunks.at(-1).choices[0].finishReason));
  assert(chunks.at(-1).usage.totalTokens > 0);
});

await operation("agent completions: with a tool", async () => {
  const asked = [{ role: "user", content: "How is the weather in Rome?" }];
  const answer = await client.agents.complete({
    ...agent(),
    messages: asked,
    tools: [weather],
    toolChoice: "any",
    maxTokens: 64,
  });
  const [{ finishReason, message }] = answer.choices;
  const [call] = message.toolCalls;
  assert.deepEqual([finishReason, call.function.name], ["tool_calls", "weather"]);
  const result = { role: "tool", toolCallId: call.id, name: "weather", content: "Sunny." };
  const messages = [...asked, { ...message, role: "assistant" }, result];
  const last = await client.agents.complete({ ...agent(), messages, ...short });
  assert(last.choices[0].message.content);
});

await operation("agent completions: with a library", async () => {
  const tools = [{ type: "document_library", libraryIds: [made.library.id] }];
  const change = { tools };
  await agents.update({ ...agent(), agentUpdateRequest: change, updateAgentRequest: change });
  const messages = [{ role: "user", content: "What does every carrel have?" }];
  const answer = await client.agents.complete({ ...agent(), messages, ...short });
  assert(answer.usage.promptTokens > 60);
});

const model = "mistral-small-latest";

await operation("chat: whole", async () => {
  const answer = await client.chat.complete({
    model,
    messages: hello,
    temperature: 0.1,
    ...short,
  });
  assert(answer.choices[0].message.content);
  assert.equal(answer.model, model);
});

await operation("chat: streamed", async () => {
  const events = await client.chat.stream({ model, messages: hello, ...short });
  const chunks = (await collected(events)).map((event) => event.data);
  assert(chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join(""));
  assert(chunks.at(-1).usage.totalTokens > 0);
});

await operation("chat: with a tool", async () => {
  const asked = [{ role: "user", content: "How is the weather in Rome?" }];
  const answer = await client.chat.complete({
    model,
    messages: asked,
    tools: [weather],
    toolChoice: "any",
    maxTokens: 64,
  });
  const [{ finishReason, message }] = answer.choices;
  const [call] = message.toolCalls;
  assert.deepEqual([finishReason, call.function.name], ["tool_calls", "weather"]);
  const result = { role: "tool", toolCallId: call.id, name: "weather", content: "Sunny." };
  const messages = [...asked, { ...message, role: "assistant" }, result];
  const last = await client.chat.complete({ model, messages, ...short });
  assert(last.choices[0].message.content);
});

await operation("reasoning: whole", async () => {
  const answer = await thinking.chat.complete({ model, messages: hello, promptMode: "reasoning" });
  const [thought, said] = answer.choices[0].message.content;
  assert.deepEqual([thought.type, thought.thinking[0].text], ["thinking", "Let me see."]);
  assert.equal(said.text, "Four.");
});

await operation("reasoning: streamed", async () => {
  const asked = { model, messages: hello, promptMode: "reasoning" };
  const events = await collected(await thinking.chat.stream(asked));
  const chunks = events.map((event) => event.data.choices[0].delta.content).filter(Array.isArray);
  assert.equal(chunks.flat()[0].thinking[0].text, "Let me see.");
});

await operation("embeddings: create", async () => {
  const { data } = await client.embeddings.create({
    model: "mistral-embed",
    inputs: ["a lamp", "a chair"],
  });
  assert.deepEqual(
    data.map((one) => one.index),
    [0, 1],
  );
  assert.notDeepEqual(data[0].embedding, data[1].embedding);
});

const { conversations } = client.beta;
const talk = () => ({ conversationId: made.talk.conversationId });

await operation("conversations: start", async () => {
  made.talk = await conversations.start({
    model,
    inputs: "Say hello.",
    instructions: "Be brief.",
    completionArgs: short,
  });
  const [output] = made.talk.outputs;
  assert.equal(output.type, "message.output");
  assert(output.content);
  assert(made.talk.usage.totalTokens > 0);
});

await operation("conversations: append", async () => {
  const body = { inputs: [{ role: "user", content: "Again." }], completionArgs: short };
  const answer = await conversations.append(
    { ...talk(), conversationAppendRequest: body },
  );
  assert.equal(answer.conversationId, made.talk.conversationId);
  assert(answer.outputs[0].content);
});

await operation("conversations: streamed", async () => {
  const body = { inputs: "And again.", completionArgs: short };
  const events = await collected(
    await conversations.appendStream(
      { ...talk(), conversationAppendStreamRequest: body },
    ),
  );
  const names = events.map((one) => one.event);
  assert.equal(names[0], "conversation.response.started");
  assert.equal(names.at(-1), "conversation.response.done");
  assert(names.includes("message.output.delta"));
  assert(events.at(-1).data.usage.totalTokens > 0);
});

await operation("conversations: with an agent", async () => {
  const answer = await conversations.start({
    ...agent(),
    inputs: "Say hello.",
    completionArgs: short,
  });
  assert.equal(answer.outputs.at(-1).agentId, made.agent.id);
});

await operation("conversations: with a tool", async () => {
  const answer = await conversations.start({
    model,
    inputs: "How is the weather in Rome?",
    tools: [weather],
    completionArgs: { maxTokens: 64, toolChoice: "any" },
  });
  const [called] = answer.outputs;
  assert.deepEqual([called.type, called.name], ["function.call", "weather"]);
  const result = { type: "function.result", toolCallId: called.toolCallId, result: "Sunny." };
  const last = await conversations.append({
    conversationId: answer.conversationId,
    conversationAppendRequest: {
      inputs: [result],
      completionArgs: { ...short, toolChoice: "none" },
    },
  });
  assert(last.outputs[0].content);
});

await operation("conversations: history", async () => {
  const { entries } = await conversations.getHistory(talk());
  assert.equal(entries.length, 6);
  assert.deepEqual(
    entries.slice(0, 2).map((one) => one.type),
    ["message.input", "message.output"],
  );
  made.entry = entries[1].id;
});

await operation("conversations: messages", async () => {
  assert.equal((await conversations.getMessages(talk())).messages.length, 6);
});

await operation("conversations: restart", async () => {
  const body = { inputs: "Again.", fromEntryId: made.entry, completionArgs: short };
  const answer = await conversations.restart(
    { ...talk(), conversationRestartRequest: body },
  );
  assert.notEqual(answer.conversationId, made.talk.conversationId);
  const { entries } = await conversations.getHistory({ conversationId: answer.conversationId });
  assert.equal(entries.length, 4);
});

await operation("conversations: get", async () => {
  const kept = await conversations.get(talk());
  assert.deepEqual([kept.model, kept.instructions], [model, "Be brief."]);
});

await operation("conversations: list", async () => {
  const listed = await conversations.list({});
  assert(listed.some((one) => one.id === made.talk.conversationId));
});

await operation("conversations: delete", async () => {
  await conversations.delete(talk());
  const listed = await conversations.list({});
  assert(!listed.some((one) => one.id === made.talk.conversationId));
});

/** A batch once it has ended. */
async function ended(job) {
  const deadline = Date.now() + 120_000;
  while (Date.now() < deadline) {
    const now = await client.batch.jobs.get({ jobId: job.id });
    if (!["QUEUED", "RUNNING", "CANCELLATION_REQUESTED"].includes(now.status)) return now;
    await sleep(100);
  }
  throw new Error("the batch did not end in 120 seconds");
}

const vectors = { endpoint: "/v1/embeddings", model: "mistral-embed" };

await operation("batch jobs: create", async () => {
  const lines = [0, 1, 2].map((n) =>
    JSON.stringify({ custom_id: `${n}`, body: { input: [`lamp ${n}`] } }),
  );
  const file = new File([lines.join("\n")], "lamps.jsonl");
  made.requests = await client.files.upload({ file, purpose: "batch" });
  made.batch = await client.batch.jobs.create({
    ...vectors,
    inputFiles: [made.requests.id],
    metadata: { of: "lamps" },
  });
  assert.equal(made.batch.totalRequests, 3);
});

await operation("batch jobs: inline", async () => {
  const requests = [{ customId: "a", body: { input: ["a lamp"] } }];
  const job = await client.batch.jobs.create({ ...vectors, requests });
  await ended(job);
  const { outputs } = await client.batch.jobs.get({ jobId: job.id, inline: true });
  assert.deepEqual(
    outputs.map((line) => line.custom_id),
    ["a"],
  );
});

await operation("batch jobs: get", async () => {
  made.batch = await ended(made.batch);
  assert.deepEqual([made.batch.status, made.batch.succeededRequests], ["SUCCESS", 3]);
});

await operation("batch jobs: list", async () => {
  const { data } = await client.batch.jobs.list({ status: ["SUCCESS"] });
  assert(data.some((job) => job.id === made.batch.id));
  assert.equal((await client.batch.jobs.list({ status: ["FAILED"] })).total, 0);
});

await operation("batch jobs: output", async () => {
  const content = await client.files.download({ fileId: made.batch.outputFile });
  const lines = (await new Response(content).text()).trim().split("\n").map(JSON.parse);
  assert.deepEqual(
    lines.map((line) => line.custom_id),
    ["0", "1", "2"],
  );
});

await operation("batch jobs: cancel", async () => {
  const inputFiles = [made.requests.id];
  const job = await client.batch.jobs.create({ ...vectors, inputFiles });
  await client.batch.jobs.cancel({ jobId: job.id });
  assert(["CANCELLED", "SUCCESS"].includes((await ended(job)).status));
});

await operation("batch jobs: delete", async () => {
  assert((await client.batch.jobs.delete({ jobId: made.batch.id })).deleted);
});

await operation("models: list", async () => {
  const { data } = await client.models.list();
  assert(data.some((card) => [card.id, ...(card.aliases ?? [])].includes(model)));
});

const security = { dashboardUserContextAuth: key };

await operation("users: identity", async () => {
  assert((await client.beta.users.getIdentity(security)).organization.id);
});

await operation("users: organisations", async () => {
  const pages = await client.beta.users.listOrganizations(security);
  for await (const page of pages) assert(page.result.organizations.length);
});

await operation("agents: delete", async () => {
  await agents.delete(agent());
  assert(!(await agents.list()).some((one) => one.id === made.agent.id));
});

await operation("documents: delete", async () => {
  await documents.delete(document());
  assert.deepEqual((await documents.list(library())).data, []);
});

await operation("libraries: delete", async () => {
  assert.equal((await libraries.delete(library())).id, made.library.id);
});
