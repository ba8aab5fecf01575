// How pg-boss reaches our database: inside a transaction of ours, or on the embedded engine, where one connection serves both.
import { CompiledQuery } from "kysely";
import type { Pool } from "pg";
import type { Db } from "pg-boss";
import { int8As, type Transacting } from "../storage/database.ts";
import { listenEmbedded } from "../storage/listen-embedded.ts";

export function fromTransaction(tx: Transacting): Db {
  return {
    executeSql: async (text, values) => {
      const { rows } = await tx.executeQuery(CompiledQuery.raw(text, [...(values ?? [])]));
      return { rows: [...rows] };
    },
  };
}

/** pg-boss counts in plain numbers; ours are exact. */
const PLAIN_NUMBERS = int8As(Number);

export function fromEmbedded(pool: Pool): Db {
  return {
    executeSql: async (text, values) => {
      const client = await pool.connect();
      try {
        // Without values these may be several statements, perhaps with a begin and a commit of their own.
        const answers = [await client.query({ text, values: values ?? [], types: PLAIN_NUMBERS })].flat();
        return { rows: answers.flatMap(({ rows }) => rows as unknown[]) };
      } catch (error) {
        // A block that failed half way leaves its transaction open for whoever comes next.
        await client.query("rollback");
        throw error;
      } finally {
        client.release();
      }
    },
    listen: async (channel, heard, onReconnect) => {
      const stop = await listenEmbedded(pool, channel, { heard, missed: onReconnect });
      onReconnect();
      return { close: async () => stop() };
    },
  };
}
