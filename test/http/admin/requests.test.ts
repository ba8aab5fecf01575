// GET /admin/v1/requests and GET /workspace/{tenant_id}/requests: the request log as a list, and one of its records.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { listOf } from "../../../src/contract/admin/admin.ts";
import { newId } from "../../../src/contract/ids.ts";
import { type ListedRequestView, listedRequest } from "../../../src/contract/admin/request-list.ts";
import { requestRecord } from "../../../src/contract/requests.ts";
import { fixture } from "../../audio/build-audio.ts";
import { type Answer, postForm, send } from "../../harness/client.ts";
import { KEY, OTHER_KEY, type TestGateway } from "../../harness/gateway.ts";
import { ADMIN_KEY, call, OPERATOR_KEY, OTHER_ADMIN_KEY, startAdminGateway, viewOf } from "./admin.ts";

const AUDIO = fixture("speech-44k-stereo.wav");
const page = listOf(listedRequest);
let gateway: TestGateway;
/** As they were sent, oldest first. */
const ids: Record<"served" | "fellBack" | "refused" | "theirs" | "keyless", string> = {
  served: "",
  fellBack: "",
  refused: "",
  theirs: "",
  keyless: "",
};
const idOf = (answer: Answer): string => answer.headers.get("x-request-id") ?? "";

before(async () => {
  gateway = await startAdminGateway();
  const post = (key: string, fields = {}) => postForm(gateway.origin, { file: AUDIO, key, fields });
  ids.served = idOf(await post(KEY, { purpose: "meetings" }));
  gateway.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "status", status: 500 } });
  ids.fellBack = idOf(await post(KEY));
  ids.refused = idOf(await post(KEY, { nonsense: "1" }));
  ids.theirs = idOf(await post(OTHER_KEY));
  ids.keyless = idOf(await send(`${gateway.origin}/v1/chat`, { method: "POST" }));
  for (;;) {
    await gateway.app.requestLog.flush();
    const { length } = await gateway.database.db.selectFrom("requests").select("id").execute();
    if (length === 5) break;
    await turn();
  }
  await spreadTimes();
});
after(() => gateway.close());

/**
 * Gives the records times a second apart, in the order in which they were sent. A batch's times are computed back from the moment of its write, so that those
 * of two batches differ by what the writes took.
 */
async function spreadTimes(): Promise<void> {
  const sent = Object.values(ids);
  const startMs = Date.now() - 60_000;
  for (const [position, id] of sent.entries())
    await gateway.database.db
      .updateTable("requests")
      .set({ at: new Date(startMs + position * 1_000) })
      .where("id", "=", id)
      .execute();
}

const list = async (path: string, key?: string) =>
  viewOf(page, await call(gateway, "GET", path, key === undefined ? {} : { key }));
const idsOf = ({ data }: { readonly data: readonly ListedRequestView[] }) => data.map(({ id }) => id);

test("requests.list, requests.administrators: the operator sees every request, newest first, those without a valid key too, and where each went", async () => {
  const all = await list("/admin/v1/requests");
  assert.deepEqual(idsOf(all), [ids.keyless, ids.theirs, ids.refused, ids.fellBack, ids.served]);
  const [keyless, theirs, refused, fellBack, served] = all.data;
  assert.deepEqual(
    [keyless?.workspace, keyless?.app, keyless?.key, keyless?.code, keyless?.outcome],
    [null, null, null, "UNAUTHENTICATED", "refused"],
  );
  assert(theirs?.workspace !== served?.workspace && theirs?.outcome === "succeeded");
  assert.deepEqual([refused?.outcome, refused?.status, refused?.attempts], ["refused", 400, []]);
  assert.deepEqual(
    fellBack?.attempts.map(({ provider, outcome }) => [provider, outcome?.split(":")[0]]),
    [
      ["deepgram", "failed"],
      ["openai", "succeeded"],
    ],
  );
  assert.deepEqual(served?.purpose, { requested: "meetings", applied: null, source: "fallback" });
  assert.deepEqual([served?.route, served?.audio_seconds, served?.charge_usd], ["speech", 1, "0.00"]);
});

