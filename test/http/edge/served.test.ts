// What the edge serves of itself: health, readiness, the error pages; and how long it holds a reply that is not read.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { readExamples } from "../../../scripts/api-examples.ts";
import { askApp } from "./ask-app.ts";
import pino from "pino";
import { packageRoot, webModules } from "../../../src/cli/package-root.ts";
import { ADMIN_ENDPOINTS } from "../../../src/contract/endpoints/admin-endpoints.ts";
import { completionWebhook } from "../../../src/contract/endpoints/completion-webhook.ts";
import { pathTemplate, requiredRole } from "../../../src/contract/endpoints/endpoint.ts";
import { ENDPOINTS } from "../../../src/contract/endpoints/endpoints.ts";
import { tagOf } from "../../../src/contract/endpoints/tags.ts";
import { ERRORS, GatewayError } from "../../../src/contract/errors.ts";
import { JOB_ONLY_ERRORS } from "../../../src/contract/jobs.ts";
import { getDocsSearchContract, health, readiness } from "../../../src/contract/endpoints/operations.ts";
import { referencePath } from "../../../src/http/pages/docs/api-reference.ts";
import { createDocumentation } from "../../../src/http/pages/docs/documentation.ts";
import { errorsHtml, errorsMarkdown } from "../../../src/http/pages/docs-errors.ts";
import type { HandlerContext } from "../../../src/http/server/endpoint.ts";
import { getDocs } from "../../../src/http/endpoints/pages/get-docs.ts";
import { getErrorDocs } from "../../../src/http/endpoints/pages/get-error-docs.ts";
import { getHealth } from "../../../src/http/endpoints/get-health.ts";
import { getOpenapi } from "../../../src/http/endpoints/pages/get-openapi.ts";
import { getLlms } from "../../../src/http/endpoints/pages/get-llms.ts";
import { getReadiness } from "../../../src/http/endpoints/get-readiness.ts";
import { FIRST_REQUESTS } from "../../../src/http/pages/first-requests.ts";
import { escapeHtml } from "../../../src/http/pages/html-page.ts";
import { curlCommand } from "../../../src/http/pages/openapi-examples.ts";
import { openapiDocument } from "../../../src/http/pages/openapi.ts";
import { readJson } from "../../../src/http/body/read-json.ts";
import { createServer } from "../../../src/http/server/server.ts";
import { json, open, post, startEdge } from "./harness.ts";

const DOCUMENT = join(packageRoot(), "openapi.json");

function operations(checks: Readonly<Record<string, () => Promise<boolean>>>, draining = () => false) {
  return createServer({
    endpoints: [
      getHealth,
      getReadiness({ draining, checks }),
      getOpenapi(DOCUMENT),
      ...getDocs(createDocumentation(packageRoot()), webModules()),
      getLlms(ENDPOINTS),
    ],
    authenticate: async () => assert.fail("none of these endpoints looks at a key"),
    publicUrl: () => "http://127.0.0.1",
    logger: pino({ level: "silent" }),
    draining,
  });
}

test("api.healthz: /healthz answers 200 even when nothing else works", async () => {
  const app = operations({ database: async () => false }, () => true);
  const reply = await askApp(app, { url: "/healthz" });
  assert.equal(reply.statusCode, 200);
  health.parse(reply.json());
  await app.close();
});

test("api.readyz: /readyz is 200 when every check passes, else 503 with the failed ones", async () => {
  const yes = async () => true;
  const no = async () => false;
  const broken = async () => {
    throw new Error("no route to database.internal");
  };
  const rows = [
    { checks: { database: yes, schema: yes }, draining: false, status: 200, failed: [] },
    { checks: { database: no, schema: yes }, draining: false, status: 503, failed: ["database"] },
    { checks: { database: broken, schema: no }, draining: false, status: 503, failed: ["database", "schema"] },
    { checks: { database: yes, schema: yes }, draining: true, status: 503, failed: ["accepting"] },
  ];
  for (const row of rows) {
    const app = operations(row.checks, () => row.draining);
    const reply = await askApp(app, { url: "/readyz" });
    assert.equal(reply.statusCode, row.status);
    const { checks } = readiness.parse(reply.json());
    const failed = Object.keys(checks).filter((name) => checks[name] === "failed");
    assert.deepEqual(failed.toSorted(), row.failed);
    assert.doesNotMatch(reply.body, /internal/);
    await app.close();
  }
});

