// Fetches `audio.url`: the behaviour rows of cases/ssrf.json with real servers on loopback behind an injected connector.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { getEventListeners } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock, type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { pino } from "pino";
import { createRemoteAudio, type FetchTimes, type RemoteAudio } from "../../src/audio/remote-audio.ts";
import { openSpool } from "../../src/audio/spool.ts";
import { GatewayError } from "../../src/contract/errors.ts";
import { newId } from "../../src/contract/ids.ts";
import { createOutbound } from "../../src/outbound/dial.ts";
import { until } from "../harness/until.ts";
import { socketServer } from "../outbound/loopback.ts";
import { pretendInternet } from "../outbound/pretend-internet.ts";
import { aWhile, impatient, soon } from "../outbound/soon.ts";

const HOST = "media.allowed.example";
const PUBLIC = "93.184.216.34";
const WORKSPACE = newId("workspace");
const ANOTHER = newId("workspace");
const URL_OF_AUDIO = `https://${HOST}/a.wav`;
const OK = "HTTP/1.1 200 OK\r\n";
const WAV = "Content-Type: audio/wav\r\n";

type Answer = string | Uint8Array | ((socket: Socket) => void);

interface SetUp {
  /** What the server answers, by path. */
  readonly answers?: Readonly<Record<string, Answer>>;
  readonly times?: Partial<FetchTimes>;
  readonly maxBytes?: number;
  readonly hosts?: readonly string[];
  /** Of the spool, for one recording. */
  readonly memoryLimitBytes?: number;
}

async function setUp(
  t: TestContext,
  { answers = {}, times, maxBytes = 25_000_000, hosts = [HOST], memoryLimitBytes = 1_048_576 }: SetUp = {},
) {
  const internet = pretendInternet();
  const paths: string[] = [];
  const server = await socketServer(t, (socket) => {
    let head = "";
    socket.on("data", (chunk) => {
      head += chunk.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      const path = head.split(" ")[1] ?? "";
      head = "";
      paths.push(path);
      const answer = answers[path] ?? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
      if (typeof answer === "function") answer(socket);
      else socket.end(answer);
    });
  });
  for (const host of hosts) internet.name(host, [PUBLIC]);
  internet.server(PUBLIC, server);
  const directory = await mkdtemp(join(tmpdir(), "patchbay-remote-"));
  const spool = await openSpool({ directory, memoryLimitBytes });
  const outbound = impatient(createOutbound({ guard: internet }));
  t.after(async () => {
    await outbound.destroy();
    await spool.close();
    await rm(directory, { recursive: true, force: true });
  });
  const logs: string[] = [];
  const remote = createRemoteAudio({
    outbound,
    spool,
    domainsOf: async () => hosts,
    allowedPorts: [443],
    maxRedirects: 3,
    logger: pino({}, { write: (line: string) => logs.push(line) }),
    ...(times === undefined ? {} : { times }),
  });
  const fetchAudio = (url = URL_OF_AUDIO, signal = new AbortController().signal, workspaceId = WORKSPACE) =>
    soon(remote.download({ workspaceId, url, maxBytes, signal }));
  const nothingLeft = async (): Promise<void> => {
    assert.equal(spool.bytesInFlight, 0, "bytes are left in the spool");
    assert.deepEqual(await readdir(directory), [], "a file is left in the spool");
  };
  /** That so many bytes have come. */
  const received = (bytes: number) => soon(until(() => spool.bytesInFlight >= bytes));
  return { internet, outbound, remote, paths, logs, directory, fetchAudio, received, nothingLeft };
}

/** `CODE reason`, or `CODE` where there is none. */
async function verdict(fetched: ReturnType<RemoteAudio["download"]>): Promise<string> {
  try {
    const { spooled } = await fetched;
    await spooled.dispose();
    return "allow";
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { reason = "", status = "" } = error.details ?? {};
    assert.equal(error.param, "audio.url");
    return [error.code, reason, status].filter((part) => part !== "" && typeof part !== "object").join(" ");
  }
}

