// The answer of `POST …/explain` equals the record of the same real request, by the live version and by a draft once it is published, over
// random routes.
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, test } from "node:test";
import { createMeasurer } from "../../src/audio/measure.ts";
import { hashKey } from "../../src/auth/key-format.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import {
  type ExplanationRequest,
  routeExplanation,
  type RouteExplanation,
} from "../../src/contract/admin/route-explanation.ts";
import type { RoutingDecision } from "../../src/contract/transcription/transcription-envelope.ts";
import { fixture } from "../audio/build-audio.ts";
import { HELLO } from "../harness/chat-client.ts";
import { PEPPER, startGateway, type TestGateway } from "../harness/gateway.ts";
import { pauseIn } from "../harness/pause.ts";
import { call, OPERATOR_KEY, viewOf } from "../http/admin/admin.ts";
import { PLATFORM, revise } from "../http/admin/set-up.ts";
import { type Asked, askAll, traceOf } from "./asked.ts";
import { type RandomApp, type RandomRequest, randomSetUp } from "./random-set-up.ts";

const SEED = randomInt(2 ** 31);
const [APPS, REQUESTS_EACH] = [10, 6];

let gateway: TestGateway;
let apps: readonly RandomApp[];
const measurer = createMeasurer();
before(async () => {
  const setUp = randomSetUp(SEED, APPS, REQUESTS_EACH);
  apps = setUp.apps;
  gateway = await startGateway({
    file: (sandbox): ConfigurationFile => ({
      ...setUp.file(sandbox),
      operator_keys: [{ id: "root", secret: OPERATOR_KEY }],
    }),
  });
  // Wherever a route has it: a pause is part of what is decided.
  await pauseIn(gateway, "oa");
});
after(async () => {
  await measurer.close();
  await (gateway as TestGateway | undefined)?.close();
});

test("routing.explain-equals-request, routing.dry-run-decision: over random routes the explanation for a key equals the record of its request and the answer of its dry run", async (t) => {
  const outcomes = new Map<string, number>();
  for (const asked of await askAll(gateway, apps)) {
    const { live } = await explain(asked);
    const about = `seed ${SEED}: ${asked.app.id} ${JSON.stringify(asked.request)}`;
    assert.deepEqual(live.trace, await traceOf(gateway, asked.id), about);
    if (asked.dryRun !== null) assert.deepEqual(asCallersSee(live.decision), asked.dryRun, about);
    for (const kind of [live.trace.refusal ?? "routed", ...(asked.dryRun === null ? [] : ["dry run"])])
      outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
  }
  const summary = [...outcomes].map(([name, count]) => `${count} ${name}`).join("; ");
  t.diagnostic(`seed ${SEED}: ${summary}`);
  // Not all alike, or nothing was shown.
  assert.ok(outcomes.size >= 3 && outcomes.has("routed") && outcomes.has("dry run"), `seed ${SEED}: only ${summary}`);
});

test("routing.explain-draft: the explanation of a draft equals the records after it was published, and no request before that uses it", async (t) => {
  // The file's routes are the file's: released, they may have drafts.
  await gateway.database.db.updateTable("routes").set({ managed_by: "api" }).execute();
  const others = randomSetUp(SEED + 1, 1, 1).file(gateway.sandbox).routes ?? [];
  const some = apps.map((app) => ({ ...app, requests: app.requests.slice(0, 2) }));
  let changed = 0;
  for (const { id, ...definition } of others) {
    const { draft } = await revise(gateway, PLATFORM, id, definition);
    // A route that came out the same again has none.
    if (draft === null) continue;
    const explained: RouteExplanation[] = [];
    for (const { app, request } of some.flatMap((app) => app.requests.map((request) => ({ app, request }))))
      explained.push(await explain({ app, request }, id));
    await call(gateway, "POST", `${PLATFORM}/routes/${id}/publish`, { body: {} });
    for (const [index, asked] of (await askAll(gateway, some)).entries()) {
      const { draft: byDraft, compared, live } = explained[index] ?? assert.fail();
      assert.deepEqual(compared, { route: id, version: draft.version, state: "draft" });
      const about = `seed ${SEED}: ${id}, ${asked.app.id} ${JSON.stringify(asked.request)}`;
      assert.deepEqual(byDraft?.trace, await traceOf(gateway, asked.id), about);
      if (JSON.stringify(byDraft?.trace) !== JSON.stringify(live.trace)) changed += 1;
    }
  }
  t.diagnostic(`seed ${SEED}: ${changed} requests went another way by the draft`);
  assert.ok(changed > 0, `seed ${SEED}: no draft changed anything`);
});

async function explain({ app, request }: Pick<Asked, "app" | "request">, route?: string): Promise<RouteExplanation> {
  const key = await gateway.database.db
    .selectFrom("api_keys")
    .select("id")
    .where("secret_hash", "=", hashKey(PEPPER, app.secret))
    .executeTakeFirstOrThrow();
  const body = { key_id: key.id, ...(await questionOf(request)), ...(route === undefined ? {} : { route }) };
  return viewOf(routeExplanation, await call(gateway, "POST", `${PLATFORM}/explain`, { body }));
}

async function questionOf({ task, fields, file }: RandomRequest): Promise<Partial<ExplanationRequest>> {
  if (task === "chat") return { task, fields: { messages: HELLO, ...fields } };
  const bytes = fixture(file);
  const measured = await measurer.measure({ kind: "bytes", bytes });
  assert(measured.ok);
  const { format, durationSeconds, channels, codec, sampleRate } = measured;
  const facts = { format, duration_seconds: durationSeconds, channels, codec, sample_rate: sampleRate };
  return { task, fields, recording: { ...facts, bytes: bytes.length } };
}

/** These keys have no `routing:read`. */
function asCallersSee(decision: RoutingDecision): RoutingDecision {
  return {
    ...decision,
    candidates: decision.candidates.map(({ position, eligible, missing, health, split, paused_until: until }) => ({
      position,
      eligible,
      missing,
      health,
      ...(split === undefined ? {} : { split }),
      ...(until === undefined ? {} : { paused_until: until }),
    })),
  };
}