test("requests.filters: requests are filtered by time, app, key, outcome, code, workspace and by when they were written", async () => {
  const { data } = await list("/admin/v1/requests");
  const of = (id: string) => data.find((each) => each.id === id);
  const [served, theirs] = [of(ids.served), of(ids.theirs)];
  const found = async (query: string) => idsOf(await list(`/admin/v1/requests?${query}`));
  const theRest = [ids.refused, ids.fellBack, ids.served];
  assert.deepEqual(await found("workspace=acme"), theRest);
  assert.deepEqual(await found(`workspace=${served?.workspace}`), theRest);
  assert.deepEqual(await found(`app=${served?.app}`), theRest);
  assert.deepEqual(await found(`key=${theirs?.key}`), [ids.theirs]);
  assert.deepEqual(await found("outcome=refused"), [ids.keyless, ids.refused]);
  assert.deepEqual(await found("outcome=refused&workspace=acme"), [ids.refused]);
  assert.deepEqual(await found("outcome=succeeded&workspace=acme"), [ids.fellBack, ids.served]);
  assert.deepEqual(await found("outcome=failed"), []);
  assert.deepEqual(await found("outcome=abandoned"), []);
  assert.deepEqual(await found("code=INVALID_REQUEST"), [ids.refused]);
  assert.deepEqual(await found("code=INVALID_REQUEST&workspace=other"), []);
  const second = of(ids.fellBack)?.created_at ?? "";
  assert.deepEqual((await found(`from=${second}&workspace=acme`)).at(-1), ids.fellBack);
  assert.deepEqual(await found(`to=${second}`), [ids.served]);
  assert.deepEqual(await found("from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z"), []);
  assert.deepEqual(await found("recorded_from=2099-01-01T00:00:00Z"), []);
  assert.equal((await found("recorded_from=2020-01-01T00:00:00Z")).length, 5);
});

test("requests.list: requests are read page by page, in order, each once", async () => {
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const next: { data: ListedRequestView[]; next_cursor: string | null } = await list(
      `/admin/v1/requests?limit=2${cursor === null ? "" : `&cursor=${cursor}`}`,
    );
    seen.push(...idsOf(next));
    cursor = next.next_cursor;
  } while (cursor !== null);
  assert.deepEqual(seen, idsOf(await list("/admin/v1/requests")));
});

test("requests.list: requests of one microsecond are ordered by id at the end of a page", async () => {
  const at = new Date("2026-01-01T00:00:00.000Z");
  const same = Array.from({ length: 5 }, () => newId("request")).toSorted();
  await gateway.database.db
    .insertInto("requests")
    .values(
      same.map((id) => ({
        id,
        workspace_id: null,
        key_id: null,
        endpoint: "POST /v1/chat",
        at,
        status: 401,
        code: "UNAUTHENTICATED",
        test_mode: false,
        key_use: "not_sent",
        duration_ms: 1,
      })) as never,
    )
    .execute();
  const path = "/admin/v1/requests?limit=2&to=2026-01-02T00:00:00Z";
  const first = await list(path);
  const second = await list(`${path}&cursor=${first.next_cursor}`);
  const third = await list(`${path}&cursor=${second.next_cursor}`);
  assert.deepEqual([first, second, third].flatMap(idsOf), same.toReversed());
  await gateway.database.db.deleteFrom("requests").where("id", "in", same).execute();
});

test("requests.list-invalid: an unknown filter, an impossible time and a cursor of another list are refused", async () => {
  const audit = await call(gateway, "GET", "/admin/v1/workspaces?limit=1");
  const { next_cursor: foreign } = audit.json as { next_cursor: string };
  for (const query of [
    "from=yesterday",
    "outcome=good",
    "limit=0",
    "limit=101",
    "limit=0x10",
    "limit=1e1",
    "limit=",
    "colour=red",
    "cursor=x",
    `cursor=${foreign}`,
    `cursor=${Buffer.from('["requests","99999999999999999999.req"]').toString("base64url")}`,
  ]) {
    const answer = await call(gateway, "GET", `/admin/v1/requests?${query}`);
    assert.deepEqual([answer.status, answer.code], [400, "INVALID_REQUEST"], query);
  }
  assert.equal((await call(gateway, "GET", "/admin/v1/requests?workspace=unknown")).code, "NOT_FOUND");
  assert.equal((await call(gateway, "GET", "/workspace/acme/requests?workspace=other")).code, "INVALID_REQUEST");
});