const body = (text: string, headers = WAV) => `${OK}${headers}Content-Length: ${text.length}\r\n\r\n${text}`;
const redirect = (location: string, status = 302) =>
  `HTTP/1.1 ${status} Moved\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`;
const to = (location: string, status?: number) => ({ "/a.wav": redirect(location, status), "/b.wav": body("RIFF") });

type Row = readonly [ids: string, what: string, answers: SetUp["answers"], expected: string];

const REDIRECTS: readonly Row[] = [
  ["SSRF-337", "a redirect to another path", to(`https://${HOST}/b.wav`), "allow"],
  ...[301, 302, 303, 307, 308].map(
    (status) => ["SSRF-338", `${status} is followed`, to("/b.wav", status), "allow"] as const,
  ),
  ["SSRF-340", "a relative Location", to("b.wav"), "allow"],
  [
    "SSRF-002",
    "a redirect to a signed query, byte for byte",
    { "/a.wav": redirect("/b.wav?sig='a'%2f"), "/b.wav?sig='a'%2f": body("RIFF") },
    "allow",
  ],
  ["SSRF-341", "a redirect to http", to(`http://${HOST}/b.wav`), "AUDIO_URL_REJECTED scheme"],
  ["SSRF-342", "a redirect to a literal", to("https://127.0.0.1/"), "AUDIO_URL_REJECTED address_not_public"],
  ["SSRF-344", "to a mapped one", to("https://[::ffff:169.254.169.254]/"), "AUDIO_URL_REJECTED address_not_public"],
  [
    "SSRF-344",
    "to a mapped one, canonical",
    to("https://[::ffff:a9fe:a9fe]/"),
    "AUDIO_URL_REJECTED address_not_public",
  ],
  ["SSRF-349", "to a file", to("file:///etc/passwd"), "AUDIO_URL_REJECTED scheme"],
  ["SSRF-351", "to gopher", to("gopher://127.0.0.1:6379/"), "AUDIO_URL_REJECTED scheme"],
  ["SSRF-352", "to a host without a scheme", to("//evil.test/"), "AUDIO_URL_REJECTED host_not_allowed"],
  ["redirect", "with a backslash", to("/\\evil.test/b.wav"), "AUDIO_URL_REJECTED malformed"],
  ["redirect", "relative with a backslash", to("\\\\evil.test/b.wav"), "AUDIO_URL_REJECTED malformed"],
  ["redirect", "with a user", to(`https://evil@${HOST}/b.wav`), "AUDIO_URL_REJECTED malformed"],
  ["redirect", "to another port", to(`https://${HOST}:8443/b.wav`), "AUDIO_URL_REJECTED port"],
  ["redirect", "round and round", to("/a.wav"), "AUDIO_URL_REJECTED too_many_redirects"],
  [
    "SSRF-354",
    "a redirect to nowhere",
    { "/a.wav": "HTTP/1.1 302 Found\r\n\r\n" },
    "AUDIO_FETCH_FAILED http_status 302",
  ],
  ["SSRF-360", "300", to(`https://${HOST}/b.wav`, 300), "AUDIO_FETCH_FAILED http_status 300"],
];

