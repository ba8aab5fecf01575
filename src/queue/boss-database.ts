// Lets pg-boss, the library of the message queue, run its statements on Patchbay's connections: inside the caller's transaction, and prepared once per
// connection, because planning its fetch takes PostgreSQL longer than running it.
import { CompiledQuery } from "kysely";
import type { Db } from "pg-boss";
import { PREPARED_MARK } from "../storage/connection/prepared.ts";
import type { DatabaseTransaction, SystemHandle } from "../storage/database.ts";

/** `db`: a transaction, or the handle that sees every row. Only for statements whose text has few variants. */
export function preparedOn(db: DatabaseTransaction | SystemHandle): Db {
  return {
    executeSql: async (text, values) => {
      const { rows } = await db.executeQuery<Record<string, unknown>>(
        CompiledQuery.raw(PREPARED_MARK + text, [...(values ?? [])]),
      );
      return { rows: rows.map(withoutBigInts) };
    },
  };
}

/** pg-boss expects 64-bit integers as the driver returns them by default, in text. */
function withoutBigInts(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? String(value) : value]),
  );
}
