// `patchbay verify-transcript` with the real engine: answers of a gateway are decoded again.
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { TranscriptionEnvelope } from "../../src/contract/transcription-envelope.ts";
import { compareTranscripts } from "../../src/local-models/compare-transcripts.ts";
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
