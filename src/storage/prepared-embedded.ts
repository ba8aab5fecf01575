// Marked statements on the embedded engine (prepared.ts): prepared once in its one session, and run by one message where the engine's
// own `query` sends six. Inside transactions, which hold the session; elsewhere they run as any other.
import type { PGlite, parse as Parse, protocol as Protocol, Results, Transaction } from "@electric-sql/pglite";
import { isMarked, nameOf } from "./prepared.ts";

/** Of the engine's module, which is loaded when it is needed. */
export interface Wire {
  readonly protocol: typeof Protocol;
  readonly parse: typeof Parse;
}

type Query = Transaction["query"];

/** What Kysely needs of an engine. */
export type PreparingEngine = Pick<PGlite, "close" | "closed" | "ready" | "waitReady" | "query" | "transaction">;

export function preparing(pglite: PGlite, { protocol: { serialize }, parse }: Wire): PreparingEngine {
  const prepared = new Set<string>();
  const send = async (...parts: readonly Uint8Array[]) =>
    (await pglite.execProtocol(Buffer.concat(parts), { syncToFs: false, throwOnError: true })).messages;

  const run = <T>(text: string, values: readonly unknown[]): Promise<Results<T>> =>
    pglite.runExclusive(async () => {
      const name = nameOf(text);
      if (!prepared.has(name)) {
        await send(serialize.parse({ name, text }), serialize.sync());
        prepared.add(name);
      }
      const bound = serialize.bind({ statement: name, values: values.map(asText) });
      const messages = await send(bound, serialize.describe({ type: "P" }), serialize.execute({}), serialize.sync());
      const [result] = parse.parseResults([...messages], pglite.parsers, { rowMode: "object" });
      if (result === undefined) throw new Error("a statement without a result");
      return result as Results<T>;
    });

  return {
    get closed() {
      return pglite.closed;
    },
    get ready() {
      return pglite.ready;
    },
    waitReady: pglite.waitReady,
    close: () => pglite.close(),
    query: (text, values, options) => pglite.query(text, values, options),
    transaction: (work) =>
      pglite.transaction((tx) => {
        const query: Query = (text, values, options) =>
          isMarked(text) ? run(text, values ?? []) : tx.query(text, values, options);
        return work(Object.assign(Object.create(tx) as Transaction, { query }));
      }),
  };
}

/** The wire's text form, which the statement's own casts read. */
function asText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  throw new TypeError("a marked statement takes text, numbers and booleans");
}