const HEADS: readonly Row[] = [
  [
    "SSRF-361",
    "Refresh",
    { "/a.wav": body("<html>", "Content-Type: text/html\r\nRefresh: 0; url=/b.wav\r\n") },
    "AUDIO_URL_REJECTED unsupported_content_type",
  ],
  ["SSRF-362", "Alt-Svc", { "/a.wav": body("RIFF", `${WAV}Alt-Svc: h3="evil.test:443"\r\n`) }, "allow"],
  ["SSRF-366", "a plain answer", { "/a.wav": body("R".repeat(1_000)) }, "allow"],
  ["SSRF-367", "parameters", { "/a.wav": body("ID3", "Content-Type: Audio/MPEG; charset=binary\r\n") }, "allow"],
  ["SSRF-369", "video/mp4", { "/a.wav": body("ftyp", "Content-Type: video/mp4\r\n") }, "allow"],
  ["SSRF-369", "video/webm", { "/a.wav": body("webm", "Content-Type: video/webm\r\n") }, "allow"],
  ["SSRF-370", "no length", { "/a.wav": `${OK}${WAV}\r\nRIFF` }, "AUDIO_URL_REJECTED missing_content_length"],
  [
    "SSRF-371",
    "chunked",
    { "/a.wav": `${OK}${WAV}Transfer-Encoding: chunked\r\n\r\n4\r\nRIFF\r\n0\r\n\r\n` },
    "AUDIO_URL_REJECTED missing_content_length",
  ],
  [
    "chunked",
    "with a length",
    { "/a.wav": `${OK}${WAV}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nRIFF\r\n0\r\n\r\n` },
    "AUDIO_URL_REJECTED missing_content_length",
  ],
  ...(["3\r\nContent-Length: 4", "+3", "0x10", "99999999999999999999999", "-1", "3, 3"] as const).map(
    (length) =>
      [
        "SSRF-373, SSRF-376, SSRF-377, SSRF-378",
        `Content-Length: ${JSON.stringify(length)}`,
        { "/a.wav": `${OK}${WAV}Content-Length: ${length}\r\n\r\nRIFF` },
        "AUDIO_URL_REJECTED missing_content_length",
      ] as const,
  ),
  ["SSRF-379", "nothing", { "/a.wav": body("") }, "INVALID_AUDIO"],
  ...(
    [
      ["SSRF-383", "text/html"],
      ["SSRF-385", "application/octet-stream"],
      ["SSRF-386", "audio/x-unknown"],
      ["SSRF-388", "audio/wav\r\nContent-Type: text/html"],
      ["SSRF-388", "audio/wav; a=b\r\nContent-Type: audio/wav"],
    ] as const
  ).map(
    ([id, type]) =>
      [
        id,
        JSON.stringify(type),
        { "/a.wav": body("RIFF", `Content-Type: ${type}\r\n`) },
        "AUDIO_URL_REJECTED unsupported_content_type",
      ] as const,
  ),
  ["SSRF-383", "no type", { "/a.wav": body("RIFF", "") }, "AUDIO_URL_REJECTED unsupported_content_type"],
  ...["gzip", "br", "zstd", "deflate", "gzip, br", "x-new"].map(
    (coding) =>
      [
        "SSRF-389, SSRF-390",
        coding,
        { "/a.wav": body("RIFF", `${WAV}Content-Encoding: ${coding}\r\n`) },
        "AUDIO_FETCH_FAILED content_encoding",
      ] as const,
  ),
  ...[201, 203, 204, 205, 206, 304, 400, 401, 403, 404, 500, 503].map(
    (status) =>
      [
        "SSRF-393, SSRF-395",
        `status ${status}`,
        { "/a.wav": `HTTP/1.1 ${status} X\r\n${WAV}Content-Length: 0\r\n\r\n` },
        `AUDIO_FETCH_FAILED http_status ${status}`,
      ] as const,
  ),
];

const REPLIES: readonly Row[] = [
  [
    "SSRF-400",
    "fifty interim heads",
    { "/a.wav": `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50)}${body("RIFF")}` },
    "AUDIO_FETCH_FAILED connect",
  ],
  ["interim", "ten heads", { "/a.wav": `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(10)}${body("RIFF")}` }, "allow"],
  [
    "SSRF-401",
    "a short body",
    { "/a.wav": `${OK}${WAV}Content-Length: 9\r\n\r\nRIFF` },
    "AUDIO_FETCH_FAILED truncated",
  ],
  ["SSRF-402", "a long body", { "/a.wav": `${OK}${WAV}Content-Length: 4\r\n\r\nRIFF and more` }, "allow"],
  ["connect", "an end without an answer", { "/a.wav": (socket) => void socket.end() }, "AUDIO_FETCH_FAILED connect"],
  ["connect", "not HTTP", { "/a.wav": "SSH-2.0-OpenSSH\r\n" }, "AUDIO_FETCH_FAILED truncated"],
];

for (const [ids, what, answers, expected] of REDIRECTS)
  test(`remote-audio.redirects, remote-audio.redirect-judged: ${ids}: ${what}: ${expected}`, gives(answers, expected));
