// `kind: local` end to end: a gateway, the real engine in its child process, a small real model, and recordings of words at known times.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { generateKey } from "../../../src/auth/key-format.ts";
import { assignableModels } from "../../../src/contract/admin/workspace-models.ts";
import { connectionTest } from "../../../src/contract/admin/connection-test.ts";
import { routingDecision, type Word } from "../../../src/contract/transcription/transcription-envelope.ts";
import type { GatewayServices } from "../../../src/gateway/services.ts";
import type { LocalCalls, LocalSession, Samples } from "../../../src/providers/local/local-calls.ts";
import { readEngineRuntime } from "../../../src/providers/local/engine/engine-runtime.ts";
import { samplePath } from "../../../src/cli/package-root.ts";
import { fixture } from "../../audio/build-audio.ts";
import { attemptRows } from "../../harness/attempts.ts";
import { detailsOf, envelopeOf, get, postForm, send } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import {
  installWords,
  KNOWN,
  mulawOf,
  RATE,
  sentence,
  speak,
  type Spoken,
  wavOf,
  WORDS,
  wordsModel,
} from "../../harness/local-model.ts";
import { until } from "../../harness/until.ts";
import { WITH_ENGINE, wordsOf } from "../../providers/local/engines.ts";
import { cancel, ended, submit } from "../jobs/jobs.ts";
import { call, envelopeIn, frames, speak as speakLive, START } from "../realtime/setup.ts";
import { streamForm } from "./stream/streamed.ts";

const OPERATOR = "key-of-the-operator-of-this-test";
const KEYS = {
  fallback: "key-of-the-app-with-deepgram-first",
  behind: "key-of-the-app-with-deepgram-last-1",
  open: "key-of-the-app-with-an-open-circuit",
  missing: "key-of-the-app-without-its-model-1",
  names: "key-of-the-app-that-may-see-names-1",
  demonstration: "key-of-the-app-with-the-sample-only",
  budgeted: "key-of-the-app-with-a-budget-of-audio",
  budgetedFallback: "key-of-the-app-with-budget-and-fallback",
  test: generateKey("test"),
};

const AUDIO_BUDGET = { period: "month", limit_audio_seconds: 1_000 } as const;

const modelsDir = mkdtempSync(join(tmpdir(), "patchbay-models-"));
let gateway: TestGateway;
/** Awaited before each decode. */
let beforeDecode: (() => Promise<void>) | null = null;
/** Decoded in place of what was sent. */
let piece: Samples | null = null;

function withLevers(services: GatewayServices): GatewayServices {
  return {
    ...services,
    openIo: (request) => {
      const io = services.openIo(request);
      const { local: here } = io;
      if (here === undefined) return io;
      const open: LocalCalls["open"] = async (asked) => {
        const session = await here.open(asked);
        const decode: LocalSession["decode"] = async (given, keyterms) => {
          await beforeDecode?.();
          return session.decode(piece ?? given, keyterms);
        };
        return { ...session, decode };
      };
      return { ...io, local: { ...here, open } };
    },
  };
}

before(async () => {
  installWords(modelsDir);
  gateway = await startGateway({
    wrapGateway: withLevers,
    file: (sandbox) =>
      configurationWith(sandbox, {
        scopes: ["transcribe", "jobs"],
        models: { dir: modelsDir },
        local: { max_queue_seconds: 120 },
        connections: {
          here: { kind: "local", models: { [WORDS]: { capabilities: ["audio_input"] } } },
          failing: "deepgram",
        },
        routes: {
          here: `here/${WORDS}`,
          fallback: ["dg/nova-3", `here/${WORDS}`],
          behind: [`here/${WORDS}`, "dg/nova-3"],
          open: ["failing/nova-3", `here/${WORDS}`],
          missing: "here/parakeet-110m-en",
          demonstration: "here/demonstration-en",
        },
        operator: OPERATOR,
        apps: {
          notes: {
            route: "here",
            keys: {
              notes: KEY,
              names: { secret: KEYS.names, scopes: ["transcribe", "routing:read"] },
              test: KEYS.test,
            },
          },
          fallback: { route: "fallback", key: KEYS.fallback },
          behind: { route: "behind", key: KEYS.behind },
          open: { route: "open", keys: { o: { secret: KEYS.open, scopes: ["transcribe", "routing:read"] } } },
          missing: { route: "missing", keys: { m: { secret: KEYS.missing, scopes: ["transcribe", "routing:read"] } } },
          demonstration: { route: "demonstration", key: KEYS.demonstration },
          budgeted: { route: "here", key: KEYS.budgeted, budgets: [AUDIO_BUDGET] },
          "budgeted-fallback": { route: "fallback", key: KEYS.budgetedFallback, budgets: [AUDIO_BUDGET] },
        },
      }),
  });
});
after(async () => {
  await gateway.close();
  rmSync(modelsDir, { recursive: true });
});

