// The child processes of the local engine, with the real engine and a real model.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { threadsFor } from "../../../src/compose/recognisers.ts";
import { ProviderError } from "../../../src/providers/io.ts";
import { MANIFEST } from "../../../src/local-models/manifest.ts";
import { DEMONSTRATION, DEMONSTRATION_SPEC } from "../../../src/providers/local/demonstration.ts";
import { engineConfigOf } from "../../../src/providers/local/engine/engine-config-of.ts";
import { startEngine } from "../../../src/providers/local/engine/engine-process.ts";
import { memoryNeed } from "../../../src/providers/local/make-room.ts";
import { tryModel } from "../../../src/providers/local/try-model.ts";
import { ABORT_GRACE_MS } from "../../../src/providers/local/until-aborted.ts";
import { installWords, KNOWN, RATE, sentence, speak, type Spoken, wordsModel } from "../../harness/local-model.ts";
import { until } from "../../harness/until.ts";
import { idleMsOf } from "../../../src/providers/local/recognisers.ts";
import { openRecognisers, openSession, WITH_ENGINE, wordsOf } from "./engines.ts";

const NEVER = new AbortController().signal;
const SPOKEN = sentence("hello", "doctor", "seven", "three", "blue");

function isRunning(pid: number | undefined): boolean {
  try {
    process.kill(pid ?? 0, 0);
    return pid !== undefined;
  } catch {
    return false;
  }
}

const failsWith = (kind: string, reason: string) => (error: unknown) =>
  error instanceof ProviderError && error.kind === kind && (error.reason ?? "") === reason;

test("local.process: a model is loaded by its first use, in one process for all sessions", WITH_ENGINE, async (t) => {
  const engines = openRecognisers(t);
  const first = await openSession(t, engines);
  assert.equal(engines.processes.length, 0);
  const second = await openSession(t, engines, { owner: "b" });
  const results = await Promise.all(
    [first, second].map((session) => session.decode({ ...SPOKEN, sampleRate: RATE }, [])),
  );
  for (const { text } of results) assert.equal(text.trim(), wordsOf(SPOKEN));
  assert.equal(engines.processes.length, 1);
  assert.notEqual(engines.processes[0]?.pid, process.pid);
});

test("local.process: samples of an operation that fails are not heard by the next one", WITH_ENGINE, async (t) => {
  const engine = startEngine();
  t.after(() => engine.kill());
  const config = engineConfigOf(wordsModel, 1);
  assert.ok(config?.kind === "offline");
  const decode = ({ samples }: Spoken) => {
    const piece = engine.send({ samples, sampleRate: RATE, keyterms: [] });
    return engine.call({ kind: "decode", piece }, { silenceMs: 60_000, limitMs: 60_000 });
  };
  await assert.rejects(decode(sentence("blue", "three")), { reason: "decode_failed" });
  await engine.call({ kind: "load", config }, { silenceMs: 60_000, limitMs: 60_000 });
  const value = await decode(SPOKEN);
  assert.ok(value.kind === "recognised");
  assert.deepEqual(
    value.results.map(({ text }) => text.trim()),
    [wordsOf(SPOKEN)],
  );
});

test("local.process: twenty requests at once each get their own words", WITH_ENGINE, async (t) => {
  const engines = openRecognisers(t);
  const scripts = Array.from({ length: 20 }, (_, index) =>
    sentence(...Array.from({ length: 3 }, (_each, place) => KNOWN[(index * 5 + place * 3) % KNOWN.length] ?? "")),
  );
  const texts = await Promise.all(
    scripts.map(async (spoken, index) => {
      const session = await openSession(t, engines, { owner: `owner ${index % 4}` });
      return (await session.decode({ ...spoken, sampleRate: RATE }, [])).text.trim();
    }),
  );
  assert.deepEqual(texts, scripts.map(wordsOf));
  assert.equal(engines.processes.length, 1);
});

test(
  "local.pieces: the remainder of a recording that is shorter than one step of the engine has no text and ends no process",
  WITH_ENGINE,
  async (t) => {
    const engines = openRecognisers(t);
    const session = await openSession(t, engines);
    for (const count of [0, 1, 50, 79]) {
      const samples = Int16Array.from({ length: count }, (_, index) => (index % 2 === 0 ? 20_000 : -20_000));
      assert.equal((await session.decode({ samples, sampleRate: RATE }, [])).text.trim(), "");
    }
    assert.equal(engines.processes.length, 1);
  },
);