for (const [ids, what, answers, expected] of HEADS)
  test(
    `remote-audio.content-type, remote-audio.content-length, remote-audio.content-encoding, remote-audio.status-200: ${ids}: ${what}: ${expected}`,
    gives(answers, expected),
  );
for (const [ids, what, answers, expected] of REPLIES)
  test(
    `remote-audio.interim-replies, remote-audio.declared-length-kept: ${ids}: ${what}: ${expected}`,
    gives(answers, expected),
  );

function gives(answers: SetUp["answers"], expected: string): (t: TestContext) => Promise<void> {
  return async (t) => {
    const { internet, outbound, fetchAudio, nothingLeft, paths } = await setUp(t, { answers: answers ?? {} });
    assert.equal(await verdict(fetchAudio()), expected);
    await nothingLeft();
    assert.equal(internet.canaryConnections(), 0);
    // One judgement for each request that was sent, and one more where a redirect was refused before its own.
    assert.ok(outbound.judged() >= paths.length && internet.lookups.length === internet.dialled.length);
  };
}

test("remote-audio.redirect-judged, remote-audio.resolve-once: SSRF-345: a redirect to a listed name that has turned private is refused, one look-up a hop", async (t) => {
  const { internet, fetchAudio, paths, nothingLeft } = await setUp(t, { answers: to("/b.wav") });
  internet.rebinding(HOST, [[PUBLIC], ["10.0.0.5"]]);
  assert.equal(await verdict(fetchAudio()), "AUDIO_URL_REJECTED address_not_public");
  assert.deepEqual([internet.lookups.length, internet.dialled.length, internet.canaryConnections()], [2, 1, 0]);
  assert.deepEqual(paths, ["/a.wav"]);
  await nothingLeft();
});

test("remote-audio.resolve-once: SSRF-310, SSRF-311: what was checked at submission is checked again at the fetch, and each fetch resolves again", async (t) => {
  const { internet, remote, fetchAudio } = await setUp(t, { answers: { "/a.wav": body("RIFF") } });
  internet.rebinding(HOST, [[PUBLIC], [PUBLIC], ["192.168.1.1"]]);
  await remote.check({ workspaceId: WORKSPACE, url: URL_OF_AUDIO });
  assert.equal(await verdict(fetchAudio()), "allow");
  assert.equal(await verdict(fetchAudio()), "AUDIO_URL_REJECTED address_not_public");
  assert.equal(internet.canaryConnections(), 0);
});

test("remote-audio.redirects: three redirects are followed and the fourth is not", async (t) => {
  const chain = (hops: number): Record<string, Answer> =>
    Object.fromEntries(
      Array.from({ length: hops + 1 }, (_, hop) => [
        hop === 0 ? "/a.wav" : `/${hop}`,
        hop === hops ? body("RIFF") : redirect(`/${hop + 1}`),
      ]),
    );
  const within = await setUp(t, { answers: chain(3) });
  assert.equal(await verdict(within.fetchAudio()), "allow");
  assert.deepEqual([within.paths.length, within.outbound.judged(), within.internet.lookups.length], [4, 4, 4]);
  const beyond = await setUp(t, { answers: chain(4) });
  assert.equal(await verdict(beyond.fetchAudio()), "AUDIO_URL_REJECTED too_many_redirects");
  assert.equal(beyond.paths.length, 4);
});

test("remote-audio.size: max_audio_url_bytes are fetched, one byte more is 413 from the declared length, and not read", async (t) => {
  let sentBytes = 0;
  const stream =
    (sizeBytes: number): Answer =>
    (socket) => {
      socket.write(`${OK}${WAV}Content-Length: ${sizeBytes}\r\n\r\n`);
      if (sizeBytes > 100_000) return;
      sentBytes += sizeBytes;
      socket.end(Buffer.alloc(sizeBytes, 1));
    };
  const { fetchAudio, nothingLeft } = await setUp(t, {
    answers: { "/a.wav": stream(100_000), "/b.wav": stream(100_001) },
    maxBytes: 100_000,
  });
  const { spooled } = await fetchAudio();
  assert.equal(spooled.sizeBytes, 100_000);
  await spooled.dispose();
  const error = await fetchAudio(`https://${HOST}/b.wav`).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof GatewayError);
  assert.deepEqual(
    [error.code, error.details, sentBytes],
    ["AUDIO_TOO_LARGE", { max_audio_url_bytes: 100_000, received_bytes: 100_001 }, 100_000],
  );
  await nothingLeft();
});

