// The page of examples/live-captions in a real browser, whose microphone plays words that a real model of this machine knows.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { borrowBrowser, type BorrowedBrowser } from "../harness/browser.ts";
import { configurationWith } from "../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../harness/gateway.ts";
import { installWords, KNOWN, sentence, wavOf, WORDS } from "../harness/local-model.ts";
import { ROOT } from "./example-gateway.ts";

const SPOKEN = KNOWN.slice(0, 6);

const folder = mkdtempSync(join(tmpdir(), "patchbay-live-captions-"));
const microphone = join(folder, "microphone.wav");
let gateway: TestGateway;
let browser: BorrowedBrowser;
before(async () => {
  installWords(join(folder, "models"));
  writeFileSync(microphone, wavOf(sentence(...SPOKEN).samples));
  [browser, gateway] = await Promise.all([
    borrowBrowser({ microphone }),
    startGateway({
      file: (sandbox) =>
        configurationWith(sandbox, {
          scopes: ["transcribe"],
          models: { dir: join(folder, "models") },
          connections: { here: { kind: "local", models: { [WORDS]: { capabilities: ["audio_input"] } } } },
          routes: { here: `here/${WORDS}` },
          apps: { notes: { key: KEY } },
        }),
    }),
  ]);
});
after(async () => {
  await browser.close();
  await gateway.close();
  rmSync(folder, { recursive: true, force: true });
});

test("api.examples: live-captions/server.mjs shows what the microphone of a browser hears, and the page never has the key", async (t) => {
  const server = spawn(process.execPath, ["examples/live-captions/server.mjs"], {
    cwd: ROOT,
    env: { PATCHBAY_URL: gateway.origin, PATCHBAY_API_KEY: KEY, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(async () => {
    server.kill();
    await once(server, "exit");
  });
  const [address] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
  for (const [path, name] of [
    ["/", "index.html"],
    ["/captions.js", "captions.js"],
    ["/samples.js", "samples.js"],
  ] as const) {
    const text = await (await fetch(address + path)).text();
    assert.equal(text, readFileSync(join(ROOT, "examples/live-captions", name), "utf8"));
    assert.ok(!text.includes(KEY), path);
  }
  assert.equal((await fetch(`${address}/server.mjs`)).status, 404);
  const page = await browser.open(t, address);
  if (page === null) return;
  await page.getByRole("button", { name: "Start" }).click();
  // The microphone repeats its words, so one that a busy machine swallows is heard again.
  const captions = page.locator("#captions").filter({ hasText: new RegExp(SPOKEN.join("|"), "u") });
  await captions.waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page
    .getByRole("status")
    .filter({ hasText: /^\d+\.\d seconds$/u })
    .waitFor();
  await page.getByRole("button", { name: "Start" }).and(page.locator(":enabled")).waitFor();
});
