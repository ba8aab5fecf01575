// Signatures against vectors made outside this code base, by three independent verifiers and the Standard Webhooks library
// [webhooks.signature] [webhooks.standard-webhooks].
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { makeSecret, signatureHeaders } from "../../src/webhooks/sign.ts";
import { verifyWebhook } from "../../src/webhooks/verify.ts";
import { shownOutputs } from "../docs/shown-blocks.ts";

interface Vector {
  readonly name: string;
  readonly id: string;
  readonly secret: string;
  readonly previous_secret: string | null;
  readonly timestamp: number;
  readonly body: string;
  readonly signature: string;
  readonly signature_previous: string | null;
  readonly webhook_signature: string;
}

const path = new URL("vectors.json", import.meta.url);
const vectors = JSON.parse(readFileSync(path, "utf8")) as readonly Vector[];
const [first] = vectors;
assert(first !== undefined);

const headersOf = (vector: Vector) =>
  signatureHeaders(
    { id: vector.id, body: vector.body, timestampSeconds: vector.timestamp },
    { current: vector.secret, previous: vector.previous_secret },
  );

test("webhooks.signature: every vector is signed as written down", () => {
  for (const vector of vectors) {
    assert.deepEqual(
      headersOf(vector),
      {
        "x-svc-webhook-id": vector.id,
        "x-svc-webhook-ts": String(vector.timestamp),
        "x-svc-webhook-signature": vector.signature,
        ...(vector.signature_previous === null
          ? {}
          : { "x-svc-webhook-signature-previous": vector.signature_previous }),
        "webhook-id": vector.id,
        "webhook-timestamp": String(vector.timestamp),
        "webhook-signature": vector.webhook_signature,
      },
      vector.name,
    );
  }
});

