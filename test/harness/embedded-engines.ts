// Embedded engines for tests: starting one costs a second, so a process that runs several test files starts one and empties it
// between them. Only what is again as it was at the start is given out; anything else is thrown away, and a new one started.
import type { Duplex } from "node:stream";
import { Client } from "pg";
import { type EmbeddedEngine, startInMemory } from "../../src/storage/pglite.ts";
import { type Asked, type Beginning, empty, lookAt } from "./beginning.ts";

interface Engine {
  readonly embedded: EmbeddedEngine;
  beginning: Beginning | null;
}

let isKept = false;

/** For a process that runs several files; it must end what is idle when it has run them. */
export function keepEngines(): void {
  isKept = true;
}

export async function endIdleEngines(): Promise<void> {
  isKept = false;
  for (const { embedded } of idle.splice(0)) await embedded.close();
}

/** As many as most test files have open at once. */
const MOST_IDLE = 2;
const idle: Engine[] = [];

export interface BorrowedEngine extends EmbeddedEngine {
  /** Of a database that has been migrated and holds nothing yet. */
  readonly remember: (pool: Asked) => Promise<void>;
}

/** What a test file left running does not reach the next one's database: its connections end with its turn. */
export async function borrowEngine(dump: () => Promise<Uint8Array<ArrayBuffer>>): Promise<BorrowedEngine> {
  const engine = (await takeIdle()) ?? { embedded: await startInMemory(await dump()), beginning: null };
  const opened: Duplex[] = [];
  let isOver = false;
  return {
    connect: () => {
      const stream = engine.embedded.connect();
      if (isOver) stream.destroy();
      opened.push(stream);
      return stream;
    },
    dump: engine.embedded.dump,
    remember: async (pool) => {
      engine.beginning ??= await lookAt(pool, "alone");
    },
    close: async () => {
      isOver = true;
      for (const stream of opened) stream.destroy();
      if (!isKept || engine.beginning === null || idle.length >= MOST_IDLE) await engine.embedded.close();
      else idle.push(engine);
    },
  };
}

async function takeIdle(): Promise<Engine | null> {
  const engine = idle.pop();
  const beginning = engine?.beginning ?? null;
  if (engine === undefined || beginning === null) return null;
  try {
    if (await onEngine(engine.embedded, (client) => empty(client, beginning))) return engine;
  } catch {
    // In a state that no statement gets it out of.
  }
  await engine.embedded.close().catch(() => undefined);
  return null;
}

/** On a connection of its own, for which the one before must have ended or wait. */
async function onEngine<T>(embedded: EmbeddedEngine, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ user: "postgres", database: "postgres", ssl: false, stream: embedded.connect });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
