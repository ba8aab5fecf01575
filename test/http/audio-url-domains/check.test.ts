// POST …/audio-url-domains/check: what it reports to which key, and what it does not do.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AudioUrlCheck, audioUrlCheck } from "../../../src/contract/admin/audio-url-check.ts";
import { type Answer, detailsOf, postJson, send } from "../../harness/client.ts";
import { KEY, OTHER_KEY } from "../../harness/gateway.ts";
import {
  ADMIN_KEY,
  OPERATOR_KEY,
  OTHER_ADMIN_KEY,
  PUBLIC,
  type RemoteGateway,
  startRemoteGateway,
  URL_OF_SPEECH,
} from "../audio-url/setup.ts";
import { auditRows, domainsClient } from "./domains.ts";

const PRIVATE = "10.20.30.40";
let remote: RemoteGateway;
before(async () => {
  remote = await startRemoteGateway();
  remote.internet.name("global.example", [PRIVATE]);
});
after(() => remote.close());

interface Asked {
  readonly key?: string;
  readonly tenant?: string;
  readonly body?: unknown;
}

const ask = (url: string, { key = ADMIN_KEY, tenant = "acme", body = { url } }: Asked = {}): Promise<Answer> =>
  send(`${remote.gateway.origin}/workspace/${tenant}/audio-url-domains/check`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

async function checked(url: string, asked: Asked = {}): Promise<AudioUrlCheck> {
  const answer = await ask(url, asked);
  assert.equal(answer.status, 200, answer.text);
  return audioUrlCheck.parse(answer.json);
}

const broken = ({ rules }: AudioUrlCheck) => rules.flatMap(({ rule, outcome }) => (outcome === "broken" ? [rule] : []));

test("remote-audio.check-same-rules, remote-audio.check-no-side-effects: a listed address meets every rule, by the entry that lists it; nothing is fetched, kept or logged", async () => {
  const { internet, requests, gateway } = remote;
  const before = [requests.length, internet.dialled.length, (await auditRows(remote)).length];
  const check = await checked(URL_OF_SPEECH);
  assert.deepEqual(
    [check.allowed, check.reason, check.host, check.listed],
    [true, null, "media.example", { entry: "media.example", owner: "workspace" }],
  );
  assert.deepEqual([...new Set(check.rules.map(({ outcome }) => outcome))], ["met"]);
  assert.deepEqual([requests.length, internet.dialled.length, (await auditRows(remote)).length], before);
  assert.ok(!gateway.logs.join("\n").includes("canary-signature"));
  assert.equal((await postJson(gateway.origin, { audio: { url: URL_OF_SPEECH } })).status, 200);
});

test("remote-audio.check-visibility, remote-audio.opaque-name: SSRF-413: administrators see what a request is answered, the operator also what the name resolves to", async () => {
  const url = "https://global.example/a.wav";
  const refused = detailsOf(await postJson(remote.gateway.origin, { audio: { url } }));
  const seen = await checked(url);
  assert.deepEqual([seen.allowed, seen.reason, broken(seen)], [false, refused["reason"], ["public"]]);
  assert.deepEqual(seen.listed, { entry: "global.example", owner: "platform" });
  assert.ok(!JSON.stringify(seen).includes(PRIVATE));
  assert.equal(seen.addresses, undefined);
  await domainsClient(() => remote).put(OTHER_ADMIN_KEY, { domains: ["unresolved.example"] }, "other");
  const unresolved = await checked("https://unresolved.example/", { key: OTHER_ADMIN_KEY, tenant: "other" });
  assert.deepEqual(unresolved.rules.at(-1), seen.rules.at(-1), "unknown and private names look alike");
  const full = await checked(url, { key: OPERATOR_KEY });
  assert.deepEqual(full.addresses, [PRIVATE]);
  assert.equal(full.rules.at(-1)?.detail, `private ${PRIVATE}`);
  assert.deepEqual((await checked(URL_OF_SPEECH, { key: OPERATOR_KEY })).addresses, [PUBLIC]);
});

test("remote-audio.check-no-side-effects: a host that is on no list is not resolved, in any form; another workspace's list does not count", async () => {
  const before = remote.internet.lookups.length;
  for (const [url, rules] of [
    ["https://internal.corp.example/a.wav", ["listed"]],
    ["http://localhost:8080/", ["scheme", "port", "listed"]],
    ["https://169.254.169.254/latest/meta-data/", ["name", "listed"]],
    ["https://media.example@evil.example/", ["form"]],
  ] as const)
    assert.deepEqual(broken(await checked(url)), rules, url);
  assert.deepEqual(broken(await checked(URL_OF_SPEECH, { key: OTHER_ADMIN_KEY, tenant: "other" })), ["listed"]);
  assert.equal(remote.internet.lookups.length, before);
});

test("tenancy.workspace-admin, admin.mirrored: members get 403, others 404, and an invalid question is refused; on the admin listener the operator gets the same answer", async () => {
  assert.equal((await ask(URL_OF_SPEECH, { key: KEY })).code, "FORBIDDEN");
  for (const key of [OTHER_KEY, OTHER_ADMIN_KEY]) assert.equal((await ask(URL_OF_SPEECH, { key })).code, "NOT_FOUND");
  for (const body of [
    {},
    { url: "" },
    { url: 5 },
    { url: "https://a.example/", more: 1 },
    { url: "x".repeat(16_385) },
    [],
  ])
    assert.equal((await ask("", { body })).code, "INVALID_REQUEST", JSON.stringify(body).slice(0, 60));
  const operators = await send(`${remote.gateway.adminOrigin}/admin/v1/workspaces/acme/audio-url-domains/check`, {
    method: "POST",
    headers: { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ url: URL_OF_SPEECH }),
  });
  assert.deepEqual(operators.json, (await ask(URL_OF_SPEECH, { key: OPERATOR_KEY })).json);
});