const ask = (spoken: Spoken, fields: Readonly<Record<string, string>> = {}, key = KEY) =>
  postForm(gateway.origin, { key, file: wavOf(spoken.samples), fields });

const bytesOf = ({ samples }: Spoken): Buffer => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);

/** Start and end of every word within a tenth of a second of where it was spoken. */
function assertWords(words: readonly Word[], spoken: Spoken): void {
  assert.deepEqual(
    words.map(({ text }) => text),
    spoken.words.map(({ text }) => text),
  );
  for (const [index, { text, start, end }] of spoken.words.entries()) {
    const heard = words[index];
    assert.ok(Math.abs((heard?.start ?? 0) - start) <= 0.1, `${text} starts at ${start}, not ${heard?.start}`);
    assert.ok(Math.abs((heard?.end ?? 0) - end) <= 0.1, `${text} ends at ${end}, not ${heard?.end}`);
  }
}

const SPOKEN = sentence("hello", "doctor", "seven", "three", "blue", "good", "morning", "number", "nine");

test(
  "local.words, local.language: words with times within 0.1 s of when they were spoken, text and language",
  WITH_ENGINE,
  async () => {
    const envelope = envelopeOf(await ask(SPOKEN, { timestamps: "both" }));
    assert.equal(envelope.content, wordsOf(SPOKEN));
    assert.equal(envelope.language, "en");
    assertWords(envelope.words, SPOKEN);
    assert.deepEqual(envelope.warnings, []);
  },
);

test("local.segments: segments end at silences, and captions are made of them", WITH_ENGINE, async () => {
  const spoken = speak(0.5, "hello", 0.1, "doctor", 1.2, "good", 0.1, "morning", 0.5);
  const { segments } = envelopeOf(await ask(spoken, { timestamps: "segment" }));
  assert.deepEqual(
    segments.map(({ text }) => text),
    ["hello doctor", "good morning"],
  );
  const captions = await ask(spoken, { response_format: "srt" });
  assert.match(captions.text, /hello doctor/u);
  assert.match(captions.text, /good morning/u);
});

test(
  "local.pieces: a recording with fifty seams loses no word and doubles none, and times are those of the recording",
  WITH_ENGINE,
  async () => {
    const script = Array.from({ length: 340 }, (_, index) => [
      KNOWN[(index * 7) % KNOWN.length] ?? "",
      0.15,
      KNOWN[(index * 11 + 3) % KNOWN.length] ?? "",
      0.15,
      KNOWN[(index * 5 + 1) % KNOWN.length] ?? "",
      1.2 + (index % 4) / 10,
    ]);
    const spoken = speak(0.4, ...script.flat());
    assert.ok(spoken.seconds > 50 * 20, `${spoken.seconds} s`);
    const envelope = envelopeOf(
      await postForm(gateway.origin, { file: mulawOf(spoken.samples), fields: { timestamps: "word" } }),
    );
    assertWords(envelope.words, spoken);
    assert.equal(envelope.content, wordsOf(spoken));
  },
);

test("local.channels: each channel is recognised by itself", WITH_ENGINE, async () => {
  const [left, right] = [sentence("hello", "doctor"), speak(1.5, "good", 0.2, "morning", 0.5)];
  const answer = await postForm(gateway.origin, {
    file: wavOf(left.samples, right.samples),
    fields: { multichannel: "true", timestamps: "word" },
  });
  const { words } = envelopeOf(answer);
  for (const [channel, spoken] of [left, right].entries())
    assertWords(
      words.filter((word) => word.channel === channel),
      spoken,
    );
});