test(
  "local.confidence: the engine returns no probabilities for a CTC model, so no model of this kind declares confidence",
  WITH_ENGINE,
  async (t) => {
    const session = await openSession(t, openRecognisers(t));
    const result = await session.decode({ ...SPOKEN, sampleRate: RATE }, []);
    assert.equal(result.tokens.length, result.timestamps.length);
    assert.deepEqual(result.logProbs, []);
    for (const { name, engine, features } of [...MANIFEST, DEMONSTRATION_SPEC, wordsModel.spec])
      if (engine.kind.endsWith("_ctc")) assert.equal(features.confidence, false, name);
  },
);

test("local.idle: a model that is not used is unloaded, and loaded again by the next use", WITH_ENGINE, async (t) => {
  const engines = openRecognisers(t, { idleMs: 20 });
  const session = await openSession(t, engines);
  await session.decode({ ...SPOKEN, sampleRate: RATE }, []);
  const [first] = engines.processes;
  assert.ok(isRunning(first?.pid));
  session.release();
  await until(() => !isRunning(first?.pid));
  const again = await openSession(t, engines);
  assert.equal((await again.decode({ ...SPOKEN, sampleRate: RATE }, [])).text.trim(), wordsOf(SPOKEN));
  assert.equal(engines.processes.length, 2);
});

test("local.idle: the demonstration model is unloaded after ten seconds at most, others after the configured time", () => {
  for (const [model, idleMs, expected] of [
    [DEMONSTRATION, 600_000, 10_000],
    [DEMONSTRATION, 1_000, 1_000],
    ["parakeet-110m-en", 600_000, 600_000],
  ] as const)
    assert.equal(idleMsOf(model, idleMs), expected, model);
});

test(
  "local.crash-definite: a process that is killed at any point of a decode is started again, and the decode is repeated",
  WITH_ENGINE,
  async (t) => {
    const engines = openRecognisers(t);
    const session = await openSession(t, engines, { audioSeconds: 1_000 });
    const long = speak(...Array.from({ length: 40 }, () => ["hello", 0.2, "doctor", 0.2]).flat());
    const startedMs = performance.now();
    await session.decode({ ...long, sampleRate: RATE }, []);
    await session.decode({ ...long, sampleRate: RATE }, []);
    const tookMs = (performance.now() - startedMs) / 2;
    for (let point = 0; point < 20; point++) {
      const decoding = session.decode({ ...long, sampleRate: RATE }, []);
      const victim = engines.processes.at(-1)?.pid ?? 0;
      setTimeout(() => isRunning(victim) && process.kill(victim, "SIGKILL"), (tookMs * point) / 20);
      const { text } = await decoding;
      assert.equal(text.trim(), wordsOf(long), `killed after ${point} of 20 parts`);
    }
  },
);

test("local.crash-definite: a decode whose process dies twice is a definite failure", WITH_ENGINE, async (t) => {
  const engines = openRecognisers(t);
  const session = await openSession(t, engines);
  await session.decode({ ...SPOKEN, sampleRate: RATE }, []);
  const long = { samples: new Int16Array(RATE * 600), sampleRate: RATE };
  const killing = setInterval(() => {
    const { pid } = engines.processes.at(-1) ?? {};
    const [{ residentBytes } = { residentBytes: 0 }] = engines.recognisers.report();
    if (pid !== undefined && residentBytes >= 0 && isRunning(pid)) process.kill(pid, "SIGKILL");
  }, 5);
  t.after(() => clearInterval(killing));
  await assert.rejects(session.decode(long, []), failsWith("server_error", "engine_ended"));
  clearInterval(killing);
  assert.equal((await session.decode({ ...SPOKEN, sampleRate: RATE }, [])).text.trim(), wordsOf(SPOKEN));
});

test(
  "local.crash-definite: a process that dies while nothing is decoded is replaced without a failure",
  WITH_ENGINE,
  async (t) => {
    const engines = openRecognisers(t);
    const session = await openSession(t, engines);
    await session.decode({ ...SPOKEN, sampleRate: RATE }, []);
    const [first] = engines.processes;
    process.kill(first?.pid ?? 0, "SIGKILL");
    await until(() => !isRunning(first?.pid));
    assert.equal((await session.decode({ ...SPOKEN, sampleRate: RATE }, [])).text.trim(), wordsOf(SPOKEN));
  },
);

test(
  "local.silence: a process that hangs is killed, and the decode is repeated in a new one",
  WITH_ENGINE,
  async (t) => {
    const engines = openRecognisers(t, { silenceMs: 1_500 });
    const session = await openSession(t, engines);
    await session.decode({ ...SPOKEN, sampleRate: RATE }, []);
    const [first] = engines.processes;
    process.kill(first?.pid ?? 0, "SIGSTOP");
    assert.equal((await session.decode({ ...SPOKEN, sampleRate: RATE }, [])).text.trim(), wordsOf(SPOKEN));
    assert.equal(isRunning(first?.pid), false);
  },
);

