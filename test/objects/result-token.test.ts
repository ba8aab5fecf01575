// Signed URLs of job results [jobs.result-token]: one result, one method, until it expires.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { newId } from "../../src/contract/ids.ts";
import { createResultTokens } from "../../src/objects/result-token.ts";

const secret = randomBytes(32);
const tokens = createResultTokens({ secret });
const claim = { workspaceId: newId("workspace"), jobId: "job_01jd2q3w4e5r6t7y8u9i0p1a2s" };
const expiresAt = new Date("2026-11-21T12:15:00.000Z");
const now = new Date("2026-11-21T12:00:00.000Z");
const get = { method: "GET", now };

test("jobs.result-token: a token made by one process opens on another with the same secret, and is safe in a path", () => {
  const token = tokens.sign(claim, expiresAt);
  assert.match(token, /^[A-Za-z0-9_-]+$/u);
  assert.deepEqual(createResultTokens({ secret }).verify(token, get), claim);
});

test("jobs.result-url: every token is different, so that each poll has a URL of its own", () => {
  const signed = new Set(Array.from({ length: 100 }, () => tokens.sign(claim, expiresAt)));
  assert.equal(signed.size, 100);
  for (const token of signed) assert.deepEqual(tokens.verify(token, get), claim);
});

test("jobs.result-token: tokens stay valid from release to release: this one was computed outside this code", () => {
  const fixed = { workspaceId: "ws_01jd2q3w4e5r6t7y8u9i0p1a2s", jobId: "job_01jd2q3w4e5r6t7y8u9i0p1a2s" };
  // HKDF-SHA-256 of 32 bytes of 7, empty salt; HMAC-SHA-256 of "GET " and the claim; both in base64url.
  const token =
    "vphdhweuhoXd5v-MzZXerdAisOzx1O0u-EkCnokgO50xNzk1MjYzMzAwIHdzXzAxamQycTN3NGU1cjZ0N3k4dTlpMHAxYTJzIGpvYl8wMWpkMnEzdzRlNXI2dDd5OHU5aTBwMWEycw";
  assert.deepEqual(createResultTokens({ secret: Buffer.alloc(32, 7) }).verify(token, get), fixed);
});

test("jobs.result-token: a token expires to the second, and no later", () => {
  const token = tokens.sign(claim, expiresAt);
  assert.deepEqual(tokens.verify(token, { method: "GET", now: new Date(expiresAt.getTime() - 1) }), claim);
  assert.equal(tokens.verify(token, { method: "GET", now: expiresAt }), null);
  assert.equal(tokens.verify(token, { method: "GET", now: new Date(Number.NaN) }), null);
});

test("jobs.result-token: a token opens by no other method", () => {
  const token = tokens.sign(claim, expiresAt);
  for (const method of ["HEAD", "POST", "PUT", "DELETE", "get", "", "GET "])
    assert.equal(tokens.verify(token, { method, now }), null, method);
});

test("jobs.result-token: a token of another installation opens nothing", () => {
  assert.equal(tokens.verify(createResultTokens({ secret: randomBytes(32) }).sign(claim, expiresAt), get), null);
});

test("jobs.result-token: changed in any bit, cut, lengthened or spelled another way, a token opens nothing", () => {
  const token = tokens.sign(claim, expiresAt);
  const bytes = Buffer.from(token, "base64url");
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8((changed[bit >> 3] ?? 0) ^ (1 << (bit & 7)), bit >> 3);
    assert.equal(tokens.verify(changed.toString("base64url"), get), null, `bit ${bit}`);
  }
  for (let length = 0; length < token.length; length += 1)
    assert.equal(tokens.verify(token.slice(0, length), get), null);
  for (const other of [`${token}=`, `${token}A`, ` ${token}`, `${token}\n`, `${token}.`, bytes.toString("hex")])
    assert.equal(tokens.verify(other, get), null, JSON.stringify(other));
  assert.equal(tokens.verify("A".repeat(100_000), get), null);
});

test("jobs.result-token: a signature opens its own result only: not another job, another workspace, or a later time", () => {
  const mac = Buffer.from(tokens.sign(claim, expiresAt), "base64url").subarray(0, 32);
  const seconds = expiresAt.getTime() / 1000;
  for (const text of [
    `${seconds} ${claim.workspaceId} job_01jd2q3w4e5r6t7y8u9i0p1a2t`,
    `${seconds} ${newId("workspace")} ${claim.jobId}`,
    `${seconds + 1} ${claim.workspaceId} ${claim.jobId}`,
    `${seconds}0 ${claim.workspaceId} ${claim.jobId}`,
  ])
    assert.equal(tokens.verify(Buffer.concat([mac, Buffer.from(text)]).toString("base64url"), get), null, text);
});

test("jobs.result-token: only ids of this gateway can be signed", () => {
  for (const wrong of [
    { ...claim, jobId: "" },
    { ...claim, jobId: "a b" },
    { ...claim, workspaceId: "ws/.." },
  ])
    assert.throws(() => tokens.sign(wrong, expiresAt));
  assert.throws(() => tokens.sign(claim, new Date(Number.NaN)));
});