test(
  "local.receipt, metering.local-free: the receipt names the model, its files, the engine and the processor family, and nothing is charged",
  WITH_ENGINE,
  async () => {
    const answer = await ask(SPOKEN, {}, KEYS.names);
    const envelope = envelopeOf(answer);
    const [attempt] = await attemptRows(gateway, answer);
    assert.equal(attempt?.provider, "local");
    assert.equal(attempt.charge_nano_usd, 0n);
    assert.ok(Math.abs(envelope.usage.audio_seconds - SPOKEN.seconds) < 0.001);
    const record = await get(gateway.origin, `/v1/requests/${answer.headers.get("x-request-id")}`, KEYS.names);
    const { attempts } = record.json as { attempts: { receipts: { feature: string; model?: unknown }[] }[] };
    const files = wordsModel.files.map(({ path, sha256 }) => ({ path, sha256 }));
    const runtime = readEngineRuntime();
    assert.deepEqual(attempts[0]?.receipts.find(({ feature }) => feature === "model")?.model, {
      name: WORDS,
      files,
      ...runtime,
    });
    assert.deepEqual(envelope.local_model, { files, ...runtime });
    assert.match(runtime.engine, /^sherpa-onnx \d+\.\d+\.\d+$/u);
    const unnamed = await get(gateway.origin, `/v1/requests/${answer.headers.get("x-request-id")}`);
    assert.doesNotMatch(JSON.stringify(unnamed.json), /"words"/u);
  },
);

test(
  "local.features: what a model does not do is refused before it is called, with what would provide it",
  WITH_ENGINE,
  async () => {
    for (const [fields, missing] of [
      [{ diarization: "true" }, "diarization"],
      [{ redaction: "pii" }, "redaction.pii"],
      [{ keyterms: "Patchbay" }, "keyterms"],
      [{ language: "de" }, "language"],
    ] as const) {
      const answer = await ask(SPOKEN, fields);
      assert.equal(answer.code, "REQUIRED_FEATURE_UNSUPPORTED");
      assert.deepEqual(detailsOf(answer)["missing"], [missing]);
    }
  },
);

test(
  "local.missing, local.hints: a model that is not installed is not eligible, and who may see names is told the command",
  WITH_ENGINE,
  async () => {
    const answer = await ask(SPOKEN, {}, KEYS.missing);
    assert.equal(answer.status, 422);
    assert.deepEqual(detailsOf(answer)["missing"], ["model_not_installed"]);
    assert.match(answer.text, /patchbay models pull parakeet-110m-en/u);
  },
);

test(
  "local.hints: speakers that no model separates are a 422 with the command that would help",
  WITH_ENGINE,
  async () => {
    const answer = await ask(SPOKEN, { diarization: "true" }, KEYS.names);
    assert.deepEqual(detailsOf(answer)["missing"], ["diarization"]);
    assert.match(answer.text, /patchbay models pull speaker-segmentation titanet-small/u);
  },
);

test(
  "local.stream: a file is streamed utterance by utterance, and the whole is what a plain request returns",
  WITH_ENGINE,
  async () => {
    const spoken = speak(0.5, "hello", 0.1, "doctor", 1.2, "good", 0.1, "morning", 1.1, "seven", 0.4);
    const plain = envelopeOf(await ask(spoken, { timestamps: "segment" }));
    const { events } = await streamForm(gateway.origin, {
      file: wavOf(spoken.samples),
      fields: { timestamps: "segment" },
    });
    const texts = events.filter(({ event }) => event === "transcript.delta").map(({ data }) => data["text"]);
    assert.deepEqual(texts, ["hello doctor", " good morning", " seven"]);
    const segments = events.filter(({ event }) => event === "transcript.segment").map(({ data }) => data["segment"]);
    assert.deepEqual(segments, plain.segments);
  },
);

test(
  "local.live: live audio is cut at silences, and each utterance arrives before the audio has ended",
  WITH_ENGINE,
  async () => {
    const spoken = speak(0.5, "hello", 0.1, "doctor", 1.2, "good", 0.1, "morning", 1);
    const caller = await call(gateway.origin);
    caller.send(START);
    const first = speak(0.5, "hello", 0.1, "doctor", 1.2);
    for await (const frame of frames(bytesOf(first))) caller.send(frame);
    assert.deepEqual((await caller.event("transcript.delta")).data["text"], "hello doctor");
    caller.socket.close();
    const whole = await call(gateway.origin);
    await speakLive(whole, START, bytesOf(spoken));
    assert.deepEqual(await whole.closed, [1000, ""]);
    assert.equal(envelopeIn(whole).content, "hello doctor good morning");
  },
);

