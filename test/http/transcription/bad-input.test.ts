// Every bad input of test/cases/bad-input.json against a whole gateway over real sockets: the promised status and code, no provider called,
// nothing recorded, nothing left in the spool, and a process that keeps running.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { transcriptionEnvelope } from "../../../src/contract/transcription/transcription-envelope.ts";
import { wav } from "../../audio/build-audio.ts";
import { hostileAudio } from "../../audio/hostile-audio.ts";
import cases from "../../cases/bad-input.json" with { type: "json" };
import { standardFile, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";
import { BOUNDARY, field, file, form } from "../body/bodies.ts";
import { ask, assertError, get, open, PUBLIC_URL, type RawReply, say } from "../edge/harness.ts";
import {
  audio,
  AUTHORIZATION,
  formHeader,
  goodPost,
  jsonHeader,
  jsonOfSize,
  MAX_AUDIO_BYTES,
  postFormBytes,
  postJsonBytes,
  rawHead,
  rawPost,
  REQUESTS,
  wavOfSize,
} from "./bad-input-bodies.ts";

/** Rows this endpoint cannot be sent, or not with the limits it runs with. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "BAD-101": "test/http/edge/size.test.ts, by a clock of its own: 15 s of real waiting here",
  "BAD-224": "test/http/edge/hostile-http.test.ts, with a short headers timeout: 15 s of real waiting here",
  "BAD-175": "temperature is a field of chat",
  "BAD-177": "messages is a field of chat",
  "BAD-178": "messages is a field of chat",
  "BAD-180": "tools is a field of chat",
};

/** Where the answer differs from the row on purpose. */
const DEVIATIONS: Readonly<Record<string, string>> = {
  "BAD-214": "a token of 100 kB is 431, not 401: heads above 16 KiB are refused before any header is looked at",
};

const SMALL_CAP = 300_000;
let gateway: TestGateway;
let small: TestGateway;
before(async () => {
  [gateway, small] = await Promise.all([
    startGateway({ file: (sandbox) => ({ ...standardFile(sandbox), server: { public_url: PUBLIC_URL } }) }),
    startGateway({
      file: (sandbox) => ({
        ...standardFile(sandbox),
        server: { public_url: PUBLIC_URL },
        limits: { max_audio_bytes: SMALL_CAP },
      }),
    }),
  ]);
});
after(() => Promise.all([gateway.close(), small.close()]));

// Whatever a test sent: nothing stays behind and the next caller is served.
afterEach(async () => {
  for (const each of [gateway, small]) {
    assert.deepEqual(await readdir(join(each.dataDir, "spool")), []);
    assert.deepEqual((await readdir(each.dataDir)).toSorted(), ["objects", "patchbay.yaml", "spool"]);
    // The audit log's checkpoints are not the caller's: there is one when this file has run for a minute.
    const objects = await readdir(join(each.dataDir, "objects"), { recursive: true });
    assert.deepEqual(
      objects.filter((name) => !/^audit\b/u.test(name)),
      [".incoming"],
    );
    assert.equal((await ask(portOf(each), get("/healthz", ""))).status, 200);
  }
  assert.equal(Reflect.get({}, "polluted"), undefined);
});

const portOf = (of: TestGateway): number => Number(new URL(of.origin).port);

async function countAttempts(of: TestGateway): Promise<number> {
  const { count } = await of.database.db
    .selectFrom("attempts")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Runs `send` and asserts that it added exactly so many provider calls and so many attempts. */
async function costing<T>(of: TestGateway, count: number, send: () => Promise<T>): Promise<T> {
  const before = { calls: of.sandbox.callCount, attempts: await countAttempts(of) };
  const result = await send();
  assert.deepEqual(
    { calls: of.sandbox.callCount - before.calls, attempts: (await countAttempts(of)) - before.attempts },
    { calls: count, attempts: count },
  );
  return result;
}

function assertServed(reply: RawReply | undefined, seconds?: number): void {
  assert.ok(reply !== undefined, "no answer");
  assert.equal(reply.status, 200, reply.body);
  const envelope = transcriptionEnvelope.parse(JSON.parse(reply.body));
  if (seconds !== undefined) {
    const { audio_seconds: measured } = envelope.usage;
    assert.ok(Math.abs(measured - seconds) <= 0.05, `${measured} s, not ${seconds} s`);
  }
}

async function assertRefused(of: TestGateway, request: Buffer, status: number, code: string): Promise<RawReply> {
  const reply = await costing(of, 0, () => ask(portOf(of), request));
  assertError(reply, status, code);
  return reply;
}

const SPECIAL: Readonly<Record<string, () => Promise<void>>> = {
  "BAD-020": async () => {
    const [request] = REQUESTS["BAD-020"]?.() ?? [];
    assert.ok(request !== undefined);
    gateway.sandbox.clearCalls();
    const reply = await ask(portOf(gateway), request);
    assertServed(reply, hostileAudio.get("BAD-020")?.seconds);
    assert.match(reply.body, /"MEDIA_TYPE_MISMATCH"/);
    assert.equal(gateway.sandbox.calls[0]?.headers["content-type"], "audio/mpeg");
  },
  "BAD-094": async () => {
    for (const seconds of [-5, "NaN"] as const) {
      gateway.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "duration", seconds } });
      assertServed(await costing(gateway, 1, () => ask(portOf(gateway), postFormBytes([file(wav())]))), 2);
    }
    const rows = await gateway.database.db.selectFrom("attempts").selectAll().execute();
    assert.ok(!JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value)).includes("NaN"));
  },
  "BAD-097": async () => {
    for (const [header, length] of [
      [jsonHeader, MAX_AUDIO_BYTES + 1],
      [formHeader, MAX_AUDIO_BYTES + 65_537],
    ] as const) {
      const reply = await costing(gateway, 0, async () => {
        const { socket, replies } = await open(portOf(gateway));
        // The body is announced and never sent: only an answer that does not wait for it can come.
        socket.write(rawHead(`${header}Content-Length: ${length}\r\n`, { connection: "" }));
        const [first] = await replies(1);
        socket.destroy();
        return first;
      });
      assertError(reply, 413, "AUDIO_TOO_LARGE");
      assert.equal(reply?.headers["connection"], "close");
    }
  },
  "BAD-100": async () => {
    const { socket, untilClose, replies } = await open(portOf(gateway));
    socket.write(rawHead(`${jsonHeader}Content-Length: 10\r\n`, { connection: "" }));
    socket.write(Buffer.alloc(30_000_000, "x"));
    await replies(1);
    const answers = await costing(gateway, 0, untilClose);
    assert.ok(answers.length <= 2);
    for (const answer of answers) assertError(answer, 400, "INVALID_REQUEST");
    assertServed(await ask(portOf(gateway), goodPost()));
  },
  "BAD-102": async () => {
    const logged = gateway.logs.length;
    await costing(gateway, 0, async () => {
      const { socket } = await open(portOf(gateway));
      socket.write(rawHead(`${formHeader}Idempotency-Key: reset\r\nContent-Length: 20000000\r\n`));
      // Sent, or some versions of Node close instead of resetting.
      await new Promise((resolve) => socket.write(form([file(wavOfSize(10_000_000))], ""), resolve));
      const spool = join(gateway.dataDir, "spool");
      await until(async () => (await readdir(spool)).length > 0);
      socket.resetAndDestroy();
      await until(async () => (await readdir(spool)).length === 0);
      await until(async () => gateway.logs.slice(logged).some((line) => line.includes('"status":499')));
    });
    assert.deepEqual(await gateway.database.db.selectFrom("idempotency_slots").select("state").execute(), []);
  },
  "BAD-103": async () => {
    const reply = await costing(gateway, 0, async () => {
      const { socket, replies } = await open(portOf(gateway));
      socket.write(rawHead(`${formHeader}Expect: 100-continue\r\nContent-Length: 30000000\r\n`));
      const [first] = await replies(1);
      socket.destroy();
      return first;
    });
    assertError(reply, 413, "AUDIO_TOO_LARGE");
  },
  "BAD-118": async () => {
    const body = form([audio(), field("language", "en")]);
    const request = rawPost(body, { headers: formHeader });
    const bodyAt = request.length - body.length;
    const offsets: number[] = [];
    for (let at = request.indexOf(`--${BOUNDARY}`, bodyAt); at !== -1; at = request.indexOf(`--${BOUNDARY}`, at + 1)) {
      for (let offset = at - 2; offset <= at + BOUNDARY.length + 6; offset += 1) offsets.push(offset);
    }
    assert.equal(offsets.length, 3 * (BOUNDARY.length + 9));
    for (const offset of offsets) {
      const { socket, untilClose } = await open(portOf(gateway));
      await new Promise((resolve) => socket.write(request.subarray(0, offset), resolve));
      await nextTurn();
      socket.write(request.subarray(offset));
      assertServed((await untilClose())[0], 0.25);
    }
  },
  "BAD-123": async () => {
    await runRequests("BAD-123", 400, "INVALID_REQUEST");
    const both = await ask(
      portOf(gateway),
      rawPost(form([audio(), field("purpose", "from-body")]), {
        headers: `${formHeader}X-SVC-Purpose: from-header\r\n`,
      }),
    );
    assert.equal(transcriptionEnvelope.parse(JSON.parse(both.body)).svc_requested_purpose, "from-body");
  },
  "BAD-144": async () => {
    await runRequests("BAD-144", 200, null);
    // Only a provider that accepts forms is sent a name: the first target fails, the second is one.
    gateway.sandbox.clearCalls();
    gateway.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "status", status: 400 } });
    for (const request of REQUESTS["BAD-144"]?.() ?? []) assertServed(await ask(portOf(gateway), request));
    assert.equal(gateway.sandbox.calls[1]?.file?.name, "audio.wav");
  },
  "BAD-186": async () => {
    gateway.sandbox.clearCalls();
    await runRequests("BAD-186", 200, null);
    const terms = gateway.sandbox.calls[0]?.query.filter(([name]) => name === "keyterm").map(([, value]) => value);
    assert.deepEqual(terms, ["alpha", "beta", "gamma"]);
  },
  "BAD-213": async () => {
    await runRequests("BAD-213", 401, "UNAUTHENTICATED");
    const { socket, replies } = await open(portOf(gateway));
    socket.write(rawHead("Content-Length: 1000000\r\n", { authorization: "", connection: "" }));
    const [reply] = await replies(1);
    assertError(reply, 401, "UNAUTHENTICATED");
    assert.equal(reply?.headers["www-authenticate"], "Bearer");
    socket.destroy();
  },
  "BAD-214": async () => {
    await runRequests("BAD-214", 401, "UNAUTHENTICATED");
    const authorization = `Authorization: Bearer ${"x".repeat(100_000)}\r\n`;
    await assertRefused(gateway, goodPost("", { authorization }), 431, "HEADERS_TOO_LARGE");
    const lower = AUTHORIZATION.replace("Bearer", "bEaReR");
    assertServed(await ask(portOf(gateway), goodPost("", { authorization: lower })));
  },
  "BAD-226": async () => {
    await runRequests("BAD-226", 405, "METHOD_NOT_ALLOWED");
    const connect = `CONNECT x.example:443 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${AUTHORIZATION}\r\n`;
    await assertRefused(gateway, Buffer.from(connect), 405, "METHOD_NOT_ALLOWED");
  },
  "BAD-233": async () => {
    const pipelined = Buffer.concat([goodPost("", { connection: "" }), Buffer.from("GARBAGE\r\n\r\n")]);
    const replies = await costing(gateway, 1, () => say(portOf(gateway), pipelined));
    assert.equal(replies.length, 2);
    assertServed(replies[0], 0.25);
    assertError(replies[1], 400, "INVALID_REQUEST");
  },
};

