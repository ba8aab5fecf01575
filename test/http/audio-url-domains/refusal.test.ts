// PUT /workspace/{tenant_id}/audio-url-domains: what it refuses (the allowlist rows of cases/ssrf.json).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, detailsOf } from "../../harness/client.ts";
import { ADMIN_KEY, type RemoteGateway, startRemoteGateway } from "../audio-url/setup.ts";
import { auditRows, domainsClient, viewOf } from "./domains.ts";

let remote: RemoteGateway;
before(async () => {
  remote = await startRemoteGateway();
});
after(() => remote.close());
const client = domainsClient(() => remote);

/** Refused, and nothing has changed. */
async function refuses(body: unknown): Promise<Answer> {
  const before = [viewOf(await client.read(ADMIN_KEY)), await auditRows(remote)];
  const answer = await client.put(ADMIN_KEY, body);
  assert.deepEqual([answer.status, answer.code], [400, "INVALID_REQUEST"], `${JSON.stringify(body)}: ${answer.text}`);
  assert.deepEqual([viewOf(await client.read(ADMIN_KEY)), await auditRows(remote)], before);
  return answer;
}

const NAMES: readonly (readonly [id: string, name: unknown])[] = [
  ["SSRF-420", "*"],
  ["SSRF-424", "*.s3.amazonaws.com"],
  ["a suffix itself", "s3.amazonaws.com"],
  ["a suffix itself", "com"],
  ["a suffix itself", "co.uk"],
  ["a suffix below a wildcard", "*.com"],
  ["a suffix below a wildcard", "*.co.uk"],
  ["a suffix below a wildcard", "*.github.io"],
  ["SSRF-426", "a.*.example.com"],
  ["a wildcard in a label", "a*.example.com"],
  ["two wildcards", "*.*.example.com"],
  ["SSRF-429", "2130706433"],
  ["SSRF-430", "0x7f.1"],
  ["a literal", "127.0.0.1"],
  ["a literal", "8.8.8.8"],
  ["a literal", "[::1]"],
  ["a literal", "::1"],
  ["SSRF-432", "metadata.google.internal"],
  ["a name of no server", "localhost"],
  ["a name of no server", "a.localhost"],
  ["a name of no server", "printer.local"],
  ["a name of no server", "abc.onion"],
  ["a name of no server", "10.in-addr.arpa"],
  ["SSRF-434", "media.allowed.example/path"],
  ["a port", "media.allowed.example:443"],
  ["a scheme", "https://media.allowed.example"],
  ["a user", "user@media.allowed.example"],
  ["SSRF-438", "media.allowed.example."],
  ["SSRF-441", "xn--a.example"],
  ["a U-label", "médias.example"],
  ["a full-width name", "ｍedia.example.com"],
  // The sign for kelvin, and an I with a dot: in lower case a plain k, and an i with a mark.
  ["a letter of another script", "\u212aeys.example.com"],
  ["a letter of another script", "med\u0130a.example.com"],
  ["SSRF-443", ""],
  ["SSRF-443", " "],
  ["SSRF-443", null],
  ["SSRF-443", 1],
  ["a blank", "media.example.com "],
  ["an empty label", "media..example.com"],
  ["a leading dot", ".example.com"],
  ["an underscore", "a_b.example.com"],
  ["a hyphen at the edge", "-a.example.com"],
  ["a long label", `${"a".repeat(64)}.example.com`],
  ["a long name", `${"a.".repeat(130)}example.com`],
  ["a single label", "metadata"],
];

test(`remote-audio.list-entries, remote-audio.list-replace: ${NAMES.length} entries that are no public host name are refused, all or nothing`, async () => {
  for (const [id, name] of NAMES) {
    const answer = await refuses({ domains: ["fine.example.com", name] });
    const issues = detailsOf(answer)["issues"] as readonly { readonly param: string }[];
    assert.deepEqual(
      issues.map(({ param }) => param),
      ["domains[1]"],
      `${id}: ${String(name)}`,
    );
  }
});

test("remote-audio.list-replace: all faults are listed at once", async () => {
  const answer = await refuses({ domains: ["*", "fine.example.com", "com"] });
  const issues = detailsOf(answer)["issues"] as readonly { readonly param: string }[];
  assert.deepEqual(
    issues.map(({ param }) => param),
    ["domains[0]", "domains[2]"],
  );
});

test("remote-audio.list-size: SSRF-418: 21 names are refused, 21 with a duplicate are twenty", async () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `h${at}.example.com`);
  await refuses({ domains: names(21) });
  const put = viewOf(await client.put(ADMIN_KEY, { domains: [...names(20), "H0.example.com"] }));
  assert.equal(put.domains.length, 20);
});

test("remote-audio.list-replace: a body without the list, with another field, or that is no object is refused", async () => {
  for (const body of [{}, { domains: null }, { domains: "media.example" }, { domains: [], extra: 1 }, [], "x", null])
    await refuses(body);
  const large = await client.put(ADMIN_KEY, { domains: [`${"a".repeat(70_000)}.example.com`] });
  assert.deepEqual([large.status, large.code], [413, "BODY_TOO_LARGE"]);
});
