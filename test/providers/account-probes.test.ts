// The test of an account's credential, provider by provider: the request as each documents it, and every answer that
// may come back, on real sockets.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { createOutbound } from "../../src/outbound/dial.ts";
import { byokPolicy } from "../../src/outbound/url-policy.ts";
import type { AccountAnswer, ListedModel } from "../../src/providers/account-probe.ts";
import { ProviderError } from "../../src/providers/io.ts";
import { createMemory } from "../../src/providers/memory.ts";
import { PROVIDER_KINDS, type ProviderKind } from "../../src/providers/provider.ts";
import { accountProbes } from "../../src/providers/registry.ts";
import { httpServer, readAll, refusingUrl, socketServer } from "../outbound/loopback.ts";
import { pretendInternet } from "../outbound/pretend-internet.ts";
import { assertSaysNothing, PROVIDER_TEXT } from "./suites/failure-suite.ts";
import {
  refusedByAssemblyAi,
  refusedByDeepgram,
  refusedByElevenLabs,
  refusedByGemini,
  refusedByGoogleSpeech,
  refusedByOpenAi,
} from "./suites/refusals.ts";
import { CREDENTIAL, ioFor } from "./suites/wire-suite.ts";

interface Subject {
  /** As its documentation has it, below the base URL. */
  readonly asked: string;
  readonly header: readonly [name: string, value: string];
  readonly success: unknown;
  /** Names and other names; null: it says nothing of models. */
  readonly listed: Extract<AccountAnswer, { kind: "accepted" }>["listed"];
  readonly refusal: (code: string, text: string) => unknown;
  readonly hasNoCodes?: true;
  /** A 401 to a key that is known and lacks a permission. */
  readonly restricted?: unknown;
}

const model = (id: string, alias: string | null = null) => ({ id, alias });
/** Of a list that has the days on which models end. */
const ending = (id: string, endsOn: string | null) => ({ ...model(id), endsOn });
const whole = (...models: readonly ListedModel[]) => ({ models, isWhole: true });
const BEARER = ["authorization", `Bearer ${CREDENTIAL}`] as const;
const TOKEN = ["authorization", `Token ${CREDENTIAL}`] as const;
const missingScope = (text: string) => refusedByOpenAi("some_code", `Missing scopes: api.model.read. ${text}`);
const tokenDetails = { api_key_id: "1", scopes: ["usage:write"] };

/** Models on this machine are asked without a request (test/http/transcription/local.test.ts). */
type AskedKind = Exclude<ProviderKind, "local">;

const SUBJECTS: Readonly<Record<AskedKind, Subject>> = {
  openai: {
    asked: "/models",
    header: BEARER,
    success: {
      object: "list",
      data: [
        { id: "whisper-1", object: "model", owned_by: "x" },
        { id: "a", shutdown_date: "2027-02-26" },
        { id: "b", shutdown_date: "soon" },
        {},
        "?",
        { id: 7 },
      ],
    },
    listed: whole(ending("whisper-1", null), ending("a", "2027-02-26"), ending("b", null)),
    refusal: refusedByOpenAi,
    restricted: missingScope(PROVIDER_TEXT),
  },
  "openai-compatible": {
    asked: "/models",
    header: BEARER,
    success: { object: "list", data: [{ id: "llama3:latest" }, { id: "qwen3:8b" }] },
    listed: whole(model("llama3:latest", "llama3"), model("qwen3:8b")),
    refusal: refusedByOpenAi,
    restricted: missingScope(PROVIDER_TEXT),
  },
  deepgram: {
    asked: "/v1/auth/token",
    header: TOKEN,
    success: tokenDetails,
    listed: null,
    refusal: refusedByDeepgram,
    restricted: refusedByDeepgram("INSUFFICIENT_PERMISSIONS", PROVIDER_TEXT),
  },
  assemblyai: {
    asked: "/v2/transcript?limit=1",
    header: ["authorization", CREDENTIAL],
    success: { page_details: { limit: 1, result_count: 0 }, transcripts: [] },
    listed: null,
    refusal: refusedByAssemblyAi,
    hasNoCodes: true,
  },
  elevenlabs: {
    asked: "/v1/models",
    header: ["xi-api-key", CREDENTIAL],
    success: [{ model_id: "eleven_flash_v2_5", name: "Flash" }],
    listed: null,
    refusal: refusedByElevenLabs,
    restricted: { detail: { status: "missing_permissions", message: "… is missing the permission models_read" } },
  },
  "google-speech": {
    asked: "/v2/projects/-/locations/us",
    header: BEARER,
    success: {
      name: "projects/p/locations/us",
      locationId: "us",
      metadata: {
        languages: {
          models: { "de-DE": { modelFeatures: { chirp_3: {}, long: {} } }, "en-US": { modelFeatures: { long: {} } } },
        },
      },
    },
    listed: { models: [model("chirp_3"), model("long")], isWhole: false },
    refusal: refusedByGoogleSpeech,
  },
  anthropic: {
    asked: "/v1/models?limit=1000",
    header: ["x-api-key", CREDENTIAL],
    success: {
      data: [
        { type: "model", id: "claude-opus-5" },
        { type: "model", id: "claude-haiku-4-5-20251001" },
      ],
      has_more: false,
    },
    listed: whole(model("claude-opus-5"), model("claude-haiku-4-5-20251001", "claude-haiku-4-5")),
    refusal: (code, message) => ({ type: "error", error: { type: code, message } }),
  },
  gemini: {
    asked: "/v1beta/models?pageSize=1000",
    header: ["x-goog-api-key", CREDENTIAL],
    success: { models: [{ name: "models/gemini-2.5-pro", displayName: "Pro" }] },
    listed: whole(model("gemini-2.5-pro")),
    refusal: refusedByGemini,
  },
  sandbox: {
    asked: "/deepgram/v1/auth/token",
    header: TOKEN,
    success: tokenDetails,
    listed: null,
    refusal: refusedByDeepgram,
    restricted: refusedByDeepgram("INSUFFICIENT_PERMISSIONS", PROVIDER_TEXT),
  },
};

