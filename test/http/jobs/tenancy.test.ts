// A job belongs to one app of one workspace [jobs.visibility]: to every other caller it does not exist.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newId } from "../../../src/contract/ids.ts";
import { type Answer, get, postForm, send } from "../../harness/client.ts";
import { KEY, OTHER_KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { jobsFile, SECOND_APP_KEY } from "../../jobs/setting.ts";
import { ended, JOBS, list, remove, submit } from "./jobs.ts";

const ONLY_TRANSCRIBE = "test-key-without-the-jobs-scope1";
let gateway: TestGateway;
let jobId: string;
before(async () => {
  gateway = await startGateway({
    file: (sandbox) => {
      const file = jobsFile(sandbox);
      file.workspaces?.[0]?.apps?.[0]?.keys?.push({ id: "narrow", secret: ONLY_TRANSCRIBE, scopes: ["transcribe"] });
      return file;
    },
  });
  jobId = (await submit(gateway.origin)).job_id;
  await ended(gateway.origin, jobId);
});
after(() => gateway.close());

for (const [who, key] of [
  ["another workspace", OTHER_KEY],
  ["another app of the same workspace", SECOND_APP_KEY],
] as const) {
  test(`jobs.visibility: to ${who} a job is the same 404 as one that never existed, byte for byte but for the request id`, async () => {
    const { origin } = gateway;
    const asks: readonly ((id: string) => Promise<Answer>)[] = [
      (id) => get(origin, `${JOBS}/${id}`, key),
      (id) => get(origin, `${JOBS}/${id}?wait=1`, key),
      (id) => get(origin, `${JOBS}/${id}?format=srt`, key),
      (id) => remove(origin, id, key),
      (id) =>
        send(`${origin}${JOBS}/${id}`, {
          headers: { authorization: `Bearer ${key}`, accept: "text/event-stream" },
        }),
    ];
    for (const ask of asks) {
      const foreign = await ask(jobId);
      const missing = await ask(newId("job"));
      assert.equal(foreign.code, "JOB_NOT_FOUND");
      assert.equal(comparable(foreign), comparable(missing));
    }
    assert.deepEqual((await list(origin, "", key)).data, []);
  });
}

test("jobs.visibility: a foreign DELETE changes nothing, and another key of the same app sees the job", async () => {
  const { origin } = gateway;
  await remove(origin, jobId, OTHER_KEY);
  assert.equal((await get(origin, `${JOBS}/${jobId}`, KEY)).status, 200);
});

test("jobs.scope: without the scope jobs every endpoint of jobs, and mode async, is a 403", async () => {
  const { origin } = gateway;
  const answers = [
    await postForm(origin, { path: JOBS, key: ONLY_TRANSCRIBE }),
    await postForm(origin, { key: ONLY_TRANSCRIBE, fields: { mode: "async" } }),
    await get(origin, JOBS, ONLY_TRANSCRIBE),
    await get(origin, `${JOBS}/${jobId}`, ONLY_TRANSCRIBE),
    await remove(origin, jobId, ONLY_TRANSCRIBE),
  ];
  for (const answer of answers) assert.equal(answer.code, "FORBIDDEN");
});

test("jobs.scope: without a key every endpoint of jobs is a 401", async () => {
  const { origin } = gateway;
  for (const path of [JOBS, `${JOBS}/${jobId}`]) assert.equal((await get(origin, path, null)).code, "UNAUTHENTICATED");
  assert.equal((await get(origin, "/v1/transcription/results/AAAA", null)).code, "NOT_FOUND");
});

function comparable({ status, headers, text }: Answer): string {
  // Headers come sorted by name.
  const kept = [...headers].filter(([name]) => name !== "x-request-id" && name !== "date");
  return JSON.stringify([status, kept, text.replaceAll(headers.get("x-request-id") ?? "", "")]);
}