test("remote-audio.content-encoding: SSRF-389: of a compressed bomb nothing is opened", async (t) => {
  const bomb = gzipSync(Buffer.alloc(5_000_000));
  const head = `${OK}${WAV}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`;
  const { fetchAudio, nothingLeft } = await setUp(t, {
    answers: { "/a.wav": Buffer.concat([Buffer.from(head), bomb]) },
  });
  assert.equal(await verdict(fetchAudio()), "AUDIO_FETCH_FAILED content_encoding");
  await nothingLeft();
});

const NEVER_MS = 3_600_000;
/** Each has the one limit short that it is about: on a busy machine any other could pass first. */
const SHORT_WINDOW: Partial<FetchTimes> = { windowMs: 60, windowBytes: 4_096, headMs: NEVER_MS, totalMs: NEVER_MS };
const SHORT_HEAD: Partial<FetchTimes> = { windowMs: NEVER_MS, headMs: 150, totalMs: NEVER_MS };

test("remote-audio.head-time, remote-audio.stall: SSRF-403: a head and then silence is stalled; no head at all is a timeout", async (t) => {
  const stalled = await setUp(t, {
    answers: { "/a.wav": (socket) => void socket.write(`${OK}${WAV}Content-Length: 9\r\n\r\n`) },
    times: SHORT_WINDOW,
  });
  assert.equal(await verdict(stalled.fetchAudio()), "AUDIO_FETCH_FAILED stalled");
  await stalled.nothingLeft();
  const silent = await setUp(t, { answers: { "/a.wav": () => {} }, times: SHORT_HEAD });
  assert.equal(await verdict(silent.fetchAudio()), "AUDIO_FETCH_FAILED timeout");
  await silent.nothingLeft();
});

test("remote-audio.stall: SSRF-404, SSRF-405: a server that drips, or stops near the end, is stalled", async (t) => {
  const head = `${OK}${WAV}Content-Length: 2000000\r\n\r\n`;
  const drip: Answer = (socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write("x"), 5);
    socket.on("close", () => clearInterval(timer));
  };
  const stop: Answer = (socket) => void socket.write(Buffer.concat([Buffer.from(head), Buffer.alloc(1_980_000)]));
  const { fetchAudio, nothingLeft } = await setUp(t, {
    answers: { "/a.wav": drip, "/b.wav": stop },
    times: SHORT_WINDOW,
  });
  assert.equal(await verdict(fetchAudio()), "AUDIO_FETCH_FAILED stalled");
  assert.equal(await verdict(fetchAudio(`https://${HOST}/b.wav`)), "AUDIO_FETCH_FAILED stalled");
  await nothingLeft();
});

test("remote-audio.total-time: the total limit ends a fetch that never stalls, redirects included", async (t) => {
  const steady: Answer = (socket) => {
    socket.write(`${OK}${WAV}Content-Length: 24000000\r\n\r\n`);
    const timer = setInterval(() => socket.write(Buffer.alloc(8_192)), 2);
    socket.on("close", () => clearInterval(timer));
  };
  const { fetchAudio, nothingLeft } = await setUp(t, {
    answers: { "/a.wav": redirect("/b.wav"), "/b.wav": steady },
    times: { windowMs: NEVER_MS, headMs: NEVER_MS, totalMs: 200 },
  });
  assert.equal(await verdict(fetchAudio()), "AUDIO_FETCH_FAILED timeout");
  await nothingLeft();
});

test("remote-audio.hang-up: a caller who hangs up ends the fetch, at its head and in its body", async (t) => {
  for (const head of ["", `${OK}${WAV}Content-Length: 9\r\n\r\nR`]) {
    const hangUp = new AbortController();
    const { fetchAudio, nothingLeft } = await setUp(t, {
      answers: { "/a.wav": (socket) => socket.write(head, () => hangUp.abort()) },
    });
    const error = await fetchAudio(URL_OF_AUDIO, hangUp.signal).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, "REQUEST_TIMEOUT");
    await nothingLeft();
  }
});

