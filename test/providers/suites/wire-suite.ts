// The other half of a golden request: what `transcribe` really puts on a socket.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createOutbound, type Outbound } from "../../../src/outbound/dial.ts";
import type { StreamingIo } from "../../../src/providers/io.ts";
import { createIo, type IoOptions } from "../../../src/providers/wire/make-io.ts";
import type { SpeechPlan } from "../../../src/providers/provider.ts";
import { httpServer, readAll } from "../../outbound/loopback.ts";
import { AUDIO_BYTES, audioFixture, type Parameter, requestFor } from "./fixtures.ts";
import { type ContractSubject, parametersOf, targetOf } from "./subject.ts";
import { speechReplyBound } from "../../../src/providers/wire/reply-bounds.ts";
import { testReplies } from "../../harness/replies.ts";

export const CREDENTIAL = "key-Kx93hQ-never-to-be-seen";

export function outboundFor(t: TestContext): Outbound {
  const outbound = createOutbound();
  t.after(() => outbound.destroy());
  return outbound;
}

export function ioFor(t: TestContext, url: URL, options: Partial<IoOptions> = {}): StreamingIo {
  return createIo({
    outbound: options.outbound ?? outboundFor(t),
    replies: testReplies(),
    expected: { owner: "acme", bound: speechReplyBound({ durationSeconds: 14_400, channels: 1 }) },
    baseUrl: url.href,
    credential: CREDENTIAL,
    signal: new AbortController().signal,
    deadlineMs: 10_000,
    ...options,
  });
}

function basePlan(subject: ContractSubject): SpeechPlan {
  const golden = subject.golden[0];
  assert.ok(golden);
  const { speech, target } = targetOf(subject.provider, golden);
  const result = subject.provider.plan(requestFor(speech, { keyterms: [] }), target);
  assert.ok(result.ok);
  return result.plan;
}

interface Seen {
  readonly method: string | undefined;
  readonly path: string;
  readonly query: readonly Parameter[];
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

export function wireContract(subject: ContractSubject): void {
  const { provider } = subject;
  const header = subject.credentialHeader ?? "authorization";
  // Several requests: tested in that provider's own test.
  if (subject.before !== undefined) return;

  test(`providers.request-content: ${provider.kind}, the plan, the credential and the whole audio arrive, in one request`, async (t) => {
    const seen: Seen[] = [];
    const url = await httpServer(t, async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://provider.invalid");
      const body = await readAll(request);
      seen.push({ method: request.method, path: pathname, query: [...searchParams], headers: request.headers, body });
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(subject.success));
    });
    const plan = withAwkwardParameter(basePlan(subject));
    const raw = await provider.transcribe(plan, audioFixture(), ioFor(t, new URL("prefix/", url)));
    assert.deepEqual(raw.body, subject.success);
    assert.equal(seen.length, 1);
    const [only] = seen;
    assert.ok(only);
    assert.equal(only.method, "POST");
    assert.equal(only.path, `/prefix${plan.path}`);
    assert.equal(only.headers[header], subject.authorization(CREDENTIAL));
    assert.equal(only.headers["content-length"], String(only.body.byteLength));
    if (plan.kind === "raw") {
      assert.equal(only.headers["content-type"], "audio/wav");
      assert.deepEqual(only.query, plan.query);
      assert.deepEqual(only.body, AUDIO_BYTES);
    } else if (plan.kind === "multipart") {
      const form = await formOf(only);
      const file = form.get("file");
      assert.deepEqual(
        [...form].filter(([name]) => name !== "file"),
        plan.fields,
      );
      assert.ok(file instanceof File);
      assert.deepEqual([file.name, file.type], ["audio.wav", "audio/wav"]);
      assert.deepEqual(Buffer.from(await file.arrayBuffer()), AUDIO_BYTES);
    } else {
      assert.equal(only.headers["content-type"], "application/json");
      const body: unknown = JSON.parse(only.body.toString());
      assert.deepEqual(subject.audioIn?.(body), AUDIO_BYTES.toString("base64"));
      assert.partialDeepStrictEqual(body, plan.body);
    }
  });

  test(`providers.no-credential: ${provider.kind}, a server without a credential gets no authorization header`, async (t) => {
    let authorization: string | string[] | undefined = "not called";
    const url = await httpServer(t, async (request, response) => {
      authorization = request.headers[header];
      await readAll(request);
      response.end(JSON.stringify(subject.success));
    });
    await provider.transcribe(basePlan(subject), audioFixture(), ioFor(t, url, { credential: null }));
    assert.equal(authorization, undefined);
  });
}

/** Terms and prompts hold anything: separators of queries and of multipart bodies, and other scripts. */
function withAwkwardParameter(plan: SpeechPlan): SpeechPlan {
  const awkward: Parameter = ["prompt", 'a&b=c %20 + "quotes"\r\n--boundary\r\nZürich 東京 🎧'];
  assert.ok(parametersOf(plan).length > 0);
  switch (plan.kind) {
    case "raw":
      return { ...plan, query: [...plan.query, awkward] };
    case "multipart":
      return { ...plan, fields: [...plan.fields, awkward] };
    case "json":
      return { ...plan, body: { ...plan.body, [awkward[0]]: awkward[1] } };
  }
}

/** Read by Node's own parser, which shares no code with our writer. */
async function formOf(seen: Seen): Promise<FormData> {
  const response = new Response(new Uint8Array(seen.body), {
    headers: { "content-type": String(seen.headers["content-type"]) },
  });
  return response.formData();
}
