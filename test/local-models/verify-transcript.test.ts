// `patchbay verify-transcript` with the real engine: answers of a gateway are decoded again.
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { TranscriptionEnvelope } from "../../src/contract/transcription/transcription-envelope.ts";
import { compareTranscripts } from "../../src/local-models/compare-transcripts.ts";
import { processorFamily, readEngineRuntime } from "../../src/providers/local/engine/engine-runtime.ts";
import { run } from "../cli/fake-gateway.ts";
import { envelopeOf, postForm } from "../harness/client.ts";
import { configurationWith } from "../harness/configuration.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { installWords, speak, wavOf, WORDS } from "../harness/local-model.ts";
import { WITH_ENGINE } from "../providers/local/engines.ts";

const cwd = mkdtempSync(join(tmpdir(), "patchbay-verify-transcript-"));
const modelsDir = join(cwd, "data/models");
const SPOKEN = speak("hello", "doctor", 1, "seven", "three", "blue");
let gateway: TestGateway;
before(async () => {
  installWords(modelsDir);
  gateway = await startGateway({
    file: (sandbox) =>
      configurationWith(sandbox, {
        scopes: ["transcribe"],
        models: { dir: modelsDir },
        connections: { here: { kind: "local", models: { [WORDS]: { capabilities: ["audio_input"] } } } },
        routes: { speech: ["dg/nova-3"], here: `here/${WORDS}` },
        apps: { notes: { route: "here", key: KEY }, other: { route: "speech", key: OTHER } },
      }),
  });
  writeFileSync(join(cwd, "said.wav"), wavOf(SPOKEN.samples));
});
after(async () => {
  await gateway.close();
  rmSync(cwd, { recursive: true });
});
const [KEY, OTHER] = ["key-of-the-app-on-this-machine-01", "key-of-the-app-of-the-sandbox-001"];

const answer = async (fields: Readonly<Record<string, string>>, key = KEY) =>
  envelopeOf(await postForm(gateway.origin, { key, file: wavOf(SPOKEN.samples), fields }));

function verify(envelope: object, ...options: readonly string[]) {
  writeFileSync(join(cwd, "answer.json"), JSON.stringify(envelope));
  const argv = ["verify-transcript", "answer.json", "--audio", "said.wav", ...options];
  return run(argv, { cwd, env: { PATH: process.env["PATH"] ?? "" } });
}

test(
  "local.verify-transcript, local.idempotent: the same recording and files give the same words, times and text",
  WITH_ENGINE,
  async () => {
    for (const fields of [
      {},
      { timestamps: "both" },
      { response_format: "srt" },
      { multichannel: "true", timestamps: "word" },
    ]) {
      const envelope = await answer(fields);
      const { exitCode, stdout, stderr } = await verify(envelope);
      assert.equal(exitCode, 0, JSON.stringify(fields) + stdout + stderr);
      assert.match(stdout, /^same text, decoded again by words\n$/u);
    }
  },
);

test("local.verify-transcript: another word and another time are listed, exit code 1", WITH_ENGINE, async () => {
  const envelope = await answer({ timestamps: "word" });
  const [first, second, ...others] = envelope.words;
  assert.ok(first !== undefined && second !== undefined);
  const words = [{ ...first, text: "farewell" }, { ...second, start: second.start + 0.01 }, ...others];
  const { exitCode, stdout } = await verify({ ...envelope, words });
  assert.equal(exitCode, 1);
  assert.match(stdout, /^2 differences, .*\n.* - farewell\n +\+ hello\n.* - doctor .*\n +\+ doctor /u);
  const { ok, model, differences } = JSON.parse((await verify({ ...envelope, words }, "--json")).stdout);
  assert.deepEqual(
    [ok, model, differences.map(({ kind }: { kind: string }) => kind)],
    [false, WORDS, ["words", "times"]],
  );
});

