// GET /playground and what its page loads [console.files]: a fixed list, under a policy of its own origin [console.own-origin].
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { createPlaygroundFiles, PLAYGROUND_MODULES } from "../../../src/http/pages/playground-files.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import { get } from "../../harness/client.ts";
import { pageModules } from "../page-modules.ts";

const ROOT = join(import.meta.dirname, "../../..");
const SAMPLE = join(ROOT, "sandbox/samples/dialogue.mp3");
/** Read before the page does anything. Captions are part of it: a transcript can be saved in every format when the gateway is gone. */
const MOST_FIRST_BYTES = 90_000;
/** The comparison's code is loaded on demand. */
const MOST_BYTES = 140_000;

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

const load = (path: string) => get(gateway.origin, path, null);

test("console.own-origin: the page is HTML under a policy of its own origin, without a script or a style in it", async () => {
  const { status, headers, text } = await load("/playground");
  assert.deepEqual([status, headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.equal(headers.get("referrer-policy"), "no-referrer");
  const policy = headers.get("content-security-policy") ?? "";
  for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "media-src blob: 'self'"])
    assert.ok(policy.split("; ").includes(rule), rule);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/u);
  assert.doesNotMatch(
    text,
    /<script[^>]*>[^<]|<style| style=| on[a-z]+=|src="(https?:)?\/\/|<link [^>]*href="(https?:)?\/\//u,
  );
});

test("console.files: HEAD answers as GET does, without the body", async () => {
  for (const path of ["/playground", "/playground/page/style.css", "/playground/sample/dialogue.mp3"]) {
    const [head, whole] = [await fetch(gateway.origin + path, { method: "HEAD" }), await fetch(gateway.origin + path)];
    assert.equal(head.status, 200, path);
    for (const name of ["content-type", "content-length", "content-security-policy"])
      assert.equal(head.headers.get(name), whole.headers.get(name), `${path} ${name}`);
    assert.equal(await head.text(), "");
    await whole.arrayBuffer();
  }
});

test("console.files: scripts are served without types and are exactly the list: no module is missing, and none is served that nothing imports", async () => {
  const found = await pageModules(gateway.origin, "/playground");
  assert.deepEqual([...found.keys()].toSorted(), PLAYGROUND_MODULES.map((name) => `/playground/${name}.ts`).toSorted());
  for (const [path, text] of found)
    assert.doesNotMatch(text, /^\s*(import type|interface|type) |: readonly |\): string/mu, path);
});

test("console.size: the scripts that are loaded first stay small, and so do all together", async () => {
  const bytesOf = (modules: ReadonlyMap<string, string>): number =>
    [...modules.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const first = bytesOf(await pageModules(gateway.origin, "/playground", { isFirst: true }));
  const all = bytesOf(await pageModules(gateway.origin, "/playground"));
  assert.ok(first < MOST_FIRST_BYTES, `${first} bytes`);
  assert.ok(all < MOST_BYTES, `${all} bytes`);
});

test("console.files: the sample and the style are there", async () => {
  const sample = await fetch(`${gateway.origin}/playground/sample/dialogue.mp3`);
  assert.equal(sample.headers.get("content-type"), "audio/mpeg");
  assert.deepEqual(Buffer.from(await sample.arrayBuffer()), readFileSync(SAMPLE));
  const style = await load("/playground/page/style.css");
  assert.equal(style.headers.get("content-type"), "text/css; charset=utf-8");
  assert.doesNotMatch(style.text, /url\(|@import|http/u);
});

test("console.files: from a build the same files are served as they were built", async () => {
  const built = createPlaygroundFiles({ modules: dirname(SAMPLE), areBuilt: true, sample: SAMPLE });
  assert.equal(built.main, "playground/main.js");
  assert.equal(built.find("playground/main.ts"), null);
  await assert.rejects(built.find("playground/main.js") ?? assert.fail("it is not on the list"), { code: "ENOENT" });
});

test("console.one-release: replies share the bytes of a file, which is read once", async () => {
  const files = createPlaygroundFiles({ modules: join(ROOT, "src"), areBuilt: false, sample: SAMPLE });
  const [first, second] = [await files.find("playground/main.ts"), await files.find("playground/main.ts")];
  assert.ok(first !== null && first.bytes === second?.bytes);
});

test("console.one-release: after an upgrade no browser mixes modules of two releases: each is revalidated at every use", async () => {
  for (const path of ["/playground", "/playground/playground/main.ts", "/playground/page/style.css"])
    assert.equal((await load(path)).headers.get("cache-control"), "no-cache", path);
});