test("remote-audio.concurrent-fetches: SSRF-336: one host is never asked for more than 16 files at once; the next one waits, and one that gives up leaves the queue", async (t) => {
  const waiting: Socket[] = [];
  const arrivals = Array.from({ length: 17 }, () => Promise.withResolvers<void>());
  const { fetchAudio } = await setUp(t, {
    answers: {
      "/a.wav": (socket) => {
        waiting.push(socket);
        arrivals[waiting.length - 1]?.resolve();
      },
    },
  });
  const fetches = Array.from({ length: 16 }, () => verdict(fetchAudio()));
  await arrivals[15]?.promise;
  const hangUp = new AbortController();
  const hasty = fetchAudio(URL_OF_AUDIO, hangUp.signal).catch((thrown: unknown) => thrown);
  fetches.push(verdict(fetchAudio()));
  hangUp.abort();
  assert.ok((await hasty) instanceof GatewayError);
  await aWhile();
  assert.equal(waiting.length, 16);
  waiting[0]?.end(body("RIFF"));
  await arrivals[16]?.promise;
  for (const socket of waiting.slice(1)) socket.end(body("RIFF"));
  assert.deepEqual(new Set(await Promise.all(fetches)), new Set(["allow"]));
});

test("remote-audio.no-leak, remote-audio.opaque-name, remote-audio.operator-log: SSRF-411, SSRF-413, SSRF-414, SSRF-415: errors and logs contain no address, answer or signed query, and names that do not exist look like private ones", async (t) => {
  const { internet, fetchAudio, logs } = await setUp(t, {
    answers: { "/secret-path?sig=canary-signature": `HTTP/1.1 403 X\r\nContent-Length: 14\r\n\r\ncanary-answers` },
  });
  const refusalOf = async (url: string): Promise<unknown> => {
    const error = await fetchAudio(url).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof GatewayError);
    return { code: error.code, message: error.message, details: error.details, retryable: error.retryable };
  };
  const texts = [JSON.stringify(await refusalOf(`https://${HOST}/secret-path?sig=canary-signature#canary-part`))];
  internet.name(HOST, ["10.9.8.7"]);
  const hidden = await refusalOf(URL_OF_AUDIO);
  internet.name(HOST, []);
  assert.deepEqual(await refusalOf(URL_OF_AUDIO), hidden);
  texts.push(JSON.stringify(hidden));
  for (const text of texts) assert.doesNotMatch(text, /10\.9\.8\.7|93\.184|canary|secret-path/);
  const log = logs.join("\n");
  assert.match(log, /10\.9\.8\.7/, "the operator learns what was refused");
  assert.doesNotMatch(log, /canary|secret-path/);
});

test("remote-audio.concurrent-fetches: SSRF-336: all hosts together are never asked for more than 64 files at once", async (t) => {
  const hosts = Array.from({ length: 5 }, (_, index) => `m${index}.allowed.example`);
  const waiting: Socket[] = [];
  const all = Promise.withResolvers<void>();
  const { fetchAudio } = await setUp(t, {
    hosts,
    answers: { "/a.wav": (socket) => void (waiting.push(socket) === 64 && all.resolve()) },
  });
  const fetches = Array.from({ length: 65 }, (_, index) =>
    verdict(fetchAudio(`https://${hosts[Math.floor(index / 16)]}/a.wav`, undefined, index < 32 ? WORKSPACE : ANOTHER)),
  );
  await soon(all.promise);
  await aWhile();
  assert.equal(waiting.length, 64);
  waiting[0]?.end(body("RIFF"));
  while (waiting.length < 65) await aWhile();
  for (const socket of waiting) socket.end(body("RIFF"));
  assert.deepEqual(new Set(await Promise.all(fetches)), new Set(["allow"]));
});