test(
  "local.queue, local.jobs-wait: over the bound a request is 503 OVERLOADED with Retry-After or the next target, and a job waits",
  WITH_ENGINE,
  async () => {
    const long = speak(...Array.from({ length: 63 }, () => ["hello", 1.3]).flat());
    // With it, the other recording is beyond the bound.
    assert.ok(long.seconds < 120 && long.seconds + SPOKEN.seconds > 120);
    // Nothing is recognised until everything has been asked.
    const released = Promise.withResolvers<void>();
    beforeDecode = () => released.promise;
    const [first, job] = await Promise.all([
      submit(gateway.origin, { file: wavOf(long.samples) }),
      submit(gateway.origin, { file: wavOf(long.samples) }),
    ]);
    await until(() => (gateway.app.recognisers.report()[0]?.queuedSeconds ?? 0) > 100);
    const refused = await ask(SPOKEN);
    assert.equal(refused.code, "OVERLOADED", refused.text);
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
    assert.match(refused.text, /no room/u);
    const next = await ask(SPOKEN, {}, KEYS.behind);
    assert.deepEqual(
      (await attemptRows(gateway, next)).map(({ provider, outcome }) => [provider, outcome]),
      [
        ["local", "failed:overloaded"],
        ["deepgram", "succeeded"],
      ],
    );
    beforeDecode = null;
    released.resolve();
    for (const { job_id: id } of [first, job]) assert.equal((await ended(gateway.origin, id)).status, "succeeded");
  },
);

test(
  "local.hang-up: a caller that hangs up ends the attempt as aborted, and the next request is served by another process",
  WITH_ENGINE,
  async () => {
    await ask(SPOKEN);
    const pid = gateway.app.recognisers.report()[0]?.pid ?? 0;
    const gone = new AbortController();
    // An hour in one piece, which takes the engine seconds.
    piece = { samples: new Int16Array(RATE * 3_600), sampleRate: RATE };
    const hanging = postForm(gateway.origin, { file: wavOf(SPOKEN.samples), signal: gone.signal });
    await until(() => gateway.app.recognisers.report()[0]?.isBusy === true);
    gone.abort();
    piece = null;
    await assert.rejects(hanging);
    await until(() => gateway.app.recognisers.report()[0]?.pid !== pid);
    const lastOutcome = () =>
      gateway.database.db.selectFrom("attempts").select("outcome").orderBy("id", "desc").limit(1).executeTakeFirst();
    await until(async () => (await lastOutcome())?.outcome === "aborted");
    assert.equal(envelopeOf(await ask(SPOKEN)).content, wordsOf(SPOKEN));
  },
);

for (const [when, failures] of [
  ["at once", 0],
  ["after another target failed", 1],
] as const)
  test(
    `jobs.cancel-charge, metering.charge-cancelled: a job that is cancelled while a model on this machine works, ${when}, is not charged and counts in no budget`,
    WITH_ENGINE,
    async () => {
      const key = failures === 0 ? KEYS.budgeted : KEYS.budgetedFallback;
      if (failures > 0)
        gateway.sandbox.addFault({ wire: "deepgram", times: failures, fault: { kind: "status", status: 500 } });
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      beforeDecode = () => {
        reached.resolve();
        return released.promise;
      };
      const { job_id: id } = await submit(gateway.origin, { key, file: wavOf(SPOKEN.samples) });
      await reached.promise;
      assert.equal((await cancel(gateway.origin, id, key)).status, "processing");
      beforeDecode = null;
      released.resolve();
      const done = await ended(gateway.origin, id, key);
      assert.deepEqual([done.status, done.usage], ["cancelled", null]);
      const { db } = gateway.database;
      const attempt = await db
        .selectFrom("attempts")
        .select(["provider", "outcome", "billable_audio_ms", "charge_nano_usd"])
        .orderBy("id", "desc")
        .executeTakeFirstOrThrow();
      assert.deepEqual(Object.values(attempt).map(String), ["local", "failed:cancelled", "0", "0"]);
      const windows = await db.selectFrom("budget_windows").select(["spent_audio_ms", "reserved_audio_ms"]).execute();
      assert.ok(windows.length > 0);
      for (const each of windows) assert.deepEqual(Object.values(each).map(Number), [0, 0]);
    },
  );

test(
  "local.model-list: models are assignable once they are installed, and no longer when they are removed",
  WITH_ENGINE,
  async () => {
    const listed = async (name: string) => {
      const answer = await send(`${gateway.adminOrigin}/admin/v1/models`, {
        headers: { authorization: `Bearer ${OPERATOR}` },
      });
      const { data } = assignableModels.parse(answer.json);
      const found = data.find(({ connection, model }) => connection === "here" && model === name);
      return found === undefined ? null : [found.assignable, found.reason];
    };
    assert.deepEqual(await listed(WORDS), [true, null]);
    assert.deepEqual(await listed("parakeet-110m-en"), [false, "not_installed"]);
    const extra = installWords(modelsDir, { name: "extra" });
    await gateway.app.refreshDirectory();
    assert.deepEqual(await listed("extra"), [true, null]);
    rmSync(extra.dir, { recursive: true });
    await gateway.app.refreshDirectory();
    assert.equal(await listed("extra"), null);
  },
);

