// Tools see what the key of their caller sees, and no more [mcp.tenancy].
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { KEY, OTHER_KEY } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";
import { type RemoteGateway, startRemoteGateway, URL_OF_SPEECH } from "../audio-url/setup.ts";
import { callTool, connect, read } from "./setup.ts";

let remote: RemoteGateway;
before(async () => {
  remote = await startRemoteGateway({ works: true });
});
after(() => remote.close());

test("mcp.tenancy: another workspace's job and request do not exist for a tool; the caller's own do", async () => {
  const { origin, database } = remote.gateway;
  const mine = await connect(origin, { key: KEY, query: "?tools=jobs" });
  const theirs = await connect(origin, { key: OTHER_KEY, query: "?tools=jobs" });
  const submitted = read((await callTool(mine, "submit_transcription_job", { url: URL_OF_SPEECH })).texts[0]);
  const { job_id: id, request_id: request } = submitted;
  const ended = await callTool(mine, "get_job", { job_id: id, wait_seconds: 30 });
  assert.equal(read(ended.texts[0])["status"], "succeeded");
  await until(async () => !(await callTool(mine, "explain_request", { request_id: request })).isError);
  for (const [name, given, code] of [
    ["get_job", { job_id: id }, "JOB_NOT_FOUND"],
    ["cancel_job", { job_id: id }, "JOB_NOT_FOUND"],
    ["explain_request", { request_id: request }, "NOT_FOUND"],
  ] as const) {
    const { isError, texts } = await callTool(theirs, name, given);
    assert(isError, name);
    assert(texts.join().startsWith(`${code}: `), texts.join());
  }
  await assert.rejects(theirs.readResource({ uri: `patchbay://jobs/${String(id)}/transcript` }), /JOB_NOT_FOUND/u);
  // media.example is on the other workspace's list alone.
  const refused = await callTool(theirs, "transcribe_audio", { url: URL_OF_SPEECH });
  assert.match(refused.texts.join(), /^AUDIO_URL_REJECTED: /u);
  const owners = await database.db
    .selectFrom("attempts")
    .innerJoin("workspaces", "workspaces.id", "attempts.workspace_id")
    .select("workspaces.slug")
    .distinct()
    .execute();
  assert.deepEqual(owners, [{ slug: "acme" }]);
  await Promise.all([mine.close(), theirs.close()]);
});