test("api.docs: the documentation is served below /docs, with and without a slash; another page is 404", async () => {
  const app = operations({});
  const [page, slash] = [await askApp(app, { url: "/docs" }), await askApp(app, { url: "/docs/" })];
  assert.deepEqual([page.statusCode, page.headers["content-type"]], [200, "text/html; charset=utf-8"]);
  assert.equal(slash.statusCode, 200, slash.body);
  assert.equal(page.body, slash.body);
  for (const path of ["/docs/reference/idempotency", "/docs/glossary", "/docs/api", "/docs/decisions"])
    assert.equal((await askApp(app, { url: path })).statusCode, 200, path);
  for (const path of ["/docs/unknown", "/docs/reference/unknown", "/docs/..%2fpackage", "/docs/reference/%2e%2e"])
    assert.equal((await askApp(app, { url: path })).statusCode, 404, path);
  await app.close();
});

test("api.docs: every page loads from this gateway alone; its only inline script is the import map of its policy", async () => {
  const app = operations({});
  for (const { path } of await createDocumentation(packageRoot()).list()) {
    const { body, headers } = await askApp(app, { url: path });
    assert.doesNotMatch(body, /(?:src|action)="(?!\/web\/)|<style|<img|style="|onclick/u, path);
    const scripts = [...body.matchAll(/<script[^>]*>([^<]+)<\/script>/gu)].map(([, text = ""]) => text);
    assert.equal(scripts.length, 1, path);
    const hash = createHash("sha256")
      .update(scripts[0] ?? "")
      .digest("base64");
    const policy = String(headers["content-security-policy"]);
    assert.match(policy, /^default-src 'none';/u);
    assert.ok(policy.includes(`script-src 'self' 'sha256-${hash}';`), path);
    assert.doesNotMatch(policy, /unsafe|https?:/u);
  }
  await app.close();
});

test("api.docs: the navigation lists the guides in the order of the index page, the first transcript first", async () => {
  const pages = await createDocumentation(packageRoot()).list();
  const guides = pages.flatMap(({ path }) => (path.startsWith("/docs/guides/") ? [path] : []));
  const index = pages.find(({ path }) => path === "/docs")?.markdown ?? "";
  const linked = [...index.matchAll(/\((guides\/[a-z-]+)\.md/gu)].map(([, name]) => `/docs/${name}`);
  assert.equal(guides[0], "/docs/guides/first-transcript");
  assert.deepEqual(guides, [...new Set(linked)]);
});

test("api.docs: no link within the documentation is broken", async () => {
  const documentation = createDocumentation(packageRoot());
  const others = new Set(ENDPOINTS.filter(({ method }) => method === "GET").map(({ path }) => path));
  const pages = new Map<string, string>();
  for (const { path } of await documentation.list()) pages.set(path, (await documentation.render(path))?.html ?? "");
  const broken: string[] = [];
  for (const [path, html] of pages) {
    for (const [, target = ""] of html.matchAll(/<a href="([^"]+)"/gu)) {
      if (/^https?:/u.test(target)) continue;
      const [page, fragment] = [target.startsWith("#") ? path : (target.split("#")[0] ?? ""), target.split("#")[1]];
      const found = pages.get(page);
      const hasPlace = fragment === undefined || (found ?? "").includes(`id="${fragment}"`);
      if ((found === undefined && !others.has(page)) || !hasPlace) broken.push(`${path}: ${target}`);
    }
    for (const [, file = ""] of html.matchAll(/<span title="In the repository: ([^"]+)"/gu))
      if (!existsSync(join(packageRoot(), file))) broken.push(`${path}: ${file}`);
  }
  assert.deepEqual(broken, []);
  assert.ok(pages.size > 40);
});

test("api.docs: the API reference has every endpoint with its fields, and /llms.txt links to its place; both begin with the same first requests", async () => {
  const app = operations({});
  const [text, index] = [await askApp(app, { url: "/llms.txt" }), await askApp(app, { url: "/docs/api" })];
  assert.deepEqual([text.statusCode, text.headers["content-type"]], [200, "text/plain; charset=utf-8"]);
  for (const { operationId, method, path } of ENDPOINTS) {
    const place = new RegExp(`\\]\\((/docs/api/[a-z-]+)#${operationId}\\): `, "u").exec(text.body)?.[1] ?? "";
    const { body } = await askApp(app, { url: place });
    assert.equal(body.split(`id="${operationId}"`).length, 2, operationId);
    assert.ok(body.includes(`${method} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}</code>`), operationId);
    assert.ok(index.body.includes(`href="${place}#${operationId}"`), operationId);
  }
  const transcription = await askApp(app, { url: "/docs/api/transcription" });
  for (const field of ["diarization", "audio.url", "redaction"])
    assert.ok(transcription.body.includes(`<code>${field}</code>`), field);
  for (const { code } of FIRST_REQUESTS) {
    assert.ok(text.body.includes(code), code);
    assert.ok(index.body.includes(escapeHtml(code)), code);
  }
  await app.close();
});

