// The programs of examples/typescript, with the package as a reader installs it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { freePort } from "../harness/programs.ts";
import { type ExampleGateway, ROOT, startExampleGateway, TRANSCRIPT } from "./example-gateway.ts";

const noFfmpeg = spawnSync("ffmpeg", ["-version"]).error === undefined ? false : "there is no ffmpeg on this machine";

let gateway: ExampleGateway;
before(async () => {
  gateway = await startExampleGateway();
});
after(() => gateway[Symbol.asyncDispose]());

test("api.examples: typescript/transcribe.ts prints segments with speakers, and the code of a refusal", async () => {
  const program = [process.execPath, "examples/typescript/transcribe.ts"];
  const lines = (await gateway.run([...program, "call.mp3"])).trimEnd().split("\n");
  assert.equal(lines.at(-1), "14.402 seconds of audio");
  for (const line of lines.slice(0, -1)) assert.match(line, /^\d+\.\d s {2}S\d: /u);
  await assert.rejects(gateway.run([...program, "package.json"]), /ended with 1:\nUNSUPPORTED_MEDIA_TYPE .* req_/u);
});

test("api.examples: typescript/job-and-webhook.ts gets the webhook of its job from patchbay listen, and prints the transcript", async () => {
  const port = await freePort();
  const listener = gateway.start(
    [process.execPath, join(ROOT, "src/main.ts"), "listen", "--forward-to", `http://127.0.0.1:${port}/`],
    { PATCHBAY_API_KEY: gateway.adminKey },
  );
  try {
    const notes = createInterface({ input: listener.stderr });
    let secret: string | undefined;
    for await (const line of notes) {
      secret = /signed with (whsec_\S+)/u.exec(line)?.[1];
      if (secret !== undefined) break;
    }
    assert.ok(secret !== undefined);
    const printed = await gateway.run([process.execPath, "examples/typescript/job-and-webhook.ts", "call.mp3"], {
      PATCHBAY_WEBHOOK_SECRET: secret,
      PORT: String(port),
    });
    const [submitted = "", ...others] = printed.trimEnd().split("\n");
    assert.match(submitted, /^submitted job_[0-9a-z]{26}$/u);
    assert.deepEqual(others, ["webhook: succeeded", TRANSCRIPT]);
  } finally {
    listener.kill("SIGKILL");
    await once(listener, "exit");
  }
});

test("api.examples: typescript/chat-with-tools.ts runs the function that the model calls, and prints the answer", async () => {
  const printed = await gateway.run([process.execPath, "examples/typescript/chat-with-tools.ts", "Weather in Oslo?"]);
  const [call = "", ...answer] = printed.trimEnd().split("\n");
  assert.match(call, /^call weather \{"city":/u);
  assert.match(answer.join("\n"), /^\[simulated .*1 tool result/u);
});

test("api.examples: typescript/captions-for-a-video.ts writes the captions of a video in both formats", {
  skip: noFfmpeg,
}, async () => {
  const picture = ["-f", "lavfi", "-i", "color=c=navy:s=160x90:r=5"];
  const made = spawnSync(
    "ffmpeg",
    ["-v", "error", ...picture, "-i", "call.mp3", "-shortest", "-c:v", "mpeg4", "talk.mp4"],
    {
      cwd: gateway.folder,
      encoding: "utf8",
    },
  );
  assert.equal(made.status, 0, made.stderr);
  const program = [process.execPath, "examples/typescript/captions-for-a-video.ts", "talk.mp4"];
  assert.equal(await gateway.run(program), "wrote talk.vtt\nwrote talk.srt\n");
  assert.match(readFileSync(join(gateway.folder, "talk.vtt"), "utf8"), /^WEBVTT\n\n00:00:00\.\d{3} --> /u);
  assert.match(readFileSync(join(gateway.folder, "talk.srt"), "utf8"), /^1\n00:00:00,\d{3} --> /u);
});
