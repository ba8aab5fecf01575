// One request tries at most `max_attempts_per_request` targets, however it is answered and however many the route has.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import type { Sandbox } from "../../../../sandbox/server.ts";
import { warnOfLargeRoutes } from "../../../../src/directory/large-routes.ts";
import type { ConfigurationFile } from "../../../../src/config/schema/file.ts";
import { createLogger } from "../../../../src/lib/logger.ts";
import { type Answer, detailsOf, postForm, postJson } from "../../../harness/client.ts";
import { byId, configurationWith } from "../../../harness/configuration.ts";
import { neverResting, startGateway, type TestGateway } from "../../../harness/gateway.ts";
import { ended, submit } from "../../jobs/jobs.ts";
import { call, START, errorIn, FINISH, samples } from "../../realtime/setup.ts";

const TARGETS = 8;
const LIMIT = 5;
const ROUTES = ["files", "streams", "live", "chat", "translated", "twice"] as const;
const keyOf = (route: (typeof ROUTES)[number]) => `key-of-the-app-on-the-route-${route}-1`;

const eight = (kind: "dg" | "oa", model: string) =>
  Array.from({ length: TARGETS }, (_, at) => `${kind}-${at}/${model}`);
const connectionsOf = (kind: "dg" | "oa") => Array.from({ length: TARGETS }, (_, at) => `${kind}-${at}`);

const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    connections: {
      ...byId(connectionsOf("dg"), () => "deepgram" as const),
      ...byId(connectionsOf("oa"), () => "openai" as const),
    },
    routes: {
      files: eight("dg", "nova-3"),
      streams: eight("oa", "gpt-4o-transcribe"),
      live: eight("dg", "nova-3"),
      chat: eight("oa", "gpt-4.1-mini"),
      translated: { targets: [...eight("dg", "nova-3"), ...eight("oa", "gpt-4.1-mini")], translate_via_chat: true },
      twice: { targets: eight("dg", "nova-3"), may_pay_twice: true },
    },
    apps: byId(ROUTES, (route) => ({ key: keyOf(route) })),
  });

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file, wrapGateway: neverResting });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearFaults();
  gateway.sandbox.clearCalls();
});

const failAll = (times = 1_000) => gateway.sandbox.addFault({ times, fault: { kind: "status", status: 500 } });

function assertLimited(answer: Answer, code: string): void {
  assert.deepEqual([answer.status, answer.code], [503, code]);
  const { reason, attempts, max_attempts_per_request: max } = detailsOf(answer);
  assert.deepEqual([reason, (attempts as readonly unknown[]).length, max], ["exhausted", LIMIT, LIMIT]);
  assert.equal(gateway.sandbox.callCount, LIMIT);
}

const MESSAGES = [{ role: "user", content: "Hello" }];

for (const [name, ask, code] of [
  ["a transcription", () => postForm(gateway.origin, { key: keyOf("files") }), "NO_HEALTHY_PROVIDER"],
  [
    "a stream of a transcription",
    () => postForm(gateway.origin, { key: keyOf("streams"), fields: { stream: "true" } }),
    "NO_HEALTHY_PROVIDER",
  ],
  [
    "the compatible endpoint",
    () =>
      postForm(gateway.origin, {
        key: keyOf("files"),
        path: "/v1/audio/transcriptions",
        fields: { model: "auto" },
      }),
    "NO_HEALTHY_PROVIDER",
  ],
  [
    "a chat",
    () => postJson(gateway.origin, { messages: MESSAGES }, { key: keyOf("chat"), path: "/v1/chat" }),
    "all_providers_exhausted",
  ],
  [
    "a stream of a chat",
    () => postJson(gateway.origin, { messages: MESSAGES, stream: true }, { key: keyOf("chat"), path: "/v1/chat" }),
    "all_providers_exhausted",
  ],
] as const) {
  test(`routing.attempt-limit: ${name} tries 5 of 8 targets and answers ${code} with the limit`, async () => {
    failAll();
    assertLimited(await ask(), code);
  });
}

test("translation.chat-attempt-limit: a translation by chat keeps one of its 5 targets for the chat, and both steps together try no more", async () => {
  const translate = () => postForm(gateway.origin, { key: keyOf("translated"), path: "/v1/translation" });
  failAll();
  const failed = await translate();
  assert.deepEqual([failed.code, gateway.sandbox.callCount], ["NO_HEALTHY_PROVIDER", LIMIT - 1]);
  gateway.sandbox.clearFaults();
  gateway.sandbox.clearCalls();
  failAll(LIMIT - 2);
  assert.equal((await translate()).status, 200);
  assert.equal(gateway.sandbox.callCount, LIMIT);
});

test("routing.attempt-limit: targets after an unknown outcome count too", async () => {
  gateway.sandbox.addFault({ times: 1_000, fault: { kind: "status", status: 502 } });
  const answer = await postForm(gateway.origin, { key: keyOf("twice") });
  assert.deepEqual([answer.code, gateway.sandbox.callCount], ["PROVIDER_RESULT_UNKNOWN", LIMIT]);
});

test("jobs.target-limit: a job tries 5 targets over all of its attempts", async () => {
  failAll();
  const { job_id: id } = await submit(gateway.origin, { key: keyOf("files") });
  const { status, error } = await ended(gateway.origin, id, keyOf("files"));
  assert.deepEqual([status, error?.code], ["failed", "NO_HEALTHY_PROVIDER"]);
  assert.equal(gateway.sandbox.callCount, LIMIT);
});

test("routing.attempt-limit: a live session opens the sockets of 5 targets", async () => {
  failAll();
  const caller = await call(gateway.origin, { key: keyOf("live") });
  caller.send(START);
  caller.send(samples().subarray(0, 32_000));
  caller.send(FINISH);
  assert.deepEqual(await caller.closed, [1011, "NO_HEALTHY_PROVIDER"]);
  assert.equal((errorIn(caller).details as Record<string, unknown>)["max_attempts_per_request"], LIMIT);
  assert.equal(gateway.sandbox.callCount, LIMIT);
});

test("routing.attempt-limit, configuration.route-targets: a stored route with more targets than allowed keeps working, and a start reports it", async () => {
  const stored = sql`jsonb_set(definition, '{targets}',
    (select jsonb_agg(target) from jsonb_array_elements(definition -> 'targets') as target, generate_series(1, 3)))`;
  await sql`update routes set definition = ${stored} where id = 'files'`.execute(gateway.database.db);
  await gateway.app.refreshDirectory();
  assert.equal((await postForm(gateway.origin, { key: keyOf("files") })).status, 200);
  const lines: string[] = [];
  await warnOfLargeRoutes(
    gateway.database,
    createLogger({ write: (line: string) => lines.push(line) }, { level: "warn", isStrict: true }),
  );
  const reported = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    reported.map(({ workspace, route, detail, limit }) => [workspace, route, detail, limit]),
    [[null, "files", `${3 * TARGETS} targets`, 20]],
  );
});
