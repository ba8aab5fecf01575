// How pg-boss reaches our database: inside a transaction of ours, or on the embedded engine, where one connection serves both.
import type { PGlite } from "@electric-sql/pglite";
import { CompiledQuery, type Kysely } from "kysely";
import type { Db } from "pg-boss";
import type { Transacting } from "../storage/database.ts";
import type { Tables } from "../storage/tables.ts";

export function fromTransaction(tx: Transacting): Db {
  return {
    executeSql: async (text, values) => {
      const { rows } = await tx.executeQuery(CompiledQuery.raw(text, [...(values ?? [])]));
      return { rows: [...rows] };
    },
  };
}

const INT8 = 20;
/** pg-boss counts in plain numbers; ours are exact. */
const OPTIONS = { parsers: { [INT8]: Number } };

export function fromEmbedded(pglite: PGlite, db: Kysely<Tables>): Db {
  const run = async (text: string, values: unknown[] | undefined) => {
    if (values !== undefined && values.length > 0) return (await pglite.query(text, values, OPTIONS)).rows;
    // Several statements, perhaps with a begin and a commit of their own.
    return (await pglite.exec(text, OPTIONS)).flatMap((result) => result.rows);
  };
  return {
    executeSql: (text, values) =>
      // While this holds the one connection, no transaction of ours is open into which the statement could fall.
      db.connection().execute(async () => {
        try {
          return { rows: await run(text, values) };
        } catch (error) {
          // A block that failed half way leaves its transaction open for whoever comes next.
          await pglite.exec("rollback");
          throw error;
        }
      }),
    listen: async (channel, onNotification, onReconnect) => {
      const unlisten = await db.connection().execute(() => pglite.listen(channel, onNotification));
      onReconnect();
      return { close: () => db.connection().execute(() => unlisten()) };
    },
  };
}