test("webhooks.signature: Node's own HMAC over the documented text gives the same hexadecimal", () => {
  for (const { secret, timestamp, body, signature } of vectors)
    assert.equal(createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex"), signature);
});

test("webhooks.signature, guides.outputs: the delivery that the page shows is one of the vectors", () => {
  const [body = "", signature] = shownOutputs("docs/reference/webhooks.md", "What is delivered");
  assert.equal(vectors.find((vector) => vector.body === body.trim())?.signature, signature);
});

test("webhooks.signature: OpenSSL computes the same", (t) => {
  if (spawnSync("openssl", ["version"]).status !== 0) return t.skip("there is no openssl on this machine");
  for (const { name, secret, timestamp, body, signature } of vectors) {
    const { stdout, stderr } = spawnSync("openssl", ["dgst", "-sha256", "-hmac", secret, "-r"], {
      input: `${timestamp}.${body}`,
      encoding: "utf8",
    });
    assert.equal(stdout.split(" ")[0], signature, `${name}: ${stderr}`);
  }
});

test("webhooks.signature: Python computes the same", (t) => {
  if (spawnSync("python3", ["--version"]).status !== 0) return t.skip("there is no python3 on this machine");
  const program = [
    "import hashlib, hmac, json, sys",
    "for v in json.load(open(sys.argv[1], encoding='utf-8')):",
    "    print(hmac.new(v['secret'].encode(), f\"{v['timestamp']}.{v['body']}\".encode(), hashlib.sha256).hexdigest())",
  ].join("\n");
  const { stdout, stderr } = spawnSync("python3", ["-c", program, path.pathname], { encoding: "utf8" });
  assert.deepEqual(
    stdout.trim().split("\n"),
    vectors.map(({ signature }) => signature),
    stderr,
  );
});

test("webhooks.standard-webhooks: the Standard Webhooks library verifies the three headers with the secret as it is shown, and with the previous one", () => {
  for (const vector of vectors.filter(({ body }) => body !== "")) {
    mock.timers.enable({ apis: ["Date"], now: vector.timestamp * 1000 });
    try {
      for (const secret of [vector.secret, vector.previous_secret ?? vector.secret]) {
        const webhook = new Webhook(secret);
        assert.doesNotThrow(() => webhook.verify(vector.body, { ...headersOf(vector) }), vector.name);
        assert.throws(() => webhook.verify(`${vector.body} `, { ...headersOf(vector) }));
      }
    } finally {
      mock.timers.reset();
    }
  }
});

test("webhooks.verify-tampered: a changed body, timestamp, signature or secret is refused, whatever byte it is", () => {
  const nowMs = first.timestamp * 1000;
  const headers = headersOf(first);
  const judge = (change: Partial<Parameters<typeof verifyWebhook>[0]>) =>
    verifyWebhook({ body: first.body, headers, secret: first.secret, nowMs, ...change });
  assert.deepEqual(judge({}), { ok: true, id: first.id, event: JSON.parse(first.body) });
  const body = Buffer.from(first.body);
  for (let index = 0; index < body.length; index += 1) {
    const changed = Buffer.from(body);
    changed.writeUInt8((changed[index] ?? 0) ^ 1, index);
    assert.deepEqual(judge({ body: changed }), { ok: false, reason: "wrong_signature" }, `byte ${index}`);
  }
  const wrong = { ok: false, reason: "wrong_signature" };
  assert.deepEqual(judge({ body: `${first.body}\n` }), wrong);
  assert.deepEqual(judge({ body: first.body.slice(0, -1) }), wrong);
  assert.deepEqual(judge({ headers: { ...headers, "x-svc-webhook-ts": String(first.timestamp + 1) } }), wrong);
  assert.deepEqual(judge({ secret: makeSecret() }), wrong);
  // Keyed by the bytes that the secret encodes instead of its text: not what [webhooks.signature] says.
  const decoded = createHmac("sha256", Buffer.from(first.secret.slice(6), "base64"));
  const other = decoded.update(`${first.timestamp}.${first.body}`).digest("hex");
  assert.deepEqual(judge({ headers: { ...headers, "x-svc-webhook-signature": other } }), wrong);
  for (const signature of ["", first.signature.slice(1), `${first.signature}00`, "x".repeat(64)])
    assert.deepEqual(judge({ headers: { ...headers, "x-svc-webhook-signature": signature } }), wrong, signature);
});

test("webhooks.verify-timestamp: a timestamp may be 300 s old and 60 s ahead, not more, and must be whole seconds", () => {
  const judge = (ageSeconds: number, ts = String(first.timestamp)) =>
    verifyWebhook({
      body: first.body,
      headers: { ...headersOf(first), "x-svc-webhook-ts": ts },
      secret: first.secret,
      nowMs: (first.timestamp + ageSeconds) * 1000,
    });
  const reasonAt = (ageSeconds: number, ts?: string) => {
    const verdict = judge(ageSeconds, ts);
    return verdict.ok ? null : verdict.reason;
  };
  assert.equal(reasonAt(300), null);
  assert.equal(reasonAt(300.001), "stale_timestamp");
  assert.equal(reasonAt(-60), null);
  assert.equal(reasonAt(-60.001), "future_timestamp");
  for (const ts of ["", " 1", "1.5", "1e9", "-1", "0x1", "9".repeat(13)])
    assert.equal(reasonAt(0, ts), "malformed_timestamp", ts);
});

test("webhooks.verify-rotation: while a secret changes, a receiver with the old one, the new one or both verifies", () => {
  const rotated = vectors.find(({ previous_secret: previous }) => previous !== null);
  assert(rotated !== undefined && rotated.previous_secret !== null);
  const judge = (secret: string | readonly string[]) =>
    verifyWebhook({
      body: rotated.body,
      headers: new Headers(headersOf(rotated)),
      secret,
      nowMs: rotated.timestamp * 1000,
    }).ok;
  assert(judge(rotated.secret));
  assert(judge(rotated.previous_secret));
  assert(judge([makeSecret(), rotated.previous_secret]));
  assert(!judge(makeSecret()));
});

test("webhooks.verify-headers, webhooks.verify-body: without a signature, without a secret, or with a body that is no event, nothing is accepted as genuine", () => {
  const headers = headersOf(first);
  const given = { body: first.body, secret: first.secret, nowMs: first.timestamp * 1000 };
  assert.deepEqual(verifyWebhook({ ...given, headers: {} }), { ok: false, reason: "missing_header" });
  assert.deepEqual(verifyWebhook({ ...given, headers: { "X-SVC-Webhook-Ts": headers["x-svc-webhook-ts"] } }), {
    ok: false,
    reason: "missing_header",
  });
  for (const secret of ["", [], [first.secret, ""]])
    assert.throws(() => verifyWebhook({ ...given, headers, secret }), TypeError);
  const signed = signatureHeaders(
    { id: "evt_1", body: '{"type":1}', timestampSeconds: first.timestamp },
    { current: first.secret, previous: null },
  );
  const verdict = verifyWebhook({ ...given, body: '{"type":1}', headers: signed });
  assert.deepEqual(verdict, { ok: false, reason: "malformed_body" });
});

test("webhooks.verify-headers: a delivery verifies however its headers are spelled, and only with both of them", () => {
  const headers = headersOf(first);
  const judge = (changed: Readonly<Record<string, string | readonly string[]>>) =>
    verifyWebhook({ body: first.body, headers: changed, secret: first.secret, nowMs: first.timestamp * 1000 });
  const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
  assert.equal(judge(shouted).ok, true);
  assert.equal(judge({ ...headers, "x-svc-webhook-signature": first.signature.toUpperCase() }).ok, true);
  const twice = { ...headers, "x-svc-webhook-ts": [String(first.timestamp), "1"] };
  assert.equal(judge(twice).ok, true, "of a header that came twice the first counts");
  assert.equal(judge({ "X-SVC-Webhook-Ts": String(first.timestamp), ...headers, "x-svc-webhook-ts": "1" }).ok, true);
  const { "x-svc-webhook-ts": _timestamp, ...withoutTime } = headers;
  assert.deepEqual(judge(withoutTime), { ok: false, reason: "missing_header" });
});

test("webhooks.verify-body: genuine bytes that are no event are malformed; an event is read as the text it is", () => {
  const event = { type: "transcription.job.succeeded", job_id: "jöb", status: "succeeded", occurred_at: "now" };
  const { type: _type, ...three } = event;
  const judge = (body: string) => {
    const message = { id: "evt_1", body, timestampSeconds: first.timestamp };
    const headers = signatureHeaders(message, { current: first.secret, previous: null });
    return verifyWebhook({ body, headers, secret: first.secret, nowMs: first.timestamp * 1000 });
  };
  for (const body of ["null", "7", '"text"', "[]", "{", "", JSON.stringify(three)])
    assert.deepEqual(judge(body), { ok: false, reason: "malformed_body" }, body);
  assert.deepEqual(judge(JSON.stringify(event)), { ok: true, id: "evt_1", event });
});

test("webhooks.secret-format: a secret is whsec_ and 32 random bytes in base64", () => {
  const secrets = new Set(Array.from({ length: 1_000 }, makeSecret));
  assert.equal(secrets.size, 1_000);
  for (const secret of secrets) {
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(Buffer.from(secret.slice(6), "base64").length, 32);
  }
});

test("webhooks.signature: the delivery written down in docs/reference/webhooks.md is one of the vectors", () => {
  const page = readFileSync(new URL("../../docs/reference/webhooks.md", import.meta.url), "utf8");
  const shown = vectors.filter(({ secret }) => page.includes(secret));
  assert.equal(shown.length, 1);
  for (const { body, timestamp, signature } of shown)
    for (const part of [body, String(timestamp), signature]) assert.ok(page.includes(part), part);
});