test("api.docs: below /docs/admin-api is every endpoint of the admin listener, for which key, with its example; what the HTTP API says too is found there", async () => {
  const app = operations({});
  const index = await askApp(app, { url: "/docs/admin-api" });
  for (const contract of ADMIN_ENDPOINTS) {
    const { operationId, auth } = contract;
    const place = referencePath(tagOf(contract).name, "/docs/admin-api");
    assert.ok(index.body.includes(`href="${place}#${operationId}"`), operationId);
    const { body } = await askApp(app, { url: place });
    const [section = "", ...others] = body.split("<h2").filter((each) => each.startsWith(` id="${operationId}"`));
    assert.deepEqual(others, [], operationId);
    assert.ok(section.includes(`<code>${contract.method} ${pathTemplate(contract)}</code>`), operationId);
    assert.ok(section.includes(auth === "none" ? "No key." : "the role <code>operator</code>."), operationId);
    const example = readExamples()[operationId] ?? assert.fail(operationId);
    assert.ok(section.includes(escapeHtml(curlCommand(contract, example))), operationId);
  }
  const found = (await createDocumentation(packageRoot()).searchSections()).map(({ id }) => id);
  const hasPlace = (place: string) => found.some((id) => id === `/docs/${place}`);
  assert.ok(hasPlace("admin-api/workspaces#createWorkspace") && hasPlace("api/keys#createKey"));
  assert.ok(hasPlace("admin-api/connections#createPlatformConnection"));
  assert.ok(!hasPlace("admin-api/keys#createKey") && !hasPlace("admin-api/connections#createConnection"));
  await app.close();
});

test("api.openapi-roles: the API reference says of each endpoint which key it needs", async () => {
  const app = operations({});
  for (const contract of ENDPOINTS) {
    const { auth, scope, operationId } = contract;
    const { body } = await askApp(app, { url: referencePath(tagOf(contract).name) });
    const role = requiredRole(contract);
    const key =
      auth === "none"
        ? "No key."
        : role !== null
          ? `A key with the role <code>${role}</code>.`
          : scope === undefined
            ? "Any key."
            : `A key with the scope <code>${scope}</code>.`;
    const [, shown] = new RegExp(`id="${operationId}"[^]*?</code> · (.*?)</p>`, "u").exec(body) ?? [];
    assert.equal(shown, key, operationId);
  }
  await app.close();
});

test("api.docs: the API reference shows each operation's example, and the webhook with its headers; the search ignores them", async () => {
  const app = operations({});
  for (const contract of ENDPOINTS) {
    const { body } = await askApp(app, { url: referencePath(tagOf(contract).name) });
    const section = body.split("<h2").find((each) => each.startsWith(` id="${contract.operationId}"`)) ?? "";
    const example = readExamples()[contract.operationId] ?? assert.fail(contract.operationId);
    assert.ok(section.includes(escapeHtml(curlCommand(contract, example))), contract.operationId);
    const hasAnswer = Object.values(example.answers).some((answers) => Object.keys(answers).length > 0);
    assert.equal(/<p>Answer \d+, <code>/u.test(section), hasAnswer, contract.operationId);
  }
  const { operationId, example } = completionWebhook;
  const { body } = await askApp(app, { url: "/docs/api/webhook" });
  const section = body.split("<h2").find((each) => each.startsWith(` id="${operationId}"`)) ?? "";
  for (const [name, value] of Object.entries(example.headers))
    assert.ok(section.includes(`<code>${name}</code>`) && section.includes(`${name}: ${value}`), name);
  assert.ok(section.includes(escapeHtml(JSON.stringify(example.body))));
  const search = await askApp(app, { url: "/docs/search.json" });
  assert.ok(!search.body.includes("req_01kb1v3"));
  await app.close();
});

test("api.docs: the search has every section of every page, and its ids lead there", async () => {
  const app = operations({});
  const sections = getDocsSearchContract.responses[200]?.content["application/json"]?.parse(
    (await askApp(app, { url: "/docs/search.json" })).json(),
  ) as readonly { readonly id: string; readonly heading: string }[];
  assert.ok(sections.length > 300);
  assert.equal(new Set(sections.map(({ id }) => id)).size, sections.length);
  for (const { id, heading } of sections.filter((_, index) => index % 40 === 0)) {
    const [path = "", fragment = ""] = id.split("#");
    const { body } = await askApp(app, { url: path });
    assert.ok(heading !== "" && body.includes(`id="${fragment}"`), id);
  }
  await app.close();
});

