// What the request log must never contain: words, names of files, addresses, secrets. And that every answer to a known key has exactly
// one record, whatever was asked and whatever the providers did.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { sql } from "kysely";
import { fixture } from "../../audio/build-audio.ts";
import { postChat, streamChat } from "../../harness/chat-client.ts";
import { answer, json } from "../../harness/chat-upstream.ts";
import { type Answer, get, postForm, postJson } from "../../harness/client.ts";
import { KEY } from "../../harness/gateway.ts";
import type { ChatGateway } from "../chat/chat-gateway.ts";
import { ended } from "../jobs/jobs.ts";
import {
  idOf,
  NARROW_KEY,
  POOR_KEY,
  recordOf,
  SEEING_KEY,
  startRecordGateway,
  STRICT_KEY,
  written,
} from "./records.ts";

/** One second exactly. */
const AUDIO = fixture("speech-44k-stereo.wav");
let gateway: ChatGateway;
before(async () => {
  gateway = await startRecordGateway();
});
after(() => gateway.close());

test("requests.no-content: no word, prompt, file name, address, idempotency key or secret is in the log, a record or a line", async () => {
  const canary = (what: string): string => `canary-${what}-4f9d`;
  const secrets = [KEY, SEEING_KEY, "dg-secret", "oa-secret", "first-secret", "second-secret", "simulated transcript"];
  const fileName = `${canary("file")}.wav`;
  const headers = { "idempotency-key": canary("key"), "x-svc-purpose": `${canary("label")} with blanks` };
  const messages = [
    { role: "system", content: canary("system") },
    { role: "user", content: canary("user") },
  ];
  gateway.first.behave((call) => {
    json(call, 400, { error: { message: canary("provider"), code: null } });
  });
  const answers: Answer[] = [];
  for (const path of ["/v1/transcription", "/v1/transcription/jobs"])
    for (const fields of [
      { prompt: canary("prompt"), keyterms: [canary("term")] },
      { prompt: canary("prompt"), diarization: canary("nonsense") },
      { [canary("field")]: "1" },
    ])
      answers.push(
        await postForm(gateway.origin, {
          path,
          file: AUDIO,
          fileName,
          fields: {
            ...fields,
            ...(path.endsWith("jobs") ? { metadata: JSON.stringify({ note: canary("metadata") }) } : {}),
          },
          headers: { ...headers, "idempotency-key": `${canary("key")}${answers.length}` },
        }),
      );
  answers.push(
    await postJson(gateway.origin, {
      audio: { url: `https://media.example/${canary("path")}.wav?sig=${canary("sig")}` },
    }),
    await postJson(gateway.origin, { audio: Buffer.from(AUDIO).toString("base64"), audio_filename: canary("file") }),
    await postChat(gateway.origin, { messages, stop: canary("stop"), temperature: 0 }, { headers }),
    await postChat(gateway.origin, { messages, tools: [{ type: "function", function: { name: canary("tool") } }] }),
    await postJson(gateway.origin, { model: canary("model"), messages }, { path: "/v1/chat/completions" }),
  );
  await streamChat(gateway.origin, { messages });
  const records = [];
  for (const each of answers) records.push(await recordOf(gateway, each));
  for (const { job } of records) if (job !== null) await ended(gateway.origin, job.id);
  for (const each of answers) records.push(await recordOf(gateway, each, KEY));
  // A provider's own words about its refusal are stored for administrators, and in no log or record that a caller reads
  // [requests.provider-error].
  const { rows } = await sql<{ text: string }>`
    select (select coalesce(json_agg(requests), '[]') from requests)::text || (select coalesce(json_agg(to_jsonb(attempts) - 'provider_failure'), '[]') from attempts)::text
      || (select coalesce(json_agg(candidates), '[]') from jobs)::text as text`.execute(gateway.database.db);
  const everything = `${rows[0]?.text}${JSON.stringify(records)}${gateway.logs.join("")}`;
  assert(everything.includes(idOf(answers[0] as Answer)), "the haystack is the right one");
  const found = [...everything.matchAll(/.{0,80}canary.{0,40}/gu)].map(([around]) => around);
  assert.deepEqual([...found, ...secrets.filter((secret) => everything.includes(secret))], []);
});

