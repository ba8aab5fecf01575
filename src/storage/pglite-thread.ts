// The thread of pglite.ts, in which the engine works: neither a statement nor a vacuum nor a wait for the disk holds up a request.
import { on } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";

export interface EngineOptions {
  /** Null: in memory. */
  readonly dataDir: string | null;
  /** It is not made where it is missing: somebody worked in it a moment ago. */
  readonly isThere?: boolean;
  /** A tar file of a data directory, for an engine in memory. */
  readonly dump: Uint8Array<ArrayBuffer> | null;
}

/** Bytes are of PostgreSQL's wire protocol. Each question is answered, in the order of asking. */
export type EngineQuestion = Uint8Array<ArrayBuffer> | "dump" | "close";
/** `last`: why the thread ends, which answers whatever was asked. */
export type EngineAnswer = Uint8Array<ArrayBuffer> | { readonly fault: unknown } | { readonly last: Error };

/** The first byte of a startup packet, as of no other message. */
const STARTUP = 0;

/** By it PostgreSQL leaves a statement that failed, which it has told. */
const LONG_JUMP = 100;
/** The engine's turn, in which it hears one message. */
const TURN = "_PostgresMainLoopOnce";

if (parentPort !== null) await serve(parentPort, workerData as EngineOptions);

/** The first answer says that the engine runs, or why not. */
async function serve(port: MessagePort, options: EngineOptions): Promise<void> {
  const questions = on(port, "message") as AsyncIterable<readonly [EngineQuestion]>;
  const answer = (said: EngineAnswer): void => {
    // Bytes are moved, not copied.
    port.postMessage(said, said instanceof Uint8Array ? [said.buffer] : []);
  };
  /** What is left of an engine that failed is nothing to work with: it may answer wrongly, or never, and keeps the thread from ending. */
  const stop = (why: unknown, did = "failed"): never => {
    const what = why instanceof Error ? String(why) : JSON.stringify(why);
    answer({ last: new Error(`the embedded database ${did}: ${what}`) });
    // Of this thread.
    process.exit(1);
  };
  const engine = await start(options).catch((why: unknown) => stop(why, "could not be started"));
  tellTraps(engine, stop);
  answer(new Uint8Array());
  for await (const [question] of questions) {
    answer(await answerOf(engine, question).catch(question === "dump" ? (fault: unknown) => ({ fault }) : stop));
    if (question === "close") return port.close();
  }
}

/**
 * Whatever else throws in the engine (its stack or memory has ended, or it has left) PGlite takes for the same, and answers an empty result
 * or nothing.
 */
function tellTraps({ Module }: PGlite, stop: (why: unknown) => never): void {
  const turn = Module[TURN];
  Module[TURN] = () => {
    try {
      turn();
    } catch (error) {
      if ((error as { readonly status?: unknown }).status === LONG_JUMP) throw error;
      stop(error);
    }
  };
}

async function start({ dataDir, isThere = false, dump }: EngineOptions): Promise<PGlite> {
  if (isThere && dataDir !== null && !existsSync(join(dataDir, "PG_VERSION"))) throw new Error(`${dataDir} is gone`);
  return PGlite.create({
    // Commits are on disk before they are answered.
    relaxedDurability: false,
    ...(dataDir === null ? {} : { dataDir }),
    ...(dump === null ? {} : { loadDataDir: new Blob([dump]) }),
  });
}

async function answerOf(engine: PGlite, question: EngineQuestion): Promise<EngineAnswer> {
  if (question === "dump") return new Uint8Array(await (await engine.dumpDataDir("none")).arrayBuffer());
  if (question === "close") {
    await engine.close();
    return new Uint8Array();
  }
  if (question[0] === STARTUP) await beginAnew(engine);
  return run(engine, question);
}

/** There is one session: a connection finds nothing in it that the one before had left. */
async function beginAnew(engine: PGlite): Promise<void> {
  await engine.exec("rollback");
  await engine.exec("discard all");
  // A used file of the log is deleted, not renamed to serve again with all that stands in it (storage/vacuum.ts).
  await engine.exec("set wal_recycle = off");
}

async function run(engine: PGlite, message: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  // What comes is a view of the engine's memory, which it writes again.
  await engine.execProtocolRawStream(message, { onRawData: (bytes) => parts.push(bytes.slice()) });
  return new Uint8Array(Buffer.concat(parts));
}