test("requests.administrators: a workspace's administrator sees its own requests and no other's; the operator the same of it", async () => {
  const own = await list("/workspace/acme/requests");
  assert.deepEqual(idsOf(own), [ids.refused, ids.fellBack, ids.served]);
  assert.deepEqual(await list("/admin/v1/workspaces/acme/requests"), own);
  assert.deepEqual(idsOf(await list("/workspace/other/requests", OTHER_ADMIN_KEY)), [ids.theirs]);
  assert.equal((await call(gateway, "GET", "/workspace/acme/requests", { key: KEY })).code, "FORBIDDEN");
  const strip = ({ status, text }: Answer) => [status, text.replaceAll(/req_[0-9a-z]{26}/g, "req")];
  const missing = await call(gateway, "GET", "/workspace/unknown/requests", { key: OTHER_ADMIN_KEY });
  assert.equal(missing.status, 404);
  const foreign = await call(gateway, "GET", "/workspace/acme/requests", { key: OTHER_ADMIN_KEY });
  assert.deepEqual(strip(foreign), strip(missing));
  assert.equal((await call(gateway, "GET", "/admin/v1/requests", { key: ADMIN_KEY })).code, "FORBIDDEN");
  assert.equal((await call(gateway, "GET", "/admin/v1/requests", { key: null })).status, 401);
});

test("requests.administrators, requests.foreign: administrators read one record with names and owner; a foreign one is as one that does not exist", async () => {
  const read = (path: string, key?: string) => call(gateway, "GET", path, key === undefined ? {} : { key });
  const record = viewOf(requestRecord, await read(`/workspace/acme/requests/${ids.fellBack}`));
  assert.equal(record.attempts[1]?.provider, "openai");
  assert(record.workspace !== null && record.app !== null && record.key !== null);
  assert.deepEqual(viewOf(requestRecord, await read(`/admin/v1/requests/${ids.fellBack}`)), record);
  assert.deepEqual(viewOf(requestRecord, await read(`/workspace/acme/requests/${ids.fellBack}`, OPERATOR_KEY)), record);
  const keyless = viewOf(requestRecord, await read(`/admin/v1/requests/${ids.keyless}`));
  assert.equal(keyless.summary, "Rejected with 401 UNAUTHENTICATED before it was routed; nothing was called.");
  assert.deepEqual([keyless.workspace, keyless.attempts, keyless.decision.outcome], [null, [], "none"]);
  const strip = ({ status, text }: Answer) => [status, text.replaceAll(/req_[0-9a-z]{26}/g, "req")];
  const missing = await read(`/workspace/acme/requests/${newId("request")}`);
  for (const id of [ids.theirs, ids.keyless])
    assert.deepEqual(strip(await read(`/workspace/acme/requests/${id}`)), strip(missing));
  assert.equal((await read(`/admin/v1/requests/${newId("request")}`)).code, "NOT_FOUND");
});

test("usage.operator: the operator's usage covers all workspaces, by workspace or for a selected one", async () => {
  const usage = async (query: string) => {
    const answer = await call(gateway, "GET", `/admin/v1/usage?${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as { data: { workspace: string; attempts: number }[]; totals: { attempts: number }[] };
  };
  const all = await usage("group_by=workspace");
  assert.deepEqual(
    all.data.map(({ attempts }) => attempts).toSorted((a, b) => a - b),
    [1, 3],
  );
  const busy = all.data.find(({ attempts }) => attempts === 3);
  assert.equal((await usage("workspace=acme")).totals[0]?.attempts, 3);
  assert.equal((await usage(`workspace=${busy?.workspace}`)).totals[0]?.attempts, 3);
  assert.equal((await call(gateway, "GET", "/admin/v1/usage?workspace=unknown")).code, "NOT_FOUND");
  assert.equal((await call(gateway, "GET", "/admin/v1/usage", { key: ADMIN_KEY })).code, "FORBIDDEN");
});
