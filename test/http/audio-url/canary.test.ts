// Every address of cases/ssrf.json through the whole gateway, with the real connector behind the guard: every name resolves to loopback,
// where the canary listens. Whatever gets past a check is a connection there, and fails the run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { systemConnector } from "../../../src/outbound/system-network.ts";
import { canaryPort } from "../../harness/canary.ts";
import { postJson, send } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import { JOBS } from "../jobs/jobs.ts";
import { ADMIN_KEY, remoteFile } from "./setup.ts";

const URLS = (JSON.parse(readFileSync("test/cases/ssrf.json", "utf8")) as { readonly url?: string }[]).flatMap(
  ({ url }) => (url === undefined ? [] : [url]),
);

let gateway: TestGateway;
let hostile: readonly string[];
before(async () => {
  const port = await canaryPort();
  gateway = await startGateway({
    network: { resolve: async () => ["127.0.0.1", "::1"], connect: systemConnector() },
    file: (sandbox) => {
      const file = remoteFile(sandbox);
      return {
        ...file,
        // Each address is fetched by the same app.
        limits: { ...file.limits, url_fetches_per_minute: 10_000 },
        audio_url: { global_domains: ["media.allowed.example", "*.cdn.allowed.example"], allowed_ports: [443, port] },
      };
    },
  });
  hostile = [...new Set([...URLS, ...URLS.map((url) => atPort(url, port))])];
});
after(() => gateway.close());

/** The same address at the canary's own port, where the text leaves no doubt about where a port goes. */
function atPort(url: string, port: number): string {
  return url.replace(/^(https?:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+))(?::\d+)?(?=[/?#]|$)/iu, `$1:${port}`);
}

for (const path of ["/v1/transcription", JOBS]) {
  test(`remote-audio.public-address, remote-audio.name-not-address: POST ${path} with audio.url: each of ${URLS.length} addresses, as it is and at the canary's port, is refused before a socket`, async () => {
    for (const url of hostile) {
      const { code } = await postJson(gateway.origin, { audio: { url } }, { path });
      assert.match(code ?? "accepted", /^(AUDIO_URL_REJECTED|INVALID_REQUEST)$/u, url.slice(0, 100));
    }
  });
}

/** A public address in figures is a receiver's as good as a name; only `audio.url` wants names. */
const PUBLIC_LITERAL = /^https:\/\/8\.8\.8\.8[:/]/u;

test("remote-audio.shared-guard: PUT of a webhook with each of these addresses is refused before a socket", async () => {
  for (const url of hostile.filter((each) => !PUBLIC_LITERAL.test(each))) {
    const answer = await send(`${gateway.origin}/workspace/acme/stt-webhook`, {
      method: "PUT",
      headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ url }),
    });
    assert.equal(answer.code, "INVALID_REQUEST", url.slice(0, 100));
  }
});