test(
  "local.fallback: with the provider's failures the model on this machine is the next target",
  WITH_ENGINE,
  async () => {
    gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 503 } });
    const answer = await ask(SPOKEN, { timestamps: "word" }, KEYS.fallback);
    assertWords(envelopeOf(answer).words, SPOKEN);
    assert.deepEqual(
      (await attemptRows(gateway, answer)).map(({ provider, outcome }) => [provider, outcome]),
      [
        ["deepgram", "failed:server_error"],
        ["local", "succeeded"],
      ],
    );
    gateway.sandbox.clearFaults();
  },
);

test(
  "local.fallback, local.hints: with the provider's circuit open the model serves, and a feature that only the provider has is refused with the command that helps",
  WITH_ENGINE,
  async () => {
    gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 503 } });
    for (let failures = 0; failures < 5; failures++) envelopeOf(await ask(SPOKEN, {}, KEYS.open));
    gateway.sandbox.clearFaults();
    const answer = await ask(SPOKEN, {}, KEYS.open);
    assert.equal(envelopeOf(answer).content, wordsOf(SPOKEN));
    const calls = (await attemptRows(gateway, answer)).map(({ provider, outcome }) => [provider, outcome]);
    assert.deepEqual(calls, [["local", "succeeded"]]);
    const refused = await ask(SPOKEN, { diarization: "true" }, KEYS.open);
    // The provider may be available again soon, so this is not the 422 of a route without it.
    assert.deepEqual([refused.status, refused.code], [503, "NO_HEALTHY_PROVIDER"]);
    assert.match(refused.text, /patchbay models pull speaker-segmentation titanet-small/u);
  },
);

test(
  "measuring.decoder, local.pieces: without ffmpeg MP3 is recognised, and the refusal of another format names ffmpeg to every caller",
  WITH_ENGINE,
  async () => {
    assert.equal((await postForm(gateway.origin, { file: fixture("speech-vbr.mp3") })).status, 200);
    const refused = await postForm(gateway.origin, { file: fixture("speech.m4a") });
    assert.deepEqual([refused.status, refused.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"]);
    assert.deepEqual(detailsOf(refused)["missing"], ["decoder"]);
    assert.match(refused.text, /decodes WAV and MP3 only: send one of them, or install ffmpeg on its machine/u);
  },
);

test("local.idempotent: the same audio gives the same text", WITH_ENGINE, async () => {
  const [one, other] = [envelopeOf(await ask(SPOKEN)), envelopeOf(await ask(SPOKEN))];
  assert.equal(one.content, other.content);
});

test("local.demonstration: the demonstration model lacks every other recording than the bundled sample", async () => {
  const lacks = async (file: Uint8Array) => {
    const answer = await postForm(gateway.origin, { key: KEYS.demonstration, file, fields: { dry_run: "true" } });
    return routingDecision.parse(answer.json).candidates[0]?.missing ?? [];
  };
  assert.ok((await lacks(wavOf(SPOKEN.samples))).includes("recording"));
  assert.ok(!(await lacks(readFileSync(samplePath()))).includes("recording"));
});

test("local.test-key: a test key's call is simulated by the sandbox", WITH_ENGINE, async () => {
  const answer = await ask(SPOKEN, {}, KEYS.test);
  assert.match(envelopeOf(answer).content, /simulated transcript/u);
  assert.equal((await attemptRows(gateway, answer))[0]?.billing_class, "simulated");
});

test(
  "local.connection-test: the test of the connection lists the installed models, without a call",
  WITH_ENGINE,
  async () => {
    const answer = await send(`${gateway.adminOrigin}/admin/v1/connections/here/test`, {
      method: "POST",
      headers: { authorization: `Bearer ${OPERATOR}` },
    });
    const result = connectionTest.parse(answer.json);
    assert.equal(result.ok, true, result.message);
    assert.deepEqual(
      result.models.filter(({ found }) => found === true).map(({ model }) => model),
      ["demonstration-en", WORDS],
    );
  },
);
