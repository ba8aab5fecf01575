// The bundled demonstration model on the bundled sample, with the real engine. Skipped, loudly, without the model, the engine or ffmpeg.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { packageRoot, samplePath } from "../../../src/cli/package-root.ts";
import { isEngineInstalled } from "../../../src/providers/local/engine/engine-installed.ts";
import { envelopeOf, postForm } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { findFfmpeg } from "../../../src/audio/decode/find-ffmpeg.ts";

/** What the sample's script says (sandbox/samples/make-sample.sh). */
const SAID =
  "good morning this is the harbour office how can i help hello can i move my boat to pier seven pier seven is free from ten for how long two nights please thank you";

const ffmpeg = findFfmpeg(process.env["PATH"] ?? "");
const needs = [
  ...(existsSync(join(packageRoot(), "models/demonstration/manifest.json")) ? [] : ["models/demonstration"]),
  ...(isEngineInstalled() ? [] : ["sherpa-onnx-node"]),
  ...(ffmpeg === null ? ["ffmpeg"] : []),
];
const options = needs.length === 0 ? {} : { skip: `not run without ${needs.join(", ")}` };

let gateway: TestGateway | null = null;
before(async () => {
  if (needs.length > 0 || ffmpeg === null) return;
  gateway = await startGateway({
    ffmpeg,
    file: (sandbox) =>
      configurationWith(sandbox, {
        scopes: ["transcribe"],
        connections: { here: { kind: "local" } },
        routes: { sample: "here/demonstration-en" },
        apps: { notes: { key: KEY } },
      }),
  });
});
after(() => gateway?.close());

test("local.demonstration: the bundled sample comes out word for word, with times", options, async () => {
  const {
    content,
    words,
    duration_seconds: seconds,
  } = envelopeOf(
    await postForm(gateway?.origin ?? "", { file: readFileSync(samplePath()), fields: { timestamps: "word" } }),
  );
  assert.equal(content, SAID);
  assert.equal(words.map(({ text }) => text).join(" "), SAID);
  for (const [index, { start, end }] of words.entries()) {
    assert.ok(start < end && end <= seconds);
    assert.ok(start >= (words[index - 1]?.start ?? 0));
  }
});