test(
  "local.verify-transcript, local.receipt: another engine version or processor family is named, which by itself is no failure",
  WITH_ENGINE,
  async () => {
    const envelope = await answer({});
    const { files, ...runtime } = envelope.local_model ?? {};
    assert.deepEqual(runtime, readEngineRuntime());
    const saved = (changed: object) => ({ ...envelope, local_model: { files, ...changed } });
    const other = await verify(saved({ engine: "sherpa-onnx 1.0.0", processor: "x64 avx" }));
    assert.equal(other.exitCode, 0, other.stderr);
    assert.ok(other.stderr.includes(`The engine is another: sherpa-onnx 1.0.0, here ${runtime.engine}.`), other.stderr);
    assert.ok(other.stderr.includes(`The processor is another: x64 avx, here ${runtime.processor}.`), other.stderr);
    const older = JSON.parse((await verify(saved({ processor: runtime.processor }), "--json")).stdout);
    assert.deepEqual(older.runtime, [{ of: "engine", saved: null, here: runtime.engine }]);
    const [first, ...others] = (await answer({ timestamps: "word" })).words;
    const changed = await verify({ ...envelope, words: [{ ...first, text: "farewell" }, ...others] });
    assert.equal(changed.exitCode, 1);
    assert.match(changed.stderr, /Engine and processor family are those of the answer/u);
  },
);

test("local.receipt: the processor family is its architecture with the instruction sets that the engine chooses between", () => {
  for (const [arch, info, expected] of [
    ["x64", "model name\t: X\nflags\t\t: fpu sse avx avx2 fma avx512f\n", "x64 avx avx2 fma avx512f"],
    ["x64", "flags : fpu avx avx2x\nflags : avx2\n", "x64 avx"],
    ["arm64", "Features\t: fp asimd asimddp i8mm\n", "arm64 asimd asimddp i8mm"],
    ["arm64", null, "arm64 Apple M2"],
    ["x64", "no flags here", "x64 Apple M2"],
    ["riscv64", "flags : avx\n", "riscv64"],
  ] as const)
    assert.equal(processorFamily(arch, info, "Apple M2 "), expected);
});

test(
  "local.verify-transcript: fails closed for another recording, an answer without files, and models that are not installed or have changed",
  WITH_ENGINE,
  async (t) => {
    const envelope = await answer({});
    const expect = async (changed: object, code: number, message: RegExp): Promise<void> => {
      const { exitCode, stderr } = await verify(changed);
      assert.equal(exitCode, code, stderr);
      assert.match(stderr, message);
    };
    await expect(
      { ...envelope, duration_seconds: 1 },
      2,
      /The recording lasts [\d.]+ s, that of the answer lasted 1 s/u,
    );
    await expect(await answer({}, OTHER), 2, /was not made by a model on the gateway's machine/u);
    await expect({}, 2, /is not the JSON answer of a transcription/u);
    const files = (envelope.local_model as NonNullable<TranscriptionEnvelope["local_model"]>).files;
    const others = files.map((file) => ({ ...file, sha256: file.sha256.replace(/^./u, "x") }));
    await expect({ ...envelope, local_model: { files: others } }, 1, /No installed model has the files/u);
    t.after(() => installWords(modelsDir));
    const tokens = join(modelsDir, WORDS, "tokens.txt");
    writeFileSync(tokens, readFileSync(tokens, "utf8").replace(/^./u, "#"));
    await expect(envelope, 1, /The files of words have changed since it was installed[\s\S]*tokens\.txt/u);
    appendFileSync(tokens, "x");
    await expect(envelope, 1, /No installed model has the files/u);
  },
);

test("local.verify-transcript: words are compared by their order, and runs of other words are one difference", () => {
  const words = (text: string) => text.split(" ").map((each) => ({ text: each, start: null, end: null }));
  assert.deepEqual(compareTranscripts(words("a b c d e"), words("a x y d e f")), [
    { kind: "words", seconds: null, saved: "b c", decoded: "x y" },
    { kind: "words", seconds: null, saved: "", decoded: "f" },
  ]);
  assert.deepEqual(compareTranscripts(words("a b"), words("a b")), []);
});
