// GET /v1/transcription/realtime: live audio over real sockets, end to end.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { realtimeToken } from "../../../src/contract/transcription/realtime.ts";
import { applyConfiguration } from "../../../src/directory/apply-configuration.ts";
import { fixture } from "../../audio/build-audio.ts";
import { configurationOf, KEY, PEPPER, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";
import { call, envelopeIn, FINISH, frames, realtimeFile, samples, speak, START } from "./setup.ts";

let gateway: TestGateway;
/** How many of the next settlements and reservations fail because the database is unavailable. */
let failures = { settle: 0, reserve: 0 };
/** Awaited before each reservation; its argument is the number of the reservation. */
let beforeReserve: (count: number) => Promise<void> = async () => undefined;
let reservations = 0;
before(async () => {
  gateway = await startGateway({
    file: realtimeFile,
    wrapGateway: (services) => ({
      ...services,
      ledger: {
        ...services.ledger,
        settle: async (settlement) => {
          if (failures.settle-- > 0) throw CONNECTION_REFUSED;
          return services.ledger.settle(settlement);
        },
        reserve: async (reservation) => {
          if (failures.reserve-- > 0) throw CONNECTION_REFUSED;
          await beforeReserve(++reservations);
          return services.ledger.reserve(reservation);
        },
      },
    }),
  });
});
const CONNECTION_REFUSED = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
after(() => gateway.close());
beforeEach(async () => {
  failures = { settle: 0, reserve: 0 };
  reservations = 0;
  beforeReserve = async () => undefined;
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
  await gateway.database.db.deleteFrom("attempts").execute();
});

const attempts = () => gateway.database.db.selectFrom("attempts").selectAll().orderBy("id").execute();

test("realtime.completed, realtime.close-codes: what is spoken comes back as text that is the whole, then the envelope, then 1000", async () => {
  const caller = await call(gateway.origin);
  await speak(caller);
  assert.deepEqual(await caller.closed, [1000, ""]);
  const envelope = envelopeIn(caller);
  const texts = caller.events.slice(0, -1).map(({ event, data }) => {
    assert.equal(event, "transcript.delta");
    return data["text"];
  });
  assert.ok(texts.length > 2);
  assert.equal(texts.join(""), envelope.content);
  const seconds = samples().byteLength / 32_000;
  assert.ok(Math.abs(envelope.duration_seconds - seconds) < 0.001);
  assert.equal(envelope.usage.billable_audio_seconds, envelope.duration_seconds);
});

test("realtime.events: text arrives while it is spoken, before the finish", async () => {
  const caller = await call(gateway.origin);
  caller.send(START);
  for await (const frame of frames(samples().subarray(0, 32_000 * 3))) caller.send(frame);
  await caller.event("transcript.delta");
  caller.socket.terminate();
  // The end of this call must not write into the next test.
  await until(async () => (await attempts()).every(({ state }) => state === "settled"));
});

test("realtime.opens-with-audio: FLD-17: the provider's socket opens with the first audio, so that its idle limit does not run before the caller speaks", async () => {
  const caller = await call(gateway.origin);
  caller.send(START);
  // The slice is reserved in front of the wait for audio; 50 ms are no recording.
  await until(async () => (await attempts()).length === 1);
  caller.send(samples().subarray(0, 1_600));
  await new Promise((resolve) => {
    caller.socket.once("pong", resolve);
    caller.socket.ping();
  });
  assert.equal(gateway.sandbox.callCount, 0);
  caller.send(samples().subarray(1_600, 6_400));
  await until(() => gateway.sandbox.callCount === 1);
  caller.send(FINISH);
  assert.deepEqual(await caller.closed, [1000, ""]);
  assert.equal(envelopeIn(caller).duration_seconds, 0.2);
});

test("realtime.too-little-audio: FLD-17: a caller who finishes or hangs up before any audio costs nothing, and no provider is called", async () => {
  const silent = await call(gateway.origin);
  silent.send(START);
  silent.send(FINISH);
  assert.deepEqual(await silent.closed, [1008, "INVALID_AUDIO"]);
  const gone = await call(gateway.origin);
  gone.send(START);
  await until(async () => (await attempts()).length === 2);
  gone.socket.close();
  await until(async () => (await attempts()).every(({ state }) => state === "settled"));
  assert.deepEqual(
    (await attempts()).map(({ charge_nano_usd: charge }) => Number(charge)),
    [0, 0],
  );
  assert.equal(gateway.sandbox.callCount, 0);
});

test("realtime.start-mode: a start frame may contain mode realtime, or stream true", async () => {
  const caller = await call(gateway.origin);
  await speak(caller, { ...START, mode: "realtime", stream: true }, samples().subarray(0, 32_000));
  assert.equal((await caller.closed)[0], 1000);
});

test("realtime.live-targets, realtime.sample-format: targets that accept files alone are skipped, and the format of the samples is sent to the provider", async () => {
  const caller = await call(gateway.origin);
  await speak(caller);
  await caller.closed;
  const [sent, ...more] = gateway.sandbox.calls;
  assert.equal(more.length, 0);
  assert.deepEqual(
    sent?.query.filter(([name]) => ["model", "encoding", "sample_rate", "channels"].includes(name)),
    [
      ["model", "nova-3"],
      ["encoding", "linear16"],
      ["sample_rate", "16000"],
      ["channels", "1"],
    ],
  );
  assert.equal(sent?.file?.sizeBytes, samples().byteLength);
});

test("realtime.slices, metering.reserve-live: a session is metered in slices that add up to what was sent, each settled", async () => {
  const caller = await call(gateway.origin);
  await speak(caller);
  await caller.closed;
  const rows = await attempts();
  const sentMs = Math.round(samples().byteLength / 32);
  assert.ok(rows.length >= 2);
  assert.deepEqual([...new Set(rows.map(({ state, outcome }) => `${state} ${outcome}`))], ["settled succeeded"]);
  assert.equal(
    rows.reduce((sum, { audio_ms: ms }) => sum + Number(ms), 0),
    sentMs,
  );
  // A thousandth of a dollar a second.
  assert.equal(
    rows.reduce((sum, { charge_nano_usd: charge }) => sum + Number(charge), 0),
    sentMs * 1000,
  );
});

test("realtime.database-unavailable: a slice that could not be settled while the database was unavailable is settled at the end, and ends nothing", async () => {
  failures = { settle: 1, reserve: 0 };
  const caller = await call(gateway.origin);
  await speak(caller);
  assert.deepEqual(await caller.closed, [1000, ""]);
  const rows = await attempts();
  assert.ok(rows.length >= 2);
  assert.deepEqual([...new Set(rows.map(({ state, outcome }) => `${state} ${outcome}`))], ["settled succeeded"]);
});

test("realtime.database-unavailable: a database that is unavailable before anything was sent is OVERLOADED, and no provider is called", async () => {
  failures = { settle: 0, reserve: 1 };
  const caller = await call(gateway.origin);
  caller.send(START);
  assert.deepEqual(await caller.closed, [1011, "OVERLOADED"]);
  assert.equal(gateway.sandbox.callCount, 0);
});

test("realtime.completed: speakers come segment by segment, as in the envelope; word times with the whole", async () => {
  const caller = await call(gateway.origin);
  await speak(caller, { ...START, diarization: true, timestamps: "both" });
  await caller.closed;
  const envelope = envelopeIn(caller);
  const segments = caller.events
    .filter(({ event }) => event === "transcript.segment")
    .map(({ data }) => data["segment"]);
  assert.deepEqual(segments, envelope.segments);
  assert.deepEqual([...new Set(envelope.segments.map(({ speaker }) => speaker))], ["S1", "S2"]);
  assert.ok(envelope.words.length > 10);
});

test("realtime.socket-fallback: a refused socket is answered by the next target, for nothing was said yet", async () => {
  gateway.sandbox.addFault({ model: "nova-3", fault: { kind: "status", status: 503 } });
  const caller = await call(gateway.origin);
  await speak(caller);
  assert.deepEqual(await caller.closed, [1000, ""]);
  assert.deepEqual(
    gateway.sandbox.calls.map(({ model, outcome }) => [model, outcome]),
    [
      ["nova-3", 503],
      ["nova-2", 101],
    ],
  );
});

test("realtime.token-subprotocol, keys.realtime-token: a token opens one connection, as a subprotocol that is not repeated", async () => {
  const response = await fetch(`${gateway.origin}/v1/transcription/realtime-token`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}` },
  });
  assert.equal(response.status, 200);
  const { token } = realtimeToken.parse(await response.json());
  const caller = await call(gateway.origin, { key: null, protocols: ["patchbay.v1", `patchbay.token.${token}`] });
  assert.equal(caller.socket.protocol, "patchbay.v1");
  await speak(caller);
  assert.deepEqual(await caller.closed, [1000, ""]);
});

test("realtime.token-subprotocol: the bare token is accepted too, next to the gateway's subprotocol and alone", async () => {
  const answered: string[] = [];
  for (const others of [["patchbay.v1"], []]) {
    const response = await fetch(`${gateway.origin}/v1/transcription/realtime-token`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}` },
    });
    const { token } = realtimeToken.parse(await response.json());
    const caller = await call(gateway.origin, { key: null, protocols: [...others, token] });
    answered.push(caller.socket.protocol.replace(token, "the token"));
    await speak(caller);
    assert.deepEqual(await caller.closed, [1000, ""]);
  }
  assert.deepEqual(answered, ["patchbay.v1", "the token"]);
});

