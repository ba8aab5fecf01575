// When a piece is sent to the engine's process: ahead of its turn only behind a piece of its own session, and never twice to one process.
import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";
import { EngineFailure, type EngineProcess } from "../../../src/providers/local/engine/engine-process.ts";
import type { EngineValue } from "../../../src/providers/local/engine/engine-protocol.ts";
import { createPieceSender } from "../../../src/providers/local/piece-sender.ts";
import { RATE, sentence, speak, type Spoken } from "../../harness/local-model.ts";
import { until } from "../../harness/until.ts";
import { openRecognisers, openSession, WITH_ENGINE, wordsOf } from "./engines.ts";

const TERMS = { silenceMs: 60_000, limitMs: 60_000 };
const pieceOf = (seconds: number) => ({ samples: new Int16Array(seconds * RATE), sampleRate: RATE, keyterms: [] });

/** Writes down what it is sent. Each decode ends when it is told to. */
function fakeProcess() {
  const log: string[] = [];
  const decodes: PromiseWithResolvers<EngineValue>[] = [];
  let pieces = 0;
  let isAlive = true;
  const process: EngineProcess = {
    send: () => {
      pieces += 1;
      log.push(`piece ${pieces}`);
      return pieces;
    },
    call: (order) => {
      if (order.kind === "decode") log.push(`decode ${order.piece}`);
      const decode = Promise.withResolvers<EngineValue>();
      decodes.push(decode);
      return decode.promise;
    },
    tell: async (order) => {
      if (order.kind === "discard") log.push(`discard ${order.piece}`);
    },
    isAlive: () => isAlive,
    isBusy: () => false,
    residentBytes: () => 0,
    pid: 1,
    kill: async () => undefined,
  };
  return {
    process,
    log,
    end: (at: number) => decodes[at]?.resolve({ kind: "recognised", results: [] }),
    die: (at: number) => {
      isAlive = false;
      decodes[at]?.reject(new EngineFailure("gone", ""));
    },
  };
}

test("local.ahead: behind a piece that is decoded the next one of its session is sent, and no more than one", async () => {
  const { process, log, end } = fakeProcess();
  const sender = createPieceSender();
  const [first, other] = [sender.begin(pieceOf(1)), createPieceSender().begin(pieceOf(1))];
  assert.deepEqual(log, [], "before its turn, with nothing of its session ahead of it");
  const decoding = first.decode(process, TERMS);
  const second = sender.begin(pieceOf(1));
  const third = sender.begin(pieceOf(1));
  assert.deepEqual(log, ["piece 1", "decode 1", "piece 2"]);
  end(0);
  await decoding;
  // Another session has the turn in between.
  const otherDecoding = other.decode(process, TERMS);
  end(1);
  await otherDecoding;
  const decodingSecond = second.decode(process, TERMS);
  end(2);
  await decodingSecond;
  void third.decode(process, TERMS);
  assert.deepEqual(log.slice(3), ["piece 3", "decode 3", "decode 2", "piece 4", "decode 4"]);
});

test("local.ahead: a piece that was sent and is not decoded is discarded once, and one that was decoded never", async () => {
  const { process, log, end } = fakeProcess();
  const sender = createPieceSender();
  const first = sender.begin(pieceOf(1));
  const decoding = first.decode(process, TERMS);
  const second = sender.begin(pieceOf(1));
  second.end();
  second.end();
  const third = sender.begin(pieceOf(1));
  end(0);
  await decoding;
  first.end();
  assert.deepEqual(log, ["piece 1", "decode 1", "piece 2", "discard 2", "piece 3"]);
  third.end();
  assert.equal(log.at(-1), "discard 3");
});