type Options = Parameters<typeof ioFor>[2];

const ask = (t: TestContext, kind: ProviderKind, url: URL, options: Options = {}): Promise<AccountAnswer> =>
  accountProbes[kind].ask(ioFor(t, url, options));

async function failureAt(t: TestContext, kind: ProviderKind, url: URL, options: Options = {}): Promise<ProviderError> {
  const error = await ask(t, kind, url, options).then(
    (answer) => assert.fail(JSON.stringify(answer)),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ProviderError, String(error));
  assertSaysNothing(error);
  return error;
}

type Answer = (response: ServerResponse, request: IncomingMessage) => unknown;

const server = (t: TestContext, answer: Answer): Promise<URL> =>
  httpServer(t, async (request, response) => {
    await readAll(request);
    answer(response, request);
  });

/** For a request with the credential. */
const knowing =
  ({ header: [name, value], success }: Subject): Answer =>
  (response, request) =>
    request.headers[name] === value
      ? response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(success))
      : response.writeHead(401).end("{}");

for (const kind of PROVIDER_KINDS.filter((each) => each !== "local")) {
  const subject = SUBJECTS[kind];
  const { header, refusal } = subject;
  const code = subject.hasNoCodes === true ? null : "some_code";

  test(`providers.test-question: ${kind}: the documented question with the stored credential is accepted and lists the models`, async (t) => {
    const seen: { method: string | undefined; url: string | undefined; value: unknown; bytes: number }[] = [];
    const url = await httpServer(t, async (request, response) => {
      const { byteLength: bytes } = await readAll(request);
      seen.push({ method: request.method, url: request.url, value: request.headers[header[0]], bytes });
      knowing(subject)(response, request);
    });
    const answer = await ask(t, kind, new URL("prefix/", url));
    assert.deepEqual(answer, { kind: "accepted", status: 200, listed: subject.listed });
    const [first, ...more] = seen;
    assert.deepEqual(first, { method: "GET", url: `/prefix${subject.asked}`, value: header[1], bytes: 0 });
    // Of an endpoint that may answer without a credential: once more, without it.
    assert.deepEqual(
      more.map(({ value }) => value),
      kind === "openai-compatible" ? [undefined] : [],
    );
    const shown = accountProbes[kind].path.replace("{project}", "-");
    assert.equal(subject.asked.split("?")[0], shown, "and the docs and the answer name that very path");
    assert.equal(accountProbes[kind].listsModels, subject.listed !== null);
  });

  test(`providers.test-outcome: ${kind}: a 401 is a refusal, a 403 or a missing permission a restriction, without the provider's own words`, async (t) => {
    const answering = (status: number, body: unknown) =>
      server(t, (response) => response.writeHead(status, { "x-echo": CREDENTIAL }).end(JSON.stringify(body)));
    const text = `${PROVIDER_TEXT} ${CREDENTIAL}`;
    const refused = await failureAt(t, kind, await answering(401, refusal("some_code", text)));
    assert.deepEqual([refused.kind, refused.status, refused.reason], ["unauthorized", 401, code]);
    const forbidden = await ask(t, kind, await answering(403, refusal("some_code", text)));
    assert.deepEqual(forbidden, { kind: "restricted", status: 403, code });
    if (subject.restricted === undefined) return;
    const restricted = await ask(t, kind, await answering(401, subject.restricted));
    assert.deepEqual([restricted.kind, restricted.status], ["restricted", 401]);
    assert.doesNotMatch(JSON.stringify(restricted), /Jane Doe|models_read|api\.model/u);
  });

  test(`providers.test-outcome: ${kind}: every other answer has its own outcome, and none is accepted`, async (t) => {
    for (const [status, expected] of [
      [307, "server_error"],
      [402, "payment"],
      [404, "not_found"],
      [429, "rate_limited"],
      [500, "server_error"],
      [503, "server_error"],
      [504, "unknown"],
    ] as const) {
      const paths: (string | undefined)[] = [];
      const url = await server(t, (response, request) => {
        paths.push(request.url);
        response.writeHead(status, { location: "/elsewhere", "retry-after": "17" }).end("{}");
      });
      const error = await failureAt(t, kind, url);
      assert.deepEqual([error.kind, error.status, error.retryAfterSeconds], [expected, status, 17]);
      assert.deepEqual(paths, [subject.asked], "no redirect is followed, and nothing is tried again");
    }
    for (const [what, body] of [
      ["a page", `<html>${PROVIDER_TEXT} ${CREDENTIAL}</html>`],
      ["nothing", ""],
      ["JSON null", "null"],
      ["a text", '"ok"'],
      ["broken JSON", '{"data": ['],
      ["an error under 200", JSON.stringify(refusal("some_code", PROVIDER_TEXT))],
      ["another protocol", kind === "elevenlabs" ? "{}" : "[7]"],
    ] as const) {
      // The one that takes a bare list takes that one.
      if (kind === "openai-compatible" && what === "another protocol") continue;
      const error = await failureAt(t, kind, await server(t, (response) => response.writeHead(200).end(body)));
      assert.equal(error.kind, "bad_reply", what);
    }
    const cut = await failureAt(
      t,
      kind,
      await server(t, (response) => {
        response.writeHead(200, { "content-length": "500" });
        response.write("{", () => response.destroy());
      }),
    );
    assert.equal(cut.kind, "unknown");
  });

  test(`providers.test-bounded: ${kind}: a silent provider ends at the limit; no connection, a reset and a refused address are distinguished`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const silent = await socketServer(t, (socket) => socket.once("data", () => t.mock.timers.tick(200)));
    assert.equal((await failureAt(t, kind, silent, { deadlineMs: 200 })).kind, "timeout");
    const trickle = await socketServer(t, (socket) => {
      const begun = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{";
      socket.once("data", () => socket.write(begun, () => setImmediate(() => t.mock.timers.tick(200))));
    });
    assert.equal((await failureAt(t, kind, trickle, { deadlineMs: 200 })).kind, "timeout");
    t.mock.timers.reset();
    const resetting = await socketServer(t, (socket) => socket.once("data", () => socket.resetAndDestroy()));
    assert.equal((await failureAt(t, kind, resetting)).kind, "unknown");
    const unreachable = await failureAt(t, kind, await refusingUrl());
    assert.deepEqual([unreachable.kind, unreachable.reason], ["connect", "ECONNREFUSED"]);

    const internet = pretendInternet();
    internet.name("inside.example", ["10.0.0.7"]);
    const own = () => ({ endpoints: [], addresses: [] });
    const outbound = createOutbound({ guard: { ...internet, nat64: false, own } });
    t.after(() => outbound.destroy());
    const callerPolicy = byokPolicy({ allowedPrivateCidrs: [] });
    const refused = await failureAt(t, kind, new URL("https://inside.example/"), { outbound, callerPolicy });
    assert.deepEqual([refused.kind, refused.reason, internet.dialled.length], ["connect", "address_refused", 0]);
  });

  test(`providers.test-free: ${kind}: the test does not count as a paid call`, async (t) => {
    const paid: string[] = [];
    const url = await server(t, knowing(subject));
    await ask(t, kind, url, {
      beforePaid: async () => void paid.push("before"),
      onDispatch: () => void paid.push("dispatched"),
    });
    assert.deepEqual(paid, []);
  });
}