test("requests.one-record, requests.decision: every answer to a known key has exactly one record, with a decision or why there is none", async (t) => {
  const path = fc.constantFrom(
    "/v1/transcription",
    "/v1/transcription",
    "/v1/translation",
    "/v1/transcription/jobs",
    "/v1/audio/transcriptions",
    "/v1/chat",
    "/v1/chat/completions",
  );
  const fields = fc.record(
    {
      diarization: fc.constantFrom("true", "true", "false", "false", "maybe"),
      timestamps: fc.constantFrom("word", "segment"),
      stream: fc.constantFrom("true", "false"),
      dry_run: fc.constantFrom("true", "false"),
      purpose: fc.constantFrom("meetings", "unknown", "Not A Label", "gone"),
      purpose_policy: fc.constantFrom("strict", "strict", "fallback"),
      response_profile: fc.constantFrom("fast", "deep"),
    },
    { requiredKeys: [] },
  );
  const fault = fc.constantFrom(null, null, { kind: "status", status: 500 } as const, { kind: "cut_reply" } as const);
  const question = fc.record({
    path,
    fields,
    fault,
    key: fc.constantFrom(KEY, KEY, KEY, SEEING_KEY, SEEING_KEY, NARROW_KEY, POOR_KEY, STRICT_KEY),
    idempotencyKey: fc.constantFrom(null, null, null, null, "one", "two"),
    isAudio: fc.constantFrom(true, true, true, false),
  });
  const seed = 20_261_121;
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(question, async (given) => {
      gateway.sandbox.clearFaults();
      const { fault: trouble } = given;
      if (trouble !== null) gateway.sandbox.addFault({ wire: "deepgram", times: 1, fault: trouble });
      gateway.first.behave(trouble === null ? answer : (call) => json(call, 500, { error: { message: "no" } }));
      const headers = given.idempotencyKey === null ? {} : { "idempotency-key": given.idempotencyKey };
      // Jobs take no `stream`.
      const { stream: _, ...unstreamed } = given.fields;
      const asked = given.path.endsWith("jobs") ? unstreamed : given.fields;
      const isChat = given.path.includes("chat");
      const reply = isChat
        ? await postJson(
            gateway.origin,
            {
              ...(given.path.endsWith("completions")
                ? { model: given.isAudio ? "auto" : "gpt" }
                : { dry_run: given.fields.dry_run === "true" }),
              messages: [{ role: "user", content: "Hello" }],
              stream: given.fields.stream === "true",
            },
            { path: given.path, key: given.key, headers },
          )
        : await postForm(gateway.origin, {
            path: given.path,
            key: given.key,
            headers,
            fields: given.path.startsWith("/v1/audio")
              ? { model: "auto", stream: given.fields.stream ?? "false" }
              : asked,
            file: given.isAudio ? AUDIO : Buffer.from("no audio"),
          });
      const reader = given.key === KEY || given.key === NARROW_KEY ? SEEING_KEY : given.key;
      const record = await recordOf(gateway, reply, reader);
      assert.equal(record.status, reply.status);
      if (reply.code !== null) assert.equal(record.code, reply.code);
      const { outcome, reason } = record.decision;
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      assert.equal(outcome === "routed", reason === null);
      assert.equal(outcome === "none", record.candidates.length === 0 && record.asked === null);
      assert.equal(outcome !== "routed" && record.attempts.length > 0, false);
      assert.equal(record.idempotency.replayed, reply.headers.get("x-svc-idempotent-replay") === "true");
      assert.equal((await get(gateway.origin, `/v1/requests/${idOf(reply)}`, reader)).status, 200);
    }),
    { numRuns: 300, seed },
  );
  await written(gateway);
  const rows = await gateway.database.db.selectFrom("requests").select("id").execute();
  assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length);
  for (const outcome of ["routed", "refused", "none"]) assert((seen.get(outcome) ?? 0) > 10, outcome);
  t.diagnostic(`seed ${seed}, ${JSON.stringify(Object.fromEntries(seen))}`);
});
