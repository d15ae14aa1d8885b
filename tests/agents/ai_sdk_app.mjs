// An app on the AI SDK: two tools, a loop of its own making, the whole history kept by the SDK.
// It is given the base URL, the root of its files, and what the user says, one turn an argument;
// LAB_STREAMS=1 streams the answers.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [baseURL, root, ...turns] = process.argv.slice(2);
const streams = process.env.LAB_STREAMS === "1";
const provider = createOpenAICompatible({
  name: "lab",
  baseURL,
  apiKey: process.env.LAB_KEY,
  headers: { "x-ttsr-session": "lab-session" },
  includeUsage: true,
});

const tools = {
  write: tool({
    description: "Write a file.",
    inputSchema: z.object({ path: z.string(), content: z.string() }),
    execute: ({ path, content }) => {
      writeFileSync(join(root, path), content);
      return "written";
    },
  }),
  edit: tool({
    description: "Replace a text that stands once in a file.",
    inputSchema: z.object({ path: z.string(), old_string: z.string(), new_string: z.string() }),
    execute: ({ path, old_string, new_string }) => {
      const before = readFileSync(join(root, path), "utf8");
      writeFileSync(join(root, path), before.replace(old_string, new_string));
      return { replaced: before.includes(old_string) };
    },
  }),
};

const messages = [];
for (const content of turns) {
  messages.push({ role: "user", content });
  const request = {
    model: provider("lab-model"),
    system: "You edit files.",
    messages,
    tools,
    stopWhen: stepCountIs(8),
    maxRetries: 0,
  };
  messages.push(...(await (streams ? streamed(request) : whole(request))));
}

async function streamed(request) {
  const fail = ({ error }) => {
    throw error;
  };
  const result = streamText({ ...request, onError: fail });
  for await (const part of result.textStream) process.stdout.write(part);
  return (await result.response).messages;
}

async function whole(request) {
  const result = await generateText(request);
  process.stdout.write(result.text);
  return result.response.messages;
}
