// Times of words with the real engine in the ways that `local.test.ts` leaves out: many requests at once, live audio, a stream of a file, and a job.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Word } from "../../../src/contract/transcription/transcription-envelope.ts";
import { envelopeOf, postForm } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { installWords, KNOWN, sentence, speak, type Spoken, wavOf, WORDS } from "../../harness/local-model.ts";
import { WITH_ENGINE } from "../../providers/local/engines.ts";
import { ended, submit } from "../jobs/jobs.ts";
import { call, envelopeIn, speak as speakLive, START } from "../realtime/setup.ts";
import { completed, streamForm } from "./stream/streamed.ts";

const modelsDir = mkdtempSync(join(tmpdir(), "patchbay-models-"));
let gateway: TestGateway;

before(async () => {
  installWords(modelsDir);
  gateway = await startGateway({
    file: (sandbox) =>
      configurationWith(sandbox, {
        scopes: ["transcribe", "jobs"],
        models: { dir: modelsDir },
        connections: { here: { kind: "local", models: { [WORDS]: { capabilities: ["audio_input"] } } } },
        routes: { here: `here/${WORDS}` },
        apps: { notes: { route: "here", key: KEY } },
      }),
  });
});
after(async () => {
  await gateway.close();
  rmSync(modelsDir, { recursive: true });
});

const WITH_TIMES = { timestamps: "word" };
const MAX_DIFFERENCE_SECONDS = 0.1;

/** The words that were spoken, each start and end within a tenth of a second. */
function assertSpoken(words: readonly Word[], spoken: Spoken): void {
  assert.deepEqual(
    words.map(({ text }) => text),
    spoken.words.map(({ text }) => text),
  );
  for (const [index, { text, start, end }] of spoken.words.entries()) {
    const heard = words[index];
    const differences = [start - (heard?.start ?? Number.NaN), end - (heard?.end ?? Number.NaN)];
    assert.ok(
      differences.every((difference) => Math.abs(difference) <= MAX_DIFFERENCE_SECONDS),
      `${text}, ${start} to ${end}: ${heard?.start} to ${heard?.end}`,
    );
  }
}

/** Utterances with pauses at which live audio is cut. */
const TALK = speak(0.5, "hello", 0.2, "doctor", 1.2, "good", 0.2, "morning", 1.1, "seven", 0.2, "three", 0.6);

test(
  "local.words, local.process: twenty requests at once each get their own words, with times within 0.1 s",
  WITH_ENGINE,
  async () => {
    const scripts = Array.from({ length: 20 }, (_, index) =>
      sentence(...Array.from({ length: 6 }, (_each, place) => KNOWN[(index * 7 + place * 3) % KNOWN.length] ?? "")),
    );
    const answers = await Promise.all(
      scripts.map(({ samples }) => postForm(gateway.origin, { file: wavOf(samples), fields: WITH_TIMES })),
    );
    for (const [index, spoken] of scripts.entries()) {
      const answer = answers[index];
      assert.ok(answer !== undefined);
      assertSpoken(envelopeOf(answer).words, spoken);
    }
    assert.equal(gateway.app.recognisers.report().length, 1);
  },
);

test("local.words, local.live: words of live audio have the times of the whole stream", WITH_ENGINE, async () => {
  const caller = await call(gateway.origin);
  const { buffer, byteOffset, byteLength } = TALK.samples;
  await speakLive(caller, { ...START, ...WITH_TIMES }, Buffer.from(buffer, byteOffset, byteLength));
  assert.deepEqual(await caller.closed, [1000, ""], JSON.stringify(caller.events.at(-1)));
  assertSpoken(envelopeIn(caller).words, TALK);
});

test("local.words, local.stream: words of a streamed file have the times of the whole file", WITH_ENGINE, async () => {
  const streamed = await streamForm(gateway.origin, { file: wavOf(TALK.samples), fields: WITH_TIMES });
  assertSpoken(completed(streamed).words, TALK);
});

test("local.words: words of a job have the times of the recording", WITH_ENGINE, async () => {
  const { job_id: id } = await submit(gateway.origin, { file: wavOf(TALK.samples), fields: WITH_TIMES });
  const { status, result } = await ended(gateway.origin, id);
  assert.equal(status, "succeeded");
  assertSpoken(result?.words ?? [], TALK);
});