test("remote-audio.concurrent-fetches: one workspace is fetched 48 files for at once, whatever its hosts; the others keep the rest", async (t) => {
  const hosts = Array.from({ length: 5 }, (_, index) => `m${index}.allowed.example`);
  const waiting: Socket[] = [];
  const arrivals = Array.from({ length: 50 }, () => Promise.withResolvers<void>());
  const { fetchAudio } = await setUp(t, {
    hosts,
    answers: { "/a.wav": (socket) => arrivals[waiting.push(socket) - 1]?.resolve() },
  });
  const fetchFor = (index: number, workspaceId = WORKSPACE) =>
    verdict(fetchAudio(`https://${hosts[Math.floor(index / 16)]}/a.wav`, undefined, workspaceId));
  const fetches = Array.from({ length: 49 }, (_, index) => fetchFor(index));
  await arrivals[47]?.promise;
  await aWhile();
  assert.equal(waiting.length, 48);
  fetches.push(fetchFor(64, ANOTHER));
  await arrivals[48]?.promise;
  waiting[0]?.end(body("RIFF"));
  await arrivals[49]?.promise;
  for (const socket of waiting) socket.end(body("RIFF"));
  assert.deepEqual(new Set(await Promise.all(fetches)), new Set(["allow"]));
});

function fakeClock(t: TestContext): void {
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  t.after(() => mock.timers.reset());
}

/** What became of it when everything that was under way has happened. */
async function soFar(work: Promise<string>): Promise<string> {
  await aWhile();
  return Promise.race([work, Promise.resolve("waits")]);
}

test("remote-audio.stall: 160 KiB in ten seconds are enough, and one byte less is not", async (t) => {
  fakeClock(t);
  const sent = Promise.withResolvers<Socket>();
  const lengthBytes = 160 * 1024;
  const head = `${OK}${WAV}Content-Length: ${lengthBytes + 4}\r\n\r\n`;
  const first = (sizeBytes: number) => Buffer.concat([Buffer.from(head), Buffer.alloc(sizeBytes)]);
  const { fetchAudio, received, nothingLeft } = await setUp(t, {
    answers: {
      "/a.wav": (socket) => void socket.write(first(lengthBytes), () => sent.resolve(socket)),
      "/b.wav": (socket) => void socket.write(first(lengthBytes - 1), () => sent.resolve(socket)),
    },
    times: { totalMs: 3_600_000 },
  });
  const enough = verdict(fetchAudio());
  const socket = await soon(sent.promise);
  await received(lengthBytes);
  mock.timers.tick(10_000);
  socket.end("RIFF");
  assert.equal(await enough, "allow");
  const tooSlow = verdict(fetchAudio(`https://${HOST}/b.wav`));
  await received(lengthBytes - 1);
  mock.timers.tick(9_999);
  assert.equal(await soFar(tooSlow), "waits");
  mock.timers.tick(1);
  assert.equal(await tooSlow, "AUDIO_FETCH_FAILED stalled");
  await nothingLeft();
});

for (const [maxBytes, limitMs] of [
  [1_000, 1_000],
  [25_000_000, 1_000],
  [50_000_000, 2_000],
] as const)
  test(`remote-audio.total-time: ${maxBytes} bytes have ${limitMs / 1_000} times the whole time`, async (t) => {
    fakeClock(t);
    const { fetchAudio, nothingLeft } = await setUp(t, {
      answers: { "/a.wav": (socket) => void socket.write(`${OK}${WAV}Content-Length: 9\r\n\r\n`) },
      times: { totalMs: 1_000, headMs: 3_600_000, windowMs: 3_600_000 },
      maxBytes,
    });
    const fetching = verdict(fetchAudio());
    await aWhile();
    mock.timers.tick(limitMs - 1);
    assert.equal(await soFar(fetching), "waits");
    mock.timers.tick(1);
    assert.equal(await fetching, "AUDIO_FETCH_FAILED timeout");
    await nothingLeft();
  });