test(
  "local.hang-up: a hang-up ends the process of a long decode within 250 ms, and the next request starts another",
  WITH_ENGINE,
  async (t) => {
    const engines = openRecognisers(t);
    const stop = new AbortController();
    const leaving = await openSession(t, engines, { signal: stop.signal, audioSeconds: 1 });
    const staying = await openSession(t, engines, { owner: "b" });
    await staying.decode({ ...SPOKEN, sampleRate: RATE }, []);
    const [first] = engines.processes;
    const decoding = leaving.decode({ samples: new Int16Array(RATE * 3_600), sampleRate: RATE }, []);
    const waiting = staying.decode({ ...SPOKEN, sampleRate: RATE }, []);
    await until(() => engines.recognisers.report()[0]?.isBusy === true);
    stop.abort();
    await assert.rejects(decoding, failsWith("aborted", ""));
    await until(() => !isRunning(first?.pid));
    assert.ok(ABORT_GRACE_MS < 250);
    assert.equal((await waiting).text.trim(), wordsOf(SPOKEN));
  },
);

test(
  "local.queue: over the bound a request fails as overloaded, with a wait from the measured speed",
  WITH_ENGINE,
  async (t) => {
    const engines = openRecognisers(t, { maxQueueSeconds: 60 });
    await openSession(t, engines, { audioSeconds: 50 });
    await assert.rejects(openSession(t, engines, { audioSeconds: 20 }), (error: unknown) => {
      assert.ok(error instanceof ProviderError);
      assert.equal(error.kind, "overloaded");
      assert.equal(error.reason, "queue_full");
      assert.equal(error.retryAfterSeconds, 10);
      return true;
    });
  },
);

test("local.memory: a model that would need more memory than is left is not loaded", WITH_ENGINE, async (t) => {
  const engines = openRecognisers(t, { memory: async () => memoryNeed([wordsModel]) - 1 });
  const session = await openSession(t, engines);
  await assert.rejects(session.decode({ ...SPOKEN, sampleRate: RATE }, []), failsWith("overloaded", "no_memory"));
  assert.equal(engines.processes.length, 0);
  assert.ok(engines.events.some(({ event }) => event === "local.no_memory"));
});

test("local.memory: an idle model is unloaded to make room for another", WITH_ENGINE, async (t) => {
  const other = { ...wordsModel, name: "other" };
  const engines = openRecognisers(t, {
    installed: async () => [wordsModel, other],
    maxMemoryBytes: Math.round(memoryNeed([wordsModel]) * 1.5),
  });
  const first = await openSession(t, engines);
  await first.decode({ ...SPOKEN, sampleRate: RATE }, []);
  const open = () =>
    engines.recognisers.open(
      { model: "other", audioSeconds: 10 },
      { signal: new AbortController().signal, owner: "a", waits: false },
    );
  const second = await open();
  await assert.rejects(second.decode({ ...SPOKEN, sampleRate: RATE }, []), failsWith("overloaded", "no_memory"));
  first.release();
  assert.equal((await second.decode({ ...SPOKEN, sampleRate: RATE }, [])).text.trim(), wordsOf(SPOKEN));
  second.release();
  assert.equal(isRunning(engines.processes[0]?.pid), false);
});

test(
  "local.memory: of two models that are loaded at once, and have room for one, one is loaded",
  WITH_ENGINE,
  async (t) => {
    const need = memoryNeed([wordsModel]);
    const started: number[] = [];
    const limits = [
      { maxMemoryBytes: Math.round(need * 1.5) },
      { memory: async () => Math.round(need * 1.5) - need * (started.at(-1) ?? 0) },
    ];
    for (const limit of limits) {
      started.push(0);
      const engines = openRecognisers(t, {
        installed: async () => [wordsModel, { ...wordsModel, name: "other" }],
        ...limit,
        start: () => {
          started.push((started.pop() ?? 0) + 1);
          return startEngine();
        },
      });
      const sessions = await Promise.all(
        [wordsModel.name, "other"].map((model) =>
          engines.recognisers.open({ model, audioSeconds: 10 }, { signal: NEVER, owner: "a", waits: false }),
        ),
      );
      const [first, second] = await Promise.allSettled(
        sessions.map((session) => session.decode({ ...SPOKEN, sampleRate: RATE }, [])),
      );
      assert.deepEqual(new Set([first?.status, second?.status]), new Set(["fulfilled", "rejected"]));
      assert.equal(started.at(-1), 1);
      for (const session of sessions) session.release();
    }
  },
);

