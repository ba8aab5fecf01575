// The bundled demonstration model on the bundled sample, with the real engine. Skipped, loudly, without the model or the engine.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { packageRoot, samplePath } from "../../../src/cli/package-root.ts";
import { createLogger } from "../../../src/lib/logger.ts";
import { decodeAgain, measureRecording } from "../../../src/operations/models/decode-again.ts";
import { demonstrationDirectory, readDemonstration } from "../../../src/providers/local/demonstration.ts";
import { isEngineInstalled } from "../../../src/providers/local/engine/engine-installed.ts";
import { envelopeOf, postForm } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { findFfmpeg } from "../../../src/audio/decode/find-ffmpeg.ts";
import { streamForm } from "./stream/streamed.ts";

/** What the sample's script says (sandbox/samples/make-sample.sh). */
const SAID =
  "good morning this is the harbour office how can i help hello can i move my boat to pier seven pier seven is free from ten for how long two nights please thank you";

const needs = [
  ...(existsSync(join(packageRoot(), "models/demonstration/manifest.json")) ? [] : ["models/demonstration"]),
  ...(isEngineInstalled() ? [] : ["sherpa-onnx-node"]),
];
const options = needs.length === 0 ? {} : { skip: `not run without ${needs.join(", ")}` };

let gateway: TestGateway | null = null;
before(async () => {
  if (needs.length > 0) return;
  gateway = await startGateway({
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

test(
  "local.demonstration, measuring.decoder-mpeg: without ffmpeg the bundled sample comes out word for word, with times",
  options,
  async () => {
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
  },
);

test(
  "local.demonstration, local.stream: the bundled sample is streamed word for word, and said to be the demonstration's",
  options,
  async () => {
    const { events } = await streamForm(gateway?.origin ?? "", { file: readFileSync(samplePath()) });
    const texts = events.filter(({ event }) => event === "transcript.delta").map(({ data }) => data["text"]);
    assert.ok(texts.length > 1);
    assert.equal(texts.join(""), SAID);
    const envelope = JSON.stringify(events.at(-1)?.data["envelope"]);
    assert.match(envelope ?? "", /"DEMONSTRATION_MODEL"/u);
  },
);

const ffmpeg = findFfmpeg(process.env["PATH"]);

test("local.pieces, measuring.decoder-mpeg: the sample has the same words with ffmpeg and without, at times within 20 ms", {
  skip: options.skip ?? (ffmpeg === null ? "not run without ffmpeg" : false),
}, async () => {
  const model = await readDemonstration(demonstrationDirectory(packageRoot()));
  assert.ok(model !== null);
  const recording = await measureRecording(samplePath());
  const parts = {
    model,
    isByChannel: false,
    directory: tmpdir(),
    threads: 1,
    logger: createLogger({ write: () => undefined }),
    signal: new AbortController().signal,
  };
  const [built] = await decodeAgain(recording, { ...parts, ffmpeg: null });
  const [external] = await decodeAgain(recording, { ...parts, ffmpeg });
  assert.ok(built !== undefined && external !== undefined);
  assert.equal(built.text, SAID);
  assert.equal(external.text, SAID);
  for (const [index, { text, start, end }] of built.words.entries()) {
    const other: (typeof external.words)[number] | undefined = external.words[index];
    assert.equal(text, other?.text);
    const differences = [start - (other?.start ?? 0), end - (other?.end ?? 0)];
    assert.ok(
      differences.every((each) => Math.abs(each) <= 0.02),
      `${text}: ${differences.join(" and ")} s`,
    );
  }
});