test("errors.doc-url: doc_url's page has an anchor for every code, and loads nothing", async () => {
  const app = operations({});
  const { body } = await askApp(app, { url: "/docs/errors" });
  const markdown = errorsMarkdown();
  for (const [code, { status }] of Object.entries(ERRORS)) {
    for (const page of [body, errorsHtml()]) {
      assert.equal(page.split(` id="${code}"`).length, 2, code);
      assert.ok(page.includes(`href="#${code}"`), code);
    }
    assert.ok(markdown.includes(`## ${code}\n\n${status} `), code);
  }
  for (const code of JOB_ONLY_ERRORS) {
    for (const page of [body, errorsHtml()]) assert.equal(page.split(` id="${code}"`).length, 2, code);
    assert.ok(markdown.includes(`## ${code}\n\nOnly in `), code);
  }
  assert.doesNotMatch(errorsHtml(), /<script|<link|<img|@import|url\(|="https?:/);
  await app.close();
});

test("api.openapi: /openapi.json is served as JSON without a key, as its contracts make it", async () => {
  const app = operations({});
  const reply = await askApp(app, { url: "/openapi.json" });
  assert.equal(reply.statusCode, 200);
  assert.equal(reply.headers["content-type"], "application/json; charset=utf-8");
  assert.deepEqual(reply.json(), openapiDocument(ENDPOINTS, { examples: readExamples() }));
  await app.close();
});

test("api.shared-documents: replies with a document share its bytes, and none encodes it again", async () => {
  const context = {} as HandlerContext;
  const [docs] = getDocs(createDocumentation(packageRoot()), webModules());
  assert.ok(docs !== undefined);
  for (const { handle } of [getOpenapi(DOCUMENT), docs, getErrorDocs(), getLlms(ENDPOINTS)]) {
    const [first, second] = [await handle(context), await handle(context)];
    assert.ok("bytes" in first.body && "bytes" in second.body);
    assert.equal(first.body.bytes, second.body.bytes);
  }
});

test("api.unread-reply: a reply that is not read is dropped after a while; one that is read slowly is not", async (t) => {
  const body = "a".repeat(32 * 1_048_576);
  // Time passes with what the slow one reads, and in no other way.
  t.mock.timers.enable({ apis: ["setInterval"] });
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  const { port } = await startEdge(t, {
    limits: { unreadReplyMs: 800, checkIntervalMs: 50 },
    handle: async () => json({ body }),
  });
  const never = await open(port);
  const closed = once(never.socket, "close");
  never.socket.removeAllListeners("data");
  never.socket.pause();
  never.socket.write(post(""));
  const slow = await open(port);
  let takenBytes = 0;
  slow.socket.removeAllListeners("data");
  slow.socket.on("data", (bytes: Buffer) => {
    takenBytes += bytes.length;
    slow.socket.pause();
    nowMs += 4;
    t.mock.timers.tick(50);
    setImmediate(() => slow.socket.resume());
  });
  slow.socket.write(post(""));
  await once(slow.socket, "close");
  assert.ok(takenBytes > body.length);
  // What had left before it was let go of: not the whole.
  let leftBytes = 0;
  never.socket.on("data", (bytes: Buffer) => {
    leftBytes += bytes.length;
  });
  never.socket.on("error", () => undefined);
  never.socket.resume();
  await closed;
  assert.ok(leftBytes < body.length);
});

test("api.keep-alive: an answer that waits for nothing leaves the connection open, for its whole body came with its head", async (t) => {
  const { port } = await startEdge(t, {
    handle: async ({ request }) => {
      const value = await readJson({ headers: request.headers, body: request.raw }, { maxBytes: 100 });
      if (value === 400) throw new GatewayError("INVALID_REQUEST", { message: "No." });
      return json(value);
    },
  });
  const { socket, replies } = await open(port);
  for (const [index, status] of [200, 400, 200].entries()) {
    socket.write(post("Content-Type: application/json\r\nContent-Length: 3\r\n", `${status}`).replace(CLOSE, ""));
    const reply = (await replies(index + 1)).at(-1);
    assert.equal(reply?.status, status);
    assert.equal(reply?.headers["connection"], "keep-alive");
  }
  socket.destroy();
});

for (const [how, leave] of [
  ["resets its connection", (socket: Socket) => socket.resetAndDestroy()],
  ["closes its connection", (socket: Socket) => socket.end()],
] as const) {
  test(`api.caller-gone-early: of a caller that ${how} before its body is read nothing is begun, although the whole body has arrived`, async (t) => {
    const started = Promise.withResolvers<void>();
    const read = Promise.withResolvers<unknown>();
    const { port } = await startEdge(t, {
      handle: async ({ request, clientGone }) => {
        const gone = once(clientGone, "abort");
        started.resolve();
        await gone;
        const body = readJson({ headers: request.headers, body: request.raw }, { maxBytes: 100 });
        read.resolve(body.catch(() => "not taken"));
        return json(await body);
      },
    });
    const { socket } = await open(port);
    socket.write(post("Content-Type: application/json\r\nContent-Length: 3\r\n", "200"));
    await started.promise;
    leave(socket);
    assert.equal(await read.promise, "not taken");
  });
}

const CLOSE = "Connection: close\r\n";
