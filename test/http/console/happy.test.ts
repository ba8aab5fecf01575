// GET /console on both listeners, and what it loads [console.files]: a fixed list, under a policy of its own origin [console.own-origin].
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { after, before, test } from "node:test";
import { CONSOLE_MODULES } from "../../../src/http/pages/console-modules.ts";
import { get, send } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import { pageModules } from "../page-modules.ts";

/** What is there before the first screen. */
const MOST_FIRST_BYTES = 20_000;
/** Of all screens together; each is loaded when it is first gone to. */
const MOST_BYTES = 150_000;

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

test("console.own-origin: each listener has the page, names itself, and serves it under a policy of its own origin", async () => {
  for (const [listener, origin] of [
    ["public", gateway.origin],
    ["admin", gateway.adminOrigin],
  ] as const) {
    const { status, headers, text } = await get(origin, "/console", null);
    assert.deepEqual([status, headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    assert.match(
      text,
      new RegExp(`<body data-listener="${listener}" data-public-url="http://127\\.0\\.0\\.1:\\d+">`, "u"),
    );
    const policy = headers.get("content-security-policy") ?? "";
    for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      assert.ok(policy.split("; ").includes(rule), rule);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/u);
    assert.equal(headers.get("cache-control"), "no-cache");
    assert.doesNotMatch(
      text,
      /<script[^>]*>[^<]|<style| style=| on[a-z]+=|src="(https?:)?\/\/|<link [^>]*href="(https?:)?\/\//u,
    );
  }
});

test("pages.header: every page links to all others; the admin listener's page links to the public listener", async () => {
  const linksOf = (html: string): readonly (string | undefined)[] =>
    [...(/<header class="site">[\s\S]*<\/header>/u.exec(html)?.[0].matchAll(/href="([^"]+)"/gu) ?? [])].map(
      ([, href]) => href,
    );
  const links = ["/", "/playground", "/docs", "/console"];
  for (const path of links) {
    const { text } = await send(gateway.origin + path, { headers: { accept: "text/html" } });
    assert.deepEqual(linksOf(text), links, path);
  }
  const { text } = await get(gateway.adminOrigin, "/console", null);
  const publicUrl = /data-public-url="([^"]+)"/u.exec(text)?.[1];
  assert.ok(publicUrl);
  assert.deepEqual(linksOf(text), [`${publicUrl}/`, `${publicUrl}/playground`, `${publicUrl}/docs`, "/console"]);
});

test("console.files: its scripts are exactly the list: no module is missing, and none is served that nothing imports", async () => {
  const found = await pageModules(gateway.adminOrigin, "/console");
  assert.deepEqual([...found.keys()].toSorted(), CONSOLE_MODULES.map((name) => `/console/${name}.ts`).toSorted());
  for (const [path, text] of found)
    assert.doesNotMatch(text, /^\s*(import type|interface|type) |: readonly |\): string/mu, path);
});

test("console.size: the scripts that are loaded first, and those of all screens together, stay within their limits", async () => {
  const gzipped = (modules: ReadonlyMap<string, string>): number =>
    [...modules.values()].reduce((sum, text) => sum + gzipSync(text).length, 0);
  const first = gzipped(await pageModules(gateway.origin, "/console", { isFirst: true }));
  const all = gzipped(await pageModules(gateway.origin, "/console"));
  assert.ok(first < MOST_FIRST_BYTES, `${first} bytes`);
  assert.ok(all < MOST_BYTES, `${all} bytes`);
});

test("console.files: no path leads out of the list, and the page accepts reads only", async () => {
  for (const path of [
    "/console/console/secrets.ts",
    "/console/gateway/transcribe.ts",
    "/console/__proto__/constructor",
  ])
    assert.equal((await get(gateway.adminOrigin, path, null)).status, 404, path);
  const posted = await fetch(`${gateway.adminOrigin}/console`, { method: "POST" });
  assert.equal(posted.status, 405);
  await posted.arrayBuffer();
});

test("errors.doc-url: the documentation of an admin listener's error can be read there", async () => {
  const { status, text } = await get(gateway.adminOrigin, "/docs/errors", null);
  assert.equal(status, 200);
  assert.ok(text.includes('id="PRECONDITION_FAILED"'));
});
