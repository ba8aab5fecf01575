// The examples with OpenAI's clients, run where those are installed: that for Node.js in test/sdk-oracle (`npm run oracle`), that for Python for the program
// in PATCHBAY_TEST_PYTHON, or else python3. The requests of the latter were recorded and are replayed everywhere.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readRecorded, replay } from "./openai-python-requests.ts";
import { type ExampleGateway, ROOT, startExampleGateway, TRANSCRIPT } from "./example-gateway.ts";

const CLIENT = join(ROOT, "test/sdk-oracle/node_modules/openai");
const PYTHON = process.env["PATCHBAY_TEST_PYTHON"] ?? "python3";
const hasPythonClient = spawnSync(PYTHON, ["-c", "import openai"]).status === 0;
/** The sandbox counts the words of the question, which contains the transcript. */
const PRINTED = /^Good morning, .* Thank you\.\n\[simulated .*\]\n$/u;

let gateway: ExampleGateway;
before(async () => {
  gateway = await startExampleGateway();
});
after(() => gateway[Symbol.asyncDispose]());

test("api.examples: openai-sdk-node/transcribe-and-chat.mjs prints the transcript and the streamed answer", {
  skip: existsSync(CLIENT) ? false : "OpenAI's client is not installed: npm ci --prefix test/sdk-oracle",
}, async () => {
  symlinkSync(CLIENT, join(gateway.folder, "node_modules/openai"));
  const printed = await gateway.run([process.execPath, "examples/openai-sdk-node/transcribe-and-chat.mjs", "call.mp3"]);
  assert.ok(printed.startsWith(TRANSCRIPT));
  assert.match(printed, PRINTED);
});

test("api.examples: openai-sdk-python/transcribe_and_chat.py prints the transcript and the streamed answer", {
  skip: hasPythonClient ? false : `${PYTHON} has no package openai: install it, or set PATCHBAY_TEST_PYTHON`,
}, async () => {
  assert.match(await gateway.run([PYTHON, "examples/openai-sdk-python/transcribe_and_chat.py", "call.mp3"]), PRINTED);
});

test("api.examples: the recorded requests of OpenAI's client for Python get the transcript and the streamed answer", async () => {
  const { client, requests } = readRecorded();
  assert.match(client, /^openai \d/u);
  const recording = readFileSync(join(gateway.folder, "call.mp3"));
  const [transcription, chat] = requests;
  assert.ok(transcription !== undefined && chat !== undefined && requests.length === 2);
  const transcript = await replay(gateway.origin, transcription, { recording, key: gateway.key });
  assert.equal(transcript.status, 200);
  assert.equal(((await transcript.json()) as { text: string }).text, TRANSCRIPT);
  const stream = await replay(gateway.origin, chat, { recording, key: gateway.key });
  assert.equal(stream.status, 200);
  const events = await stream.text();
  assert.match(events, /^data: \{.*"object":"chat\.completion\.chunk"/u);
  assert.match(events, /\n\ndata: \[DONE\]\n\n$/u);
});