test("realtime.browser-audio: what a browser records is sent on as it is, and its packets are what is metered", async () => {
  const recording = Buffer.from(fixture("speech-live.webm"));
  const caller = await call(gateway.origin);
  await speak(caller, { type: "start", encoding: "webm_opus" }, recording);
  assert.deepEqual(await caller.closed, [1000, ""]);
  const { duration_seconds: seconds, content } = envelopeIn(caller);
  assert.ok(Math.abs(seconds - 7) < 0.5, `${seconds} s`);
  assert.match(content, /simulated/u);
  const [sent] = gateway.sandbox.calls;
  assert.equal(sent?.file?.sizeBytes, recording.byteLength);
  assert.ok(sent?.query.every(([name]) => name !== "encoding"));
});

test("realtime.recorded: the request log has the session, with its length and its 101", async () => {
  const caller = await call(gateway.origin);
  await speak(caller);
  await caller.closed;
  const { duration_seconds: seconds } = envelopeIn(caller);
  const rows = () =>
    gateway.database.db
      .selectFrom("requests")
      .select(["status", "audio_ms"])
      .where("endpoint", "=", "GET /v1/transcription/realtime")
      .execute();
  await until(async () => (await rows()).some(({ audio_ms: ms }) => Number(ms) === Math.round(seconds * 1000)));
  assert.ok((await rows()).every(({ status }) => status === 101));
});

