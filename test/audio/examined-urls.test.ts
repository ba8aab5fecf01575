// Compares the check of an address with the fetch of it: every URL of cases/ssrf.json, with the same name servers, gets the same verdict
// from both, and the check connects to nothing.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { pino } from "pino";
import { createRemoteAudio } from "../../src/audio/remote-audio.ts";
import type { Spool } from "../../src/audio/spool.ts";
import { GatewayError } from "../../src/contract/errors.ts";
import { newId } from "../../src/contract/ids.ts";
import { createOutbound } from "../../src/outbound/dial.ts";
import { type PretendInternet, pretendInternet } from "../outbound/pretend-internet.ts";

interface UrlCase {
  readonly id: string;
  readonly url: string;
  readonly expect: "allow" | "reject";
  readonly dns?: Readonly<Record<string, readonly string[]>>;
  readonly config?: {
    readonly allowlist?: readonly string[];
    readonly globalAllowlist?: readonly string[];
    readonly allowedPorts?: readonly number[];
  };
}

const HOST = "media.allowed.example";
const CASES: readonly UrlCase[] = [
  ...(JSON.parse(readFileSync("test/cases/ssrf.json", "utf8")) as Partial<UrlCase>[]).filter(
    (row): row is UrlCase => row.url !== undefined,
  ),
  { id: "several at once", url: "http://8.8.8.8:8080/a.wav", expect: "reject" },
  { id: "another port", url: `https://${HOST}:8443/a.wav`, expect: "reject" },
  { id: "no scheme", url: `${HOST}/a.wav`, expect: "reject" },
  { id: "too long", url: `https://${HOST}/${"a".repeat(8_192)}`, expect: "reject" },
  {
    id: "no such name",
    url: "https://unknown.allowed.example/a.wav",
    expect: "reject",
    config: { allowlist: ["*.allowed.example"] },
  },
  {
    id: "another wildcard's",
    url: "https://a.b.allowed.example/",
    expect: "reject",
    config: { allowlist: ["*.allowed.example"] },
  },
];

function remoteOver(internet: PretendInternet, { config = {} }: UrlCase) {
  const { allowlist = [HOST, "*.cdn.allowed.example"], globalAllowlist = [], allowedPorts = [443] } = config;
  const outbound = createOutbound({ guard: internet });
  const remote = createRemoteAudio({
    outbound,
    // A URL that is allowed fails at the connection, before there is a recording.
    spool: null as unknown as Spool,
    domainsOf: async () => [...allowlist, ...globalAllowlist],
    allowedPorts,
    maxRedirects: 0,
    logger: pino({ enabled: false }),
  });
  return { remote, outbound };
}

/** No host answers at any of its addresses. */
function internetOf({
  dns = { [HOST]: ["1.1.1.1"], "global.platform.example": ["1.1.1.1"] },
}: UrlCase): PretendInternet {
  const internet = pretendInternet();
  for (const [name, addresses] of Object.entries(dns)) internet.name(name, addresses);
  return internet;
}

test(`remote-audio.check-same-rules, remote-audio.check-no-side-effects: ${CASES.length} addresses, hostile ones and good ones: the check reports what the fetch does, and dials nothing`, async () => {
  const workspaceId = newId("workspace");
  const { signal } = new AbortController();
  for (const row of CASES) {
    const [asked, fetched] = [internetOf(row), internetOf(row)];
    const checking = remoteOver(asked, row);
    const fetching = remoteOver({ ...fetched, connect: () => Promise.reject(new Error("the fetch began")) }, row);
    const { findings } = await checking.remote.examine({ workspaceId, url: row.url, signal });
    const reported = findings.find(({ broken }) => broken !== null)?.broken ?? null;
    const error: unknown = await fetching.remote.download({ workspaceId, url: row.url, maxBytes: 1, signal }).then(
      () => assert.fail(row.id),
      (thrown: unknown) => thrown,
    );
    const refused = error instanceof GatewayError && error.code === "AUDIO_URL_REJECTED" ? error : null;
    const about = `${row.id} ${row.url.slice(0, 80)}`;
    assert.deepEqual([reported?.reason, reported?.message], [refused?.details?.["reason"], refused?.message], about);
    assert.equal(reported === null ? "allow" : "reject", row.expect, about);
    if (reported === null) assert.match(String(error), /the fetch began/u, about);
    assert.deepEqual(asked.lookups, fetched.lookups, about);
    assert.deepEqual([asked.dialled, asked.canaryConnections()], [[], 0], about);
    assert.ok(reported !== null || findings.length === 7, about);
    await Promise.all([checking.outbound.destroy(), fetching.outbound.destroy()]);
  }
});

test("remote-audio.check-same-rules, remote-audio.check-no-side-effects: each rule that can be judged is reported, and a name server is asked only behind them all", async () => {
  const row: UrlCase = { id: "", url: "", expect: "reject" };
  const judge = async (url: string) => {
    const internet = internetOf(row);
    const { remote } = remoteOver(internet, row);
    const { findings } = await remote.examine({
      workspaceId: newId("workspace"),
      url,
      signal: new AbortController().signal,
    });
    return [
      findings.map(({ rule, broken }) => (broken === null ? rule : `${rule}!`)).join(" "),
      internet.lookups.length,
    ];
  };
  for (const [url, reported, lookups] of [
    [`https://${HOST}/a.wav`, "scheme form port name listed not_itself public", 1],
    [`http://${HOST}/a.wav`, "scheme! form port! name listed not_itself", 0],
    ["https://other.example:8443/", "scheme form port! name listed! not_itself", 0],
    ["https://127.0.0.1/", "scheme form port name! listed! not_itself", 0],
    [`https://user@${HOST}/`, "scheme form!", 0],
    ["ftp://user@elsewhere.example/", "scheme! form!", 0],
    ["elsewhere", "form!", 0],
  ] as const)
    assert.deepEqual(await judge(url), [reported, lookups], url);
});