test("remote-audio.nothing-left: a fetch that is over has neither a timer nor a listener any more, however it ended", async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const { fetchAudio, outbound } = await setUp(t, {
    answers: { "/a.wav": body("RIFF"), "/b.wav": `${OK}${WAV}Content-Length: 9\r\n\r\nRIFF` },
  });
  const { signal } = new AbortController();
  const before = timers();
  assert.equal(await verdict(fetchAudio(URL_OF_AUDIO, signal)), "allow");
  assert.equal(await verdict(fetchAudio(`https://${HOST}/b.wav`, signal)), "AUDIO_FETCH_FAILED truncated");
  await outbound.close();
  assert.deepEqual([timers(), getEventListeners(signal, "abort").length], [before, 0]);
});

test("remote-audio.hang-up: what its caller gave up before it began is not fetched", async (t) => {
  const { fetchAudio, internet, nothingLeft } = await setUp(t, { answers: { "/a.wav": body("RIFF") } });
  const error = await fetchAudio(URL_OF_AUDIO, AbortSignal.abort()).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof GatewayError);
  assert.deepEqual([error.code, internet.lookups.length, internet.dialled.length], ["REQUEST_TIMEOUT", 0, 0]);
  await nothingLeft();
});

test("remote-audio.job-checked-at-submission: a submission is judged as its fetch will be, and one that breaks a rule goes no further", async (t) => {
  const { remote, paths } = await setUp(t);
  const check = (url: string) =>
    soon(remote.check({ workspaceId: WORKSPACE, url })).then(
      () => "allow",
      (error: unknown) => (error instanceof GatewayError ? error.details?.["reason"] : String(error)),
    );
  assert.equal(await check(URL_OF_AUDIO), "allow");
  assert.equal(await check("https://other.example/a.wav"), "host_not_allowed");
  assert.equal(await check(`http://${HOST}/a.wav`), "scheme");
  assert.deepEqual(paths, []);
});

test("remote-audio.operator-log: the operator reads which host was not fetched from and why; of the path only a fingerprint", async (t) => {
  const { remote, logs, fetchAudio } = await setUp(t);
  await verdict(fetchAudio(`https://${HOST}/some/name.wav?sig=1`));
  await soon(remote.check({ workspaceId: WORKSPACE, url: "not a URL" })).catch(() => null);
  await soon(remote.check({ workspaceId: WORKSPACE, url: "https://other.example/a.wav" })).catch(() => null);
  const logged = logs.map((line) => {
    const { code, reason, host, path_sha256, detail } = JSON.parse(line) as Record<string, unknown>;
    return [code, reason, host, path_sha256, detail];
  });
  const fingerprint = (path: string) => createHash("sha256").update(path).digest("hex").slice(0, 12);
  assert.deepEqual(logged, [
    ["AUDIO_FETCH_FAILED", "http_status", HOST, fingerprint("/some/name.wav"), null],
    ["AUDIO_URL_REJECTED", "malformed", null, null, "not a plain https URL"],
    ["AUDIO_URL_REJECTED", "host_not_allowed", "other.example", fingerprint("/a.wav"), "other.example"],
  ]);
});

test("remote-audio.nothing-left: what does not fit into memory is on disk byte for byte as it was sent, chunk after chunk", async (t) => {
  const sent = Buffer.alloc(2_000_000);
  for (let at = 0; at < sent.length; at += 4) sent.writeUInt32LE(at, at);
  const head = `${OK}${WAV}Content-Length: ${sent.length}\r\n\r\n`;
  const { fetchAudio } = await setUp(t, {
    answers: { "/a.wav": Buffer.concat([Buffer.from(head), sent]) },
    memoryLimitBytes: 1_000,
  });
  const { spooled } = await fetchAudio();
  assert.equal(await spooled.sha256(), createHash("sha256").update(sent).digest("hex"));
  await spooled.dispose();
});

test("remote-audio.own-disk-fault: a disk that cannot be written ends the fetch as an internal error, and is not reported as the server's fault", async (t) => {
  const { fetchAudio, directory, logs } = await setUp(t, {
    answers: { "/a.wav": body("R".repeat(100_000)) },
    memoryLimitBytes: 1_000,
  });
  await rm(directory, { recursive: true });
  const error = await fetchAudio().catch((thrown: unknown) => thrown);
  assert.deepEqual([String(error), logs], ["Error: the spool file could not be written", []]);
});
