// The examples of docs/reference/client.md, each run alone and unchanged, against a whole gateway.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { newId } from "../../src/contract/ids.ts";
import { signedRequest } from "../../src/webhooks/attempt.ts";
import { makeSecret } from "../../src/webhooks/sign.ts";
import { TEXT } from "../harness/chat-upstream.ts";
import { KEY } from "../harness/gateway.ts";
import { installPackage } from "../harness/installed-package.ts";
import type { ChatGateway } from "../http/chat/chat-gateway.ts";
import { startRecordGateway } from "../http/requests/records.ts";

const ROOT = join(import.meta.dirname, "../..");
/** By the heading that an example is under. */
const EXAMPLES = new Map(
  readFileSync(join(ROOT, "docs/reference/client.md"), "utf8")
    .split(/^## /gmu)
    .slice(1)
    .flatMap((section) => {
      const heading = section.slice(0, section.indexOf("\n"));
      const codes = [...section.matchAll(/^```ts\n([\s\S]*?)^```$/gmu)].map(([, code = ""]) => code);
      return codes.map((code, index) => [index === 0 ? heading : `${heading} ${index + 1}`, code] as const);
    }),
);

let gateway: ChatGateway;
let folder: string;
before(async () => {
  gateway = await startRecordGateway();
  folder = mkdtempSync(join(tmpdir(), "patchbay-client-"));
  copyFileSync(join(ROOT, "sandbox/samples/dialogue.mp3"), join(folder, "call.mp3"));
  installPackage(folder);
});
after(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

function start(
  heading: string,
  env: Readonly<Record<string, string>> = {},
): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const code = EXAMPLES.get(heading);
  assert.ok(code !== undefined, `there is no example under ${heading}`);
  writeFileSync(join(folder, "example.mts"), code);
  const child = spawn(process.execPath, ["--no-warnings", "example.mts"], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      PATCHBAY_URL: gateway.origin,
      PATCHBAY_API_KEY: KEY,
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  assert.ok(child.stdout !== null);
  return Object.assign(child, { stdout: child.stdout });
}

async function printedBy(heading: string): Promise<string> {
  const child = start(heading);
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  assert.equal(code, 0, heading);
  return printed;
}

const PRINTED: Readonly<Record<string, RegExp>> = {
  "The first transcript": /^Good morning, .* Thank you\. 14\.402\n$/u,
  "The first transcript 2": /^14\.402 req_[0-9a-z]{26} null\n$/u,
  Chat: new RegExp(`^${TEXT} 14\\n$`, "u"),
  Streams: new RegExp(`^${TEXT}`, "u"),
  Errors: /^415 UNSUPPORTED_MEDIA_TYPE .*\/docs\/errors#UNSUPPORTED_MEDIA_TYPE req_[0-9a-z]{26}\n$/u,
  Retries: /^Good morning, .* Thank you\.\n$/u,
  Jobs: /^(?:queued|fetching|measuring|transcribing|storing|done)\n[\s\S]*-->/u,
};

test("client.examples: every example of docs/reference/client.md except the receiver's has an expected output", () => {
  assert.deepEqual([...EXAMPLES.keys()].toSorted(), [...Object.keys(PRINTED), "Webhooks"].toSorted());
});

for (const [heading, printed] of Object.entries(PRINTED))
  test(`client.examples: the example under ${heading} of docs/reference/client.md runs as it is`, async () => {
    assert.match(await printedBy(heading), printed);
  });

test("client.webhook-receiver: the receiver of docs/reference/client.md accepts a genuine delivery and no other", async () => {
  const secret = makeSecret();
  const child = start("Webhooks", { PATCHBAY_WEBHOOK_SECRET: secret, PORT: "0" });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const port = /port: (\d+)/u.exec(String((await lines.next()).value))?.[1];
    const jobId = newId("job");
    const event = {
      type: "transcription.job.succeeded" as const,
      job_id: jobId,
      status: "succeeded" as const,
      occurred_at: new Date().toISOString(),
    };
    const secrets = { current: secret, previous: null };
    const { headers, body } = signedRequest({ event, eventId: newId("event"), secrets, isTest: false }, Date.now());
    const post = async (text: string) =>
      (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: text })).status;
    assert.deepEqual([await post(`${body} `), await post(body)], [400, 204]);
    assert.equal((await lines.next()).value, `${jobId} succeeded`);
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});
