// whisper.cpp's own server behind a gateway, in both of its usual starts and with either spelling of its address.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { type Answer, envelopeOf, postForm } from "../../harness/client.ts";
import { byId, configurationWith, target } from "../../harness/configuration.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";

const STARTS = {
  "started without --inference-path": ["whisper-cpp-stock", "/inference"],
  "started with --inference-path /v1/audio/transcriptions": ["whisper-cpp", "/v1/audio/transcriptions"],
} as const;
const SPELLINGS = { "with /v1": "/v1", "with /v1/": "/v1/", "without /v1": "" } as const;

const cases = Object.entries(STARTS).flatMap(([start, [prefix, path]]) =>
  Object.entries(SPELLINGS).map(([spelling, end], index) => ({
    id: `${prefix}-${index}`,
    title: `${start}, base_url ${spelling}`,
    base: `/compatible/${prefix}${end}`,
    takesAt: `/compatible/${prefix}${path}`,
  })),
);

/** One app, and a key of it, for each connection. */
function fileOf(sandbox: Sandbox): ConfigurationFile {
  const base = {
    capabilities: ["audio_input" as const],
    features: { timestamps: ["segment" as const], detect_language: true },
  };
  const paths: Readonly<Record<string, string>> = {
    ...Object.fromEntries(cases.map((each) => [each.id, each.base])),
    elsewhere: "/compatible/nowhere",
    "named-wrongly": "/compatible/whisper-cpp/v1",
  };
  const ids = Object.keys(paths);
  return configurationWith(sandbox, {
    scopes: ["transcribe"],
    connections: byId(ids, (id) => ({
      kind: "openai-compatible",
      base_url: `${sandbox.origin}${paths[id]}`,
      models: { base: { ...base, dialect: "whisper-cpp" } },
    })),
    routes: {
      ...byId(ids, (id) => `${id}/base`),
      "named-wrongly": [target("named-wrongly/base", { settings: { transcribe_path: "/audio/transcribe" } })],
    },
    apps: byId(ids, (id) => ({ key: keyOf(id) })),
  });
}

const keyOf = (id: string): string => `key-of-${id}-`.padEnd(32, "0");
const ask = (id: string, fields: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  postForm(gateway.origin, { key: keyOf(id), fields });

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: fileOf });
});
after(() => gateway.close());
beforeEach(() => gateway.sandbox.clearCalls());

for (const { id, title, takesAt } of cases)
  test(`transcription.server-paths: FLD-20: whisper.cpp's server ${title}: transcribes, with one upload`, async () => {
    for (const time of ["first", "next"]) {
      const answer = await ask(id);
      assert.equal(answer.status, 200, `${time}: ${answer.text}`);
    }
    assert.deepEqual(
      gateway.sandbox.calls.map(({ path }) => path),
      [takesAt, takesAt],
    );
  });

for (const id of ["elsewhere", "named-wrongly"])
  test(`transcription.server-paths: FLD-20: a 404 of the path itself (${id}) names the settings to look at, in the log`, async () => {
    const answer = await ask(id);
    assert.deepEqual([answer.status, answer.code], [503, "NO_HEALTHY_PROVIDER"]);
    const requestId = answer.headers.get("x-request-id") ?? "";
    const line = gateway.logs.find((each) => each.includes(requestId) && each.includes('"failure":"not_found"'));
    assert.match(line ?? "", /no_such_path_see_base_url_dialect_and_transcribe_path/u);
  });

test("transcription.language: FLD-19: asked for one language, whisper.cpp's guess of another one does not count", async () => {
  // The server works in German, and adds that it guesses English with 0.99.
  const envelope = envelopeOf(await ask("whisper-cpp-0", { language: "de", timestamps: "segment" }));
  assert.deepEqual([envelope.language, envelope.language_confidence], ["de", null]);
});

test("transcription.language: FLD-19: where detection was asked, the detected language and its probability count", async () => {
  const envelope = envelopeOf(await ask("whisper-cpp-0", { detect_language: "true", timestamps: "segment" }));
  assert.deepEqual([envelope.language, envelope.language_confidence], ["en", 0.99]);
});

test("transcription.language: where the provider reports no language, the answer has the one that was asked, without a confidence", async () => {
  const envelope = envelopeOf(await ask("whisper-cpp-0", { language: "pt-BR" }));
  assert.deepEqual([envelope.language, envelope.language_confidence], ["pt-BR", null]);
  const silent = envelopeOf(await ask("whisper-cpp-0", {}));
  assert.deepEqual([silent.language, silent.language_confidence], [null, null]);
});
