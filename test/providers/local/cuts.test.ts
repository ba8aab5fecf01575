import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CutRules,
  cutAtSilences,
  type Piece,
  RECORDING_CUTS,
  UTTERANCE_CUTS,
} from "../../../src/providers/local/cut-at-silences.ts";
import { joinSamples, readHumanSpeech } from "../../harness/human-speech.ts";
import { RATE, speak, type Spoken } from "../../harness/local-model.ts";

async function piecesOf(samples: Int16Array, rules: CutRules, chunk: number): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  async function* chunks() {
    for (let from = 0; from < samples.length; from += chunk)
      yield { samples: samples.slice(from, from + chunk), sampleRate: RATE };
  }
  for await (const piece of cutAtSilences(chunks(), rules)) pieces.push(piece);
  return pieces;
}

/** Pairs of words without a pause between them, and pauses of half a second and more. */
function talk(count: number): Spoken {
  const script = Array.from({ length: count }, (_, index) => ["hello", 0.05, "doctor", 0.5 + (index % 5) / 10]);
  return speak(0.3, ...script.flat());
}

function assertTiles(pieces: readonly Piece[], samples: Int16Array): void {
  let at = 0;
  for (const piece of pieces) {
    assert.equal(Math.round(piece.startSeconds * RATE), at);
    assert.deepEqual(piece.samples, samples.slice(at, at + piece.samples.length));
    at += piece.samples.length;
  }
  assert.equal(at, samples.length);
}

for (const [name, rules] of [
  ["recordings", RECORDING_CUTS],
  ["utterances", UTTERANCE_CUTS],
] as const) {
  test(`local.pieces: pieces of ${name} cover the audio without gap or overlap, whatever the size of its chunks`, async () => {
    const { samples } = talk(60);
    for (const chunk of [333, 1_600, 32_000, samples.length]) {
      const pieces = await piecesOf(samples, rules, chunk);
      assertTiles(pieces, samples);
      assert.ok(pieces.every((piece) => piece.samples.length <= rules.maxSeconds * RATE));
    }
  });

  test(`local.pieces, local.idempotent: ${name} are cut at the same places, whatever the size of their chunks`, async () => {
    // With breath and noise in the pauses, so that the threshold of a pause depends on how much of the audio it is computed from.
    const { recordings } = await readHumanSpeech();
    const speech = recordings.map(({ samples }) => samples);
    const samples = joinSamples([...speech, ...speech, ...speech]);
    const [expected, ...others] = await Promise.all(
      [320, 1_600, 16_384, 131_072, samples.length].map(async (chunk) =>
        (await piecesOf(samples, rules, chunk)).map(({ startSeconds }) => startSeconds),
      ),
    );
    for (const starts of others) assert.deepEqual(starts, expected);
  });

  test(`local.pieces: no cut of ${name} is within a word`, async () => {
    const { samples, words } = talk(60);
    const pieces = await piecesOf(samples, rules, 1_600);
    assert.ok(pieces.length > 1);
    for (const { startSeconds } of pieces.slice(1)) {
      const within = words.find(({ start, end }) => start < startSeconds && startSeconds < end);
      assert.equal(within, undefined, `cut at ${startSeconds} in ${within?.text}`);
    }
  });
}

test("local.pieces: a quieter voice with noise behind it is cut in its pauses, too", async () => {
  const { samples, words } = talk(60);
  let seed = 7;
  const noisy = samples.map((value) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.round(value / 4 + (seed / 2_147_483_648 - 0.5) * 120);
  });
  const pieces = await piecesOf(noisy, UTTERANCE_CUTS, 1_600);
  assertTiles(pieces, noisy);
  assert.ok(pieces.length > 40, `${pieces.length} pieces`);
  for (const { startSeconds } of pieces.slice(1))
    assert.ok(!words.some(({ start, end }) => start < startSeconds && startSeconds < end));
});

test("local.pieces: speech without a pause is cut where it is quietest, below the longest length", async () => {
  const { samples } = speak(...Array.from({ length: 200 }, () => "hello"));
  const pieces = await piecesOf(samples, RECORDING_CUTS, 16_000);
  assertTiles(pieces, samples);
  assert.ok(pieces.length > 1);
  assert.ok(pieces.every((piece) => piece.samples.length <= RECORDING_CUTS.maxSeconds * RATE));
});

test("local.pieces: silence is marked and not recognised", async () => {
  const pieces = await piecesOf(new Int16Array(RATE * 70), UTTERANCE_CUTS, 1_600);
  assert.ok(pieces.every(({ isSilent }) => isSilent));
  const [, ...rest] = await piecesOf(speak(20.5, "hello", 1).samples, RECORDING_CUTS, 1_600);
  assert.ok(rest.some(({ isSilent }) => !isSilent));
});
