// What a model on this machine may do before its reservation is committed: the recording is decoded at the same time, and nothing of it is sent.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import type { Decoder } from "../../../src/audio/decode/decoder.ts";
import { Undecodable } from "../../../src/audio/decode/pcm.ts";
import type { GatewayServices } from "../../../src/gateway/services.ts";
import { fixture } from "../../audio/build-audio.ts";
import { attemptRows } from "../../harness/attempts.ts";
import { envelopeOf, postForm } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { installWords, WORDS } from "../../harness/local-model.ts";
import { until } from "../../harness/until.ts";
import { WITH_ENGINE } from "../../providers/local/engines.ts";

const POOR_KEY = "key-of-the-app-with-a-second-of-audio";
const RECORDING = fixture("speech-vbr.mp3");

const modelsDir = mkdtempSync(join(tmpdir(), "patchbay-models-"));
let gateway: TestGateway;
/** In order, of the requests of one test. */
let events: string[] = [];
/** Awaited before a reservation is made. */
let beforeReserve: () => Promise<void>;
/** Awaited before a recording is decoded. */
let beforeDecode: () => Promise<void>;
/** The samples in place of the decoder's. */
let chunks: ((signal: AbortSignal) => AsyncGenerator<Int16Array>) | null;

function withLevers(services: GatewayServices): GatewayServices {
  const decode: Decoder["decode"] = (audio, wish) => {
    const pcm = services.decoder.decode(audio, wish);
    return { ...pcm, chunks: noted(chunks?.(wish.signal) ?? pcm.chunks) };
  };
  return {
    ...services,
    decoder: { ...services.decoder, decode },
    ledger: {
      ...services.ledger,
      reserve: async (reservation) => {
        await beforeReserve();
        const verdict = await services.ledger.reserve(reservation);
        events.push(verdict.ok ? "reserved" : "refused");
        return verdict;
      },
    },
    openIo: (request) => {
      events.push("called");
      return services.openIo(request);
    },
  };
}

async function* noted<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    await beforeDecode();
    yield* source;
    events.push("decoded");
  } catch (error) {
    events.push("not decoded");
    throw error;
  }
}

before(async () => {
  installWords(modelsDir);
  gateway = await startGateway({
    wrapGateway: withLevers,
    file: (sandbox) =>
      configurationWith(sandbox, {
        models: { dir: modelsDir },
        connections: { here: { kind: "local", models: { [WORDS]: { capabilities: ["audio_input"] } } } },
        routes: { here: `here/${WORDS}` },
        apps: {
          notes: { route: "here", key: KEY },
          poor: { route: "here", key: POOR_KEY, budgets: [{ period: "month", limit_audio_seconds: 1 }] },
        },
      }),
  });
});
after(async () => {
  await gateway.close();
  rmSync(modelsDir, { recursive: true });
});
beforeEach(() => {
  events = [];
  beforeReserve = async () => undefined;
  beforeDecode = async () => undefined;
  chunks = null;
});

const ask = (call: { readonly key?: string; readonly headers?: Readonly<Record<string, string>> } = {}) =>
  postForm(gateway.origin, { file: RECORDING, ...call });

async function* broken(): AsyncGenerator<Int16Array> {
  yield new Int16Array(1_000);
  throw new Undecodable("broken");
}

test(
  "metering.reserve-before-call: a recording is decoded while its reservation is committed, and sent after it",
  WITH_ENGINE,
  async () => {
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    beforeDecode = () => begun.promise;
    beforeReserve = () => {
      begun.resolve();
      return released.promise;
    };
    const asked = ask();
    await until(() => events.length > 0);
    assert.deepEqual(events, ["decoded"]);
    released.resolve();
    envelopeOf(await asked);
    assert.deepEqual(events, ["decoded", "reserved", "called"]);
  },
);

test(
  "metering.reserve-before-call: a refused reservation stops the decoder, and nothing is sent",
  WITH_ENGINE,
  async () => {
    const begun = Promise.withResolvers<void>();
    beforeReserve = () => begun.promise;
    // It would go on for ever.
    chunks = async function* (signal) {
      const stopped = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => stopped.reject(signal.reason));
      begun.resolve();
      yield new Int16Array(1_000);
      await stopped.promise;
    };
    const answer = await ask({ key: POOR_KEY });
    assert.deepEqual([answer.status, answer.code], [402, "BUDGET_EXCEEDED"]);
    assert.deepEqual(events, ["refused", "not decoded"]);
    assert.deepEqual(await attemptRows(gateway, answer), []);
  },
);

test(
  "metering.charge-delivered: an attempt whose recording cannot be decoded is settled at 0 as not called",
  WITH_ENGINE,
  async () => {
    chunks = broken;
    const answer = await ask();
    assert.equal(answer.code, "PROVIDER_REJECTED", answer.text);
    assert.deepEqual(
      (await attemptRows(gateway, answer)).map((row) => [
        row.outcome,
        Number(row.charge_nano_usd),
        Number(row.billable_audio_ms),
      ]),
      [["failed:not_called", 0, 0]],
    );
    assert.deepEqual(events.toSorted(), ["not decoded", "reserved"]);
  },
);

test(
  "metering.reserve-before-call: an internal error of the decoder leaves no open reservation",
  WITH_ENGINE,
  async () => {
    chunks = async function* () {
      yield new Int16Array(1_000);
      throw new Error("a fault of the decoder");
    };
    const answer = await ask();
    assert.equal(answer.code, "INTERNAL");
    assert.deepEqual(
      (await attemptRows(gateway, answer)).map(({ outcome }) => outcome),
      ["failed:not_called"],
    );
  },
);

test(
  "metering.reserve-with-slot: under an idempotency key nothing is reserved before the recording is decoded",
  WITH_ENGINE,
  async () => {
    chunks = broken;
    const headers = { "idempotency-key": "a-recording-that-is-broken" };
    const failed = await ask({ headers });
    assert.deepEqual(events, ["not decoded"]);
    assert.deepEqual(await attemptRows(gateway, failed), []);
  },
);
