// Recognisers with the real engine for tests.
import type { TestContext } from "node:test";
import type { InstalledModel } from "../../../src/local-models/installed-model.ts";
import { type EngineProcess, startEngine } from "../../../src/providers/local/engine/engine-process.ts";
import {
  createRecognisers,
  type RecogniserOptions,
  type Recognisers,
} from "../../../src/providers/local/recognisers.ts";
import type { SessionTerms } from "../../../src/providers/local/local-session.ts";
import type { LocalSession } from "../../../src/providers/local/local-calls.ts";
import { isEngineInstalled } from "../../../src/providers/local/engine/engine-installed.ts";
import { type Spoken, WORDS, wordsModel } from "../../harness/local-model.ts";

/** The engine is an optional dependency. Its tests say loudly that they are skipped without it. */
export const WITH_ENGINE = isEngineInstalled() ? {} : { skip: "sherpa-onnx-node is not installed" };

export interface TestRecognisers {
  readonly recognisers: Recognisers;
  readonly events: readonly Record<string, unknown>[];
  /** Every process that was started. */
  readonly processes: readonly EngineProcess[];
}

export function openRecognisers(t: TestContext, options: Partial<RecogniserOptions> = {}): TestRecognisers {
  const events: Record<string, unknown>[] = [];
  const processes: EngineProcess[] = [];
  const log = (event: Record<string, unknown>): void => void events.push(event);
  const recognisers = createRecognisers({
    installed: async (): Promise<readonly InstalledModel[]> => [wordsModel],
    isEngineInstalled: () => true,
    threads: 1,
    idleMs: 60_000,
    maxQueueSeconds: 900,
    maxMemoryBytes: null,
    logger: { info: log, warn: log, error: log },
    start: () => {
      const process = startEngine();
      processes.push(process);
      return process;
    },
    ...options,
  });
  t.after(() => recognisers.close());
  return { recognisers, events, processes };
}

export function openSession(
  t: TestContext,
  { recognisers }: Pick<TestRecognisers, "recognisers">,
  terms: Partial<SessionTerms> & { readonly audioSeconds?: number } = {},
): Promise<LocalSession> {
  const { audioSeconds = 10, ...rest } = terms;
  return recognisers
    .open({ model: WORDS, audioSeconds }, { signal: new AbortController().signal, owner: "a", waits: false, ...rest })
    .then((session) => {
      t.after(() => session.release());
      return session;
    });
}

export const wordsOf = ({ words }: Spoken): string => words.map(({ text }) => text).join(" ");