test("realtime.recorded: the record of a session waits for its end: a caller who hangs up leaves the length of what was sent", async () => {
  const caller = await call(gateway.origin);
  const requestId = String(caller.headers["x-request-id"]);
  caller.send(START);
  for await (const frame of frames(samples().subarray(0, 96_000))) caller.send(frame);
  await caller.event("transcript.delta");
  caller.socket.terminate();
  const record = () =>
    gateway.database.db.selectFrom("requests").select(["status", "audio_ms"]).where("id", "=", requestId).execute();
  await until(async () => (await record()).length === 1);
  assert.deepEqual(
    (await record()).map(({ status, audio_ms: ms }) => [status, Number(ms)]),
    [[101, 3_000]],
  );
});

test("realtime.no-slice-after-end: nothing more is reserved for a session that has ended, however much audio one frame brought", async () => {
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  beforeReserve = async (count) => {
    if (count < 2) return;
    begun.resolve();
    await ended.promise;
  };
  const caller = await call(gateway.origin);
  const requestId = String(caller.headers["x-request-id"]);
  caller.send({ type: "start", encoding: "webm_opus" });
  caller.send(Buffer.concat([fixture("speech-live.webm"), ...Array.from({ length: 500 }, () => OPUS_BLOCK)]));
  await begun.promise;
  caller.socket.terminate();
  await gateway.sandbox.waitForCall(({ aborted }) => aborted);
  ended.resolve();
  const record = () => gateway.database.db.selectFrom("requests").select("id").where("id", "=", requestId).execute();
  await until(async () => (await record()).length === 1);
  assert.equal(reservations, 2);
  assert.deepEqual(
    (await attempts()).map(({ state, outcome }) => `${state} ${outcome}`),
    ["settled aborted", "settled aborted"],
  );
});
test("realtime.late-failure-logged: a failure at the end of a session whose caller has hung up is in the log", async () => {
  const caller = await call(gateway.origin);
  const requestId = String(caller.headers["x-request-id"]);
  caller.send(START);
  for await (const frame of frames(samples().subarray(0, 96_000))) caller.send(frame);
  await caller.event("transcript.delta");
  failures = { settle: 100, reserve: 0 };
  caller.socket.terminate();
  const record = () => gateway.database.db.selectFrom("requests").select("id").where("id", "=", requestId).execute();
  await until(async () => (await record()).length === 1);
  const logged = gateway.logs.filter((line) => line.includes(requestId) && line.includes("live transcription failed"));
  assert.equal(logged.length, 1);
  assert.match(logged.join(), /ECONNREFUSED/u);
});

/** A SimpleBlock with one packet of 60 ms. */
const OPUS_BLOCK = Buffer.from([0xa3, 0x86, 0x81, 0, 0, 0x80, 3 << 3, 0]);

test("realtime.fixed-price: a price that is raised during a session ends nothing: the session keeps the price that it began with", async () => {
  const caller = await call(gateway.origin);
  caller.send(START);
  const [first, rest] = [samples().subarray(0, 32_000 * 3), samples().subarray(32_000 * 3)];
  for await (const frame of frames(first)) caller.send(frame);
  await caller.event("transcript.delta");
  const file = realtimeFile(gateway.sandbox);
  const prices = (file.prices ?? []).map((price) => ({ ...price, usd_per_audio_hour: "7.2" }));
  const configuration = await configurationOf({ ...file, prices }, gateway.dataDir);
  const { database, app } = gateway;
  await applyConfiguration({ database, seal: app.jobs.seal, pepper: PEPPER }, configuration, { isFile: true });
  await until(async () => app.gateway.prices().audio("deepgram", "nova-3")?.nanoUsdPerAudioHour === 7_200_000_000n);
  for await (const frame of frames(rest)) caller.send(frame);
  caller.send(FINISH);
  assert.deepEqual(await caller.closed, [1000, ""]);
  const rows = await attempts();
  assert.deepEqual([...new Set(rows.map(({ state, outcome }) => `${state} ${outcome}`))], ["settled succeeded"]);
  const sum = rows.reduce((total, { charge_nano_usd: charge }) => total + Number(charge), 0);
  assert.equal(sum, Math.round(samples().byteLength / 32) * 1000);
});