test("providers.test-question: a page of a longer list shows what exists, and not what is missing", async (t) => {
  for (const [kind, more] of [
    ["anthropic", { has_more: true }],
    ["gemini", { nextPageToken: "2" }],
  ] as const) {
    const success = { ...(SUBJECTS[kind].success as object), ...more };
    const answer = await ask(t, kind, await server(t, knowing({ ...SUBJECTS[kind], success })));
    assert.ok(answer.kind === "accepted");
    assert.deepEqual(answer.listed, { models: SUBJECTS[kind].listed?.models, isWhole: false });
  }
});

test("providers.test-no-secret: a listed name that is no model name, or contains the credential, is not shown", async (t) => {
  const data = ["whisper-1", `x-${CREDENTIAL}`, "two\nlines", "", "ü", "x".repeat(201)].map((id) => ({ id }));
  const answer = await ask(t, "openai", await server(t, knowing({ ...SUBJECTS.openai, success: { data } })));
  assert.deepEqual(answer, {
    kind: "accepted",
    status: 200,
    listed: { models: [ending("whisper-1", null)], isWhole: false },
  });
});

test("providers.test-unproven: a server that answers without the credential too has not tested it; one without a credential is asked once", async (t) => {
  const { success } = SUBJECTS["openai-compatible"];
  let count = 0;
  const url = await server(t, (response) => {
    count += 1;
    response.end(JSON.stringify(success));
  });
  const open = await ask(t, "openai-compatible", url);
  assert.deepEqual([open.kind, count], ["open", 2]);
  const bare = await ask(t, "openai-compatible", url, { credential: null });
  assert.deepEqual([bare.kind, count], ["accepted", 3]);
  // A bare list is a list too.
  const list = await server(t, knowing({ ...SUBJECTS["openai-compatible"], success: [{ id: "m" }] }));
  const answer = await ask(t, "openai-compatible", list);
  assert.deepEqual(answer, { kind: "accepted", status: 200, listed: whole(model("m")) });
});