test("local.files-checked: a model with one flipped byte is refused before it is loaded", WITH_ENGINE, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "patchbay-models-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const model = installWords(dir);
  const engines = openRecognisers(t, { installed: async () => [model] });
  const path = join(model.dir, "model.onnx");
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(1_000_000) ^ 1, 1_000_000);
  writeFileSync(path, bytes);
  const session = await openSession(t, engines);
  const refused = failsWith("server_error", "model_file_changed");
  await assert.rejects(session.decode({ ...SPOKEN, sampleRate: RATE }, []), refused);
  bytes.writeUInt8(bytes.readUInt8(1_000_000) ^ 1, 1_000_000);
  writeFileSync(path, bytes);
  assert.equal((await session.decode({ ...SPOKEN, sampleRate: RATE }, [])).text.trim(), wordsOf(SPOKEN));
  appendFileSync(path, "x");
  process.kill(engines.processes.at(-1)?.pid ?? 0, "SIGKILL");
  await until(() => !isRunning(engines.processes.at(-1)?.pid));
  await assert.rejects(session.decode({ ...SPOKEN, sampleRate: RATE }, []), refused);
});

test(
  "local.files-checked: files that are no model are a failure to load, and this process survives",
  WITH_ENGINE,
  async (t) => {
    const engines = openRecognisers(t, {
      installed: async () => [
        {
          ...wordsModel,
          spec: { ...wordsModel.spec, engine: { kind: "nemo_ctc", model: "tokens.txt", tokens: "tokens.txt" } },
        },
      ],
    });
    const session = await openSession(t, engines);
    await assert.rejects(session.decode({ ...SPOKEN, sampleRate: RATE }, []), (error: unknown) => {
      assert.ok(error instanceof ProviderError);
      return error.kind === "server_error" && ["load_failed", "engine_ended"].includes(error.reason ?? "");
    });
  },
);

test(
  "local.tried: an installed model is tried before it is called verified, and files that are no model are reported",
  WITH_ENGINE,
  async () => {
    assert.equal(await tryModel(wordsModel), null);
    const engine = { kind: "nemo_ctc", model: "tokens.txt", tokens: "tokens.txt" } as const;
    const broken = await tryModel({ ...wordsModel, spec: { ...wordsModel.spec, engine } });
    assert.match(broken ?? "", /the engine cannot use it/u);
  },
);

test("local.missing: without the engine or the model a call is a definite failure", async (t) => {
  const without = openRecognisers(t, { isEngineInstalled: () => false });
  await assert.rejects(openSession(t, without), failsWith("not_found", "engine_not_installed"));
  const empty = openRecognisers(t, { installed: async () => [] });
  await assert.rejects(openSession(t, empty), failsWith("not_found", "model_not_installed"));
});

test("local.process: the engine's process ends with a gateway that is killed", WITH_ENGINE, async (t) => {
  const gateway = spawn(process.execPath, [join(import.meta.dirname, "parent.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => gateway.kill("SIGKILL"));
  const [line] = (await once(gateway.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  assert.ok(isRunning(pid));
  gateway.kill("SIGKILL");
  await until(() => !isRunning(pid));
});

test("local.process: a model has one thread less than there are processors, at least one and at most four", () => {
  for (const [processors, threads] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 3],
    [5, 4],
    [64, 4],
  ] as const)
    assert.equal(threadsFor(processors), threads);
});

test(
  "local.process: a model that is installed again is loaded by the next request, and earlier ones finish with the old files",
  WITH_ENGINE,
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "patchbay-installed-again-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const again = installWords(folder);
    let present = wordsModel;
    const engines = openRecognisers(t, { installed: async () => [present], maxQueueSeconds: 10 });
    const first = await openSession(t, engines);
    const waiting = openSession(t, engines, { waits: true });
    const hear = async (session: Awaited<typeof waiting>) =>
      (await session.decode({ ...SPOKEN, sampleRate: RATE }, [])).text.trim();
    assert.equal(await hear(first), wordsOf(SPOKEN));
    present = again;
    const next = await openSession(t, engines);
    assert.equal(next.model.dir, again.dir);
    assert.deepEqual(await Promise.all([hear(next), hear(first)]), [wordsOf(SPOKEN), wordsOf(SPOKEN)]);
    first.release();
    const second = await waiting;
    assert.equal(await hear(second), wordsOf(SPOKEN));
    assert.equal(engines.processes.length, 2);
    second.release();
    await until(() => !isRunning(engines.processes[0]?.pid));
    assert.equal(await hear(next), wordsOf(SPOKEN));
  },
);

test("local.process: no process outlives its owner's close", WITH_ENGINE, async (t) => {
  const engines = openRecognisers(t);
  const session = await openSession(t, engines);
  await session.decode({ ...SPOKEN, sampleRate: RATE }, []);
  await engines.recognisers.close();
  assert.equal(isRunning(engines.processes[0]?.pid), false);
  await assert.rejects(openSession(t, engines), failsWith("aborted", "closing"));
});
