// Lets pg-boss, the library of the message queue, send messages inside the caller's transaction.
import { CompiledQuery } from "kysely";
import type { Db } from "pg-boss";
import type { DatabaseTransaction } from "../storage/database.ts";

export function fromTransaction(tx: DatabaseTransaction): Db {
  return {
    executeSql: async (text, values) => {
      const { rows } = await tx.executeQuery(CompiledQuery.raw(text, [...(values ?? [])]));
      return { rows: [...rows] };
    },
  };
}
