// The programs of examples/typescript, with the package as a reader installs it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { freePort } from "../harness/programs.ts";
import { type ExampleGateway, ROOT, startExampleGateway, TRANSCRIPT } from "./example-gateway.ts";

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