test("providers.test-unproven: a failure of the second question proves nothing", async (t) => {
  for (const [status, expected] of [
    [400, "accepted"],
    [401, "accepted"],
    [403, "accepted"],
    [429, "open"],
    [503, "open"],
  ] as const) {
    const subject = SUBJECTS["openai-compatible"];
    const url = await server(t, (response, request) =>
      request.headers.authorization === undefined
        ? response.writeHead(status).end("{}")
        : knowing(subject)(response, request),
    );
    assert.equal((await ask(t, "openai-compatible", url)).kind, expected, String(status));
  }
});

test("providers.test-outcome: a location without its list of models shows that the key is accepted, and nothing else", async (t) => {
  const success = { name: "projects/p/locations/us", locationId: "us" };
  const url = await server(t, knowing({ ...SUBJECTS["google-speech"], success }));
  const answer = await ask(t, "google-speech", url);
  assert.deepEqual(answer, { kind: "accepted", status: 200, listed: null });
});

test("providers.test-outcome: a service account's key is exchanged again for each test, so that a revoked one is not reported as valid", async (t) => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const credential = JSON.stringify({
    type: "service_account",
    client_email: "speech@acme.iam.gserviceaccount.com",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    project_id: "acme",
  });
  const seen: string[] = [];
  let isWithdrawn = false;
  const url = await server(t, (response, request) => {
    seen.push(`${request.method} ${request.url}`);
    if (request.url !== "/token") return response.end(JSON.stringify(SUBJECTS["google-speech"].success));
    return isWithdrawn
      ? response.writeHead(400).end('{"error":"invalid_grant"}')
      : response.end('{"access_token":"ya29.x","expires_in":3599}');
  });
  const options = { credential, memory: createMemory() };
  assert.equal((await ask(t, "google-speech", url, options)).kind, "accepted");
  assert.deepEqual(seen, ["POST /token", "GET /v2/projects/acme/locations/us"]);
  isWithdrawn = true;
  const error = await failureAt(t, "google-speech", url, options);
  assert.deepEqual([error.kind, error.status], ["unauthorized", 400]);
});
