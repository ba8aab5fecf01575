// The shell scripts of examples/curl.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { chatAnswer } from "../../src/contract/chat/chat-answer.ts";
import { transcriptionEnvelope } from "../../src/contract/transcription/transcription-envelope.ts";
import { type ExampleGateway, startExampleGateway, TRANSCRIPT } from "./example-gateway.ts";

const missing = ["sh", "curl"].filter((tool) => spawnSync(tool, ["--version"]).error !== undefined);
const skip = missing.length > 0 ? `there is no ${missing.join(" and no ")} on this machine` : false;

let gateway: ExampleGateway;
before(async () => {
  gateway = await startExampleGateway();
});
after(() => gateway[Symbol.asyncDispose]());

test("api.examples: curl/transcribe.sh prints a transcript with speakers, or captions", { skip }, async () => {
  const script = ["sh", "examples/curl/transcribe.sh", "call.mp3"];
  const transcript = transcriptionEnvelope.parse(JSON.parse(await gateway.run(script)));
  assert.equal(transcript.content, TRANSCRIPT);
  assert.ok(transcript.segments.every(({ speaker }) => speaker !== null));
  assert.match(await gateway.run([...script, "vtt"]), /^WEBVTT\n/u);
  assert.match(await gateway.run([...script, "srt"]), /^1\n00:00:00,\d{3} --> /u);
});

test("api.examples: curl/transcribe.sh fails with the gateway's error if the request is refused", {
  skip,
}, async () => {
  await assert.rejects(
    gateway.run(["sh", "examples/curl/transcribe.sh", "package.json"]),
    /UNSUPPORTED_MEDIA_TYPE[\s\S]*415/u,
  );
});

test("api.examples: curl/chat.sh prints a whole answer, then a stream", { skip }, async () => {
  const printed = await gateway.run(["sh", "examples/curl/chat.sh"]);
  const [answer = "", ...events] = printed.split("\n");
  chatAnswer.parse(JSON.parse(answer));
  for (const event of ["chat.started", "chat.delta", "chat.completed"])
    assert.ok(events.includes(`event: ${event}`), event);
});

test("api.examples: curl/job.sh prints the captions of the job, and of the same job for the same key", {
  skip,
}, async () => {
  const script = ["sh", "examples/curl/job.sh", "call.mp3"];
  assert.match(await gateway.run(script), /^1\n00:00:00,\d{3} --> /u);
  const jobOf = async (): Promise<string> => {
    const child = gateway.start(script, { IDEMPOTENCY_KEY: "the-same-recording" });
    return /submitted: (\S+)/u.exec((await child.stderr.toArray()).join(""))?.[1] ?? "";
  };
  const first = await jobOf();
  assert.match(first, /^\/v1\/transcription\/jobs\/job_/u);
  assert.equal(await jobOf(), first);
});