async function runRequests(id: string, status: number, code: string | null): Promise<void> {
  const requests = REQUESTS[id]?.() ?? [];
  assert.ok(requests.length > 0, "this row has no request");
  for (const request of requests) {
    if (code !== null) await assertRefused(gateway, request, status, code);
    else assertServed(await costing(gateway, 1, () => ask(portOf(gateway), request)), hostileAudio.get(id)?.seconds);
  }
}

const concerned = cases.filter(({ endpoint }) => ["POST /v1/transcription", "any POST", "any"].includes(endpoint));

test("errors.nothing-begun: every row of the list is sent to this endpoint, or names the test that covers it", () => {
  const missing = concerned
    .map(({ id }) => id)
    .filter((id) => !(id in SPECIAL) && !(id in REQUESTS) && !(id in ELSEWHERE));
  assert.deepEqual(missing, []);
  const ids = new Set(cases.map(({ id }) => id));
  for (const id of Object.keys({ ...SPECIAL, ...REQUESTS, ...ELSEWHERE, ...DEVIATIONS })) {
    assert.ok(ids.has(id), `${id} is not on the list`);
  }
  for (const id of Object.keys(ELSEWHERE)) assert.ok(!(id in SPECIAL) && !(id in REQUESTS), `${id} is run after all`);
  assert.equal(concerned.length, cases.length, "no row is for another endpoint");
});

