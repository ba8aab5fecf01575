// The stream of a transcription ends when its key stops being valid, on the native and on the compatible endpoint.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sandbox } from "../../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../../src/config/schema/file.ts";
import { errorBody } from "../../../../src/contract/error-body.ts";
import { startBeatClock } from "../../../harness/beat-clock.ts";
import { changeKey, CHAT_ALONE, REVOKED } from "../../../harness/change-key.ts";
import { startQuietGateway } from "../../../harness/quiet-gateway.ts";
import { attempts, streamForm } from "./streamed.ts";

const KEYS = ["key-of-speech-that-streams-01", "key-of-speech-that-streams-02"] as const;
const MODEL = "gpt-4o-transcribe";

const file = (sandbox: Sandbox): ConfigurationFile => ({
  prices: [{ provider: "openai", model: MODEL, usd_per_audio_hour: "3.6", source: "test", as_of: "2026-11-01" }],
  connections: [{ id: "oa", kind: "openai", api_key: "oa-secret", base_url: sandbox.openaiUrl }],
  routes: [{ id: "speech", targets: [{ connection: "oa", model: MODEL }] }],
  workspaces: [
    {
      id: "acme",
      apps: [
        {
          id: "notes",
          route: "speech",
          keys: KEYS.map((secret, at) => ({ id: `speech-${at}`, secret, scopes: ["transcribe" as const] })),
        },
      ],
    },
  ],
});

const gateway = await startQuietGateway(file);

for (const [name, call, id, change, code] of [
  ["native", { key: KEYS[0] }, "speech-0", REVOKED, "UNAUTHENTICATED"],
  [
    "compatible",
    { key: KEYS[1], path: "/v1/audio/transcriptions", fields: { model: "auto" } },
    "speech-1",
    CHAT_ALONE,
    "FORBIDDEN",
  ],
] as const) {
  test(`transcription.stream-revoked: the ${name} stream of a key that is no longer valid ends within 5 s with one ${code}, charged as run`, async () => {
    gateway.sandbox.addFault({ model: MODEL, fault: { kind: "stall_stream", afterContent: 1 } });
    const hasBegun = Promise.withResolvers<void>();
    const streaming = streamForm(gateway.origin, { ...call, onPiece: hasBegun.resolve });
    await hasBegun.promise;
    using clock = startBeatClock();
    await changeKey(gateway, id, change);
    const { events } = await streaming;
    assert.ok(clock.elapsedMs() < 5_000);
    const errors = events.flatMap(({ data }) => ("error" in data ? [errorBody.parse(data).error.code] : []));
    assert.deepEqual(errors, [code]);
    assert.deepEqual(Object.keys(events.at(-1)?.data ?? {}), ["error"]);
    assert.deepEqual(
      (await attempts(gateway)).map(([, outcome, ms]) => [outcome, ms > 0]),
      [["aborted", true]],
    );
  });
}