test("local.ahead, local.crash-definite: after its process ended a piece that was sent ahead is sent to the new one", async () => {
  const [old, next] = [fakeProcess(), fakeProcess()];
  const sender = createPieceSender();
  const first = sender.begin(pieceOf(1));
  const decoding = first.decode(old.process, TERMS);
  const second = sender.begin(pieceOf(1));
  old.die(0);
  await assert.rejects(decoding, { reason: "gone" });
  const repeated = first.decode(next.process, TERMS);
  next.end(0);
  await repeated;
  first.end();
  const decodingSecond = second.decode(next.process, TERMS);
  next.end(1);
  await decodingSecond;
  second.end();
  assert.deepEqual(old.log, ["piece 1", "decode 1", "piece 2"]);
  assert.deepEqual(next.log, ["piece 1", "decode 1", "piece 2", "decode 2"]);
});

test(
  "local.ahead: pieces of sessions that are decoded in turns have their own words, whatever was sent ahead",
  WITH_ENGINE,
  async (t) => {
    const engines = openRecognisers(t);
    const scripts = [
      [sentence("hello", "doctor"), sentence("seven", "three"), sentence("blue", "good")],
      [sentence("three", "hello"), sentence("good", "morning"), sentence("doctor", "seven")],
    ];
    const heard = await Promise.all(
      scripts.map(async (pieces, owner) => {
        const session = await openSession(t, engines, { owner: `owner ${owner}`, audioSeconds: 30 });
        return Promise.all(pieces.map(({ samples }) => session.decode({ samples, sampleRate: RATE }, [])));
      }),
    );
    assert.deepEqual(
      heard.map((results) => results.map(({ text }) => text.trim())),
      scripts.map((pieces) => pieces.map(wordsOf)),
    );
    assert.equal(engines.processes.length, 1);
  },
);

test(
  "local.ahead, local.hang-up: after a caller left, nothing of the piece that was ahead is heard by the next one",
  WITH_ENGINE,
  async (t) => {
    const engines = openRecognisers(t);
    const staying = await openSession(t, engines, { owner: "b" });
    const spoken = sentence("blue", "three");
    const hear = async () => (await staying.decode({ ...spoken, sampleRate: RATE }, [])).text.trim();
    assert.equal(await hear(), wordsOf(spoken));
    for (const seconds of [1, 3_600]) {
      const stop = new AbortController();
      const leaving = await openSession(t, engines, { signal: stop.signal, audioSeconds: 1 });
      const decoding = leaving.decode({ samples: new Int16Array(RATE * seconds), sampleRate: RATE }, []);
      await until(() => engines.recognisers.report()[0]?.isBusy === true);
      // More than the pipe takes at once.
      const long = speak(...Array.from({ length: 40 }, () => ["hello", 0.2]).flat());
      const ahead = leaving.decode({ ...long, sampleRate: RATE }, []);
      stop.abort();
      await Promise.allSettled([decoding, ahead]);
      leaving.release();
      await setImmediate();
      assert.equal(await hear(), wordsOf(spoken), `a decode of ${seconds} s`);
    }
  },
);

test(
  "local.ahead, local.crash-definite: whenever the process is killed, the piece that is decoded and the one ahead have their own words",
  WITH_ENGINE,
  async (t) => {
    const engines = openRecognisers(t);
    const session = await openSession(t, engines, { audioSeconds: 1_000 });
    const [first, second] = [["hello", 0.2, "doctor", 0.2] as const, ["blue", 0.2, "three", 0.2] as const].map(
      (words) => speak(...Array.from({ length: 30 }, () => words).flat()),
    );
    assert.ok(first !== undefined && second !== undefined);
    const hear = async ({ samples }: Spoken) => (await session.decode({ samples, sampleRate: RATE }, [])).text.trim();
    assert.equal(await hear(first), wordsOf(first));
    for (const turns of [0, 1, 3, 10, 30]) {
      const decoding = hear(first);
      await until(() => engines.recognisers.report()[0]?.isBusy === true);
      const ahead = hear(second);
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      process.kill(engines.processes.at(-1)?.pid ?? 0, "SIGKILL");
      assert.deepEqual(await Promise.all([decoding, ahead]), [wordsOf(first), wordsOf(second)], `after ${turns} turns`);
    }
  },
);
