// The parsers that agents on Node are built on, each put to one stream after the other.
// It is given the base URL, the parser's name, and what the user says, one stream an argument;
// it prints what an application is told, one line of JSON a stream.
import { fetchwithRequestOptions, streamSse } from "@continuedev/fetch";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";

const PATIENCE = 20_000; // milliseconds after which a stream counts as hanging
const text = { type: "string" };
const PARAMETERS = {
  edit: { type: "object", properties: { path: text, new_string: text } },
  bash: { type: "object", properties: { command: text } },
};

const [baseURL, parser, ...streams] = process.argv.slice(2);
const sdk = new OpenAI({ baseURL, apiKey: process.env.LAB_KEY });
const provider = createOpenAICompatible({
  name: "lab",
  baseURL,
  apiKey: process.env.LAB_KEY,
  includeUsage: true,
});

const asked = (content) => ({
  model: "lab-model",
  messages: [{ role: "user", content }],
  tools: Object.entries(PARAMETERS).map(([name, parameters]) => ({
    type: "function",
    function: { name, parameters },
  })),
  stream: true,
  stream_options: { include_usage: true },
});

const parsers = {
  // Chunks by the SDK, put together by index as applications do it by hand.
  async "openai-node"(content, heard, signal) {
    for await (const chunk of await sdk.chat.completions.create(asked(content), { signal })) {
      take(heard, chunk);
    }
  },

  // The helper tells deltas while they come, each call once it is over, and then the whole.
  async "openai-node-helper"(content, heard, signal) {
    const running = sdk.chat.completions.stream(asked(content), { signal });
    const done = [];
    running.on("content", (delta) => (heard.text += delta));
    running.on("tool_calls.function.arguments.done", (call) => done.push(call));
    const whole = await running.finalChatCompletion();
    const { message, finish_reason } = whole.choices[0];
    same(message.content ?? "", heard.text, "text");
    heard.calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) =>
      ({ id, name, arguments: given }));
    same(done.map(stated), heard.calls.map(stated), "calls");
    heard.reasoning = null; // of a field unknown to it the helper keeps the last delta
    heard.finish = finish_reason;
    heard.tokens = whole.usage.total_tokens;
  },

  // Every part of the full stream; a call comes in pieces and then whole.
  async "ai-sdk"(content, heard, signal) {
    const pieces = new Map();
    const tools = Object.entries(PARAMETERS).map(([name, schema]) =>
      [name, tool({ inputSchema: jsonSchema(schema) })]);
    const result = streamText({
      model: provider("lab-model"),
      messages: [{ role: "user", content }],
      tools: Object.fromEntries(tools),
      abortSignal: signal,
      onError: () => {}, // it is read as a part
    });
    for await (const part of result.fullStream) {
      if (part.type === "text-delta") heard.text += part.text;
      if (part.type === "reasoning-delta") heard.reasoning += part.text;
      if (part.type === "tool-input-start") pieces.set(part.id, "");
      if (part.type === "tool-input-delta") {
        pieces.set(part.id, pieces.get(part.id) + part.delta);
      }
      if (part.type === "tool-call") {
        const call = { id: part.toolCallId, name: part.toolName };
        heard.calls.push({ ...call, arguments: pieces.get(part.toolCallId) });
        same(part.input, JSON.parse(pieces.get(part.toolCallId)), "input");
        if (part.invalid) throw new Error(`invalid call: ${part.error}`);
      }
      if (part.type === "error") heard.error = failure(part.error, "error part");
      if (part.type === "finish") {
        heard.finish = part.finishReason.replaceAll("-", "_");
        heard.tokens = part.totalUsage.totalTokens ?? null;
      }
    }
  },

  // Chunks by Continue's own fetch and line reader.
  async continue(content, heard, signal) {
    const response = await fetchwithRequestOptions(`${baseURL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(asked(content)),
      signal,
    });
    for await (const chunk of streamSse(response)) take(heard, chunk);
  },
};

function take(heard, chunk) {
  if (chunk.usage) heard.tokens = (heard.tokens ?? 0) + chunk.usage.total_tokens;
  for (const { delta, finish_reason } of chunk.choices) {
    heard.text += delta.content ?? "";
    heard.reasoning += delta.reasoning_content ?? "";
    for (const { index, id, function: said } of delta.tool_calls ?? []) {
      const call = (heard.calls[index] ??= { id: "", name: "", arguments: "" });
      call.id += id ?? "";
      call.name += said.name ?? "";
      call.arguments += said.arguments ?? "";
    }
    if (finish_reason) heard.finish = (heard.finish ?? "") + finish_reason;
  }
}

const stated = ({ name, arguments: given }) => [name, given];

function same(one, other, what) {
  if (JSON.stringify(one) !== JSON.stringify(other)) {
    throw new Error(`${what} said twice: ${JSON.stringify(one)}, ${JSON.stringify(other)}`);
  }
}

function failure(error, kind) {
  return { kind, message: error.message ?? String(error), type: error.type, code: error.code };
}

for (const content of streams) {
  const heard = { text: "", reasoning: "", calls: [], finish: null, tokens: null, error: null };
  try {
    await parsers[parser](content, heard, AbortSignal.timeout(PATIENCE));
  } catch (error) {
    heard.error = failure(error, error.constructor.name);
  }
  process.stdout.write(`${JSON.stringify(heard)}\n`);
}