for (const { id, input, status, code } of concerned.filter((row) => !(row.id in ELSEWHERE))) {
  const deviation = DEVIATIONS[id];
  test(`errors.nothing-begun, errors.never-internal: ${id} ${input}: ${status} ${code ?? ""}${deviation === undefined ? "" : ` (${deviation})`}`, async () => {
    await (SPECIAL[id] ?? (() => runRequests(id, Number(status), code)))();
  });
}

test("request-body.max-audio-bytes: a file part of N bytes is served and of N + 1 is 413", async () => {
  const request = (size: number) => postFormBytes([file(wavOfSize(size))]);
  assertServed(await costing(small, 1, () => ask(portOf(small), request(SMALL_CAP))));
  await assertTooLarge(request(SMALL_CAP + 1), "file");
});

test("request-body.max-audio-bytes: a base64 field of a form counts its characters: N served, N + 1 is 413", async () => {
  const characters = Buffer.from(wavOfSize((SMALL_CAP / 4) * 3)).toString("base64");
  assert.equal(characters.length, SMALL_CAP);
  for (const name of ["audio.base64", "audio.data"]) {
    assertServed(await costing(small, 1, () => ask(portOf(small), postFormBytes([field(name, characters)]))));
    await assertTooLarge(postFormBytes([field(name, `${characters}\n`)]), name);
  }
});

test("request-body.max-audio-bytes: a whole JSON body of N bytes is served and of N + 1 is 413, declared or chunked", async () => {
  const body = jsonOfSize(SMALL_CAP);
  assert.equal(body.length, SMALL_CAP);
  const larger = Buffer.concat([body, Buffer.from(" ")]);
  assertServed(await costing(small, 1, () => ask(portOf(small), postJsonBytes(body))));
  assertServed(await costing(small, 1, () => ask(portOf(small), chunked(body))));
  await assertTooLarge(postJsonBytes(larger), "audio");
  await assertTooLarge(chunked(larger), "audio");
});

async function assertTooLarge(request: Buffer, param: string): Promise<void> {
  const reply = await assertRefused(small, request, 413, "AUDIO_TOO_LARGE");
  const { error } = JSON.parse(reply.body) as { error: { param: string; details: Record<string, number> } };
  assert.equal(error.param, param);
  assert.equal(error.details["max_audio_bytes"], SMALL_CAP);
  assert.ok(Number(error.details["received_bytes"]) > SMALL_CAP);
}

function chunked(body: Buffer): Buffer {
  const head = rawHead(`${jsonHeader}Transfer-Encoding: chunked\r\n`);
  return Buffer.concat([head, Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]);
}
