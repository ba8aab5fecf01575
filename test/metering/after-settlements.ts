// A database handle on which each batch of settlements that leases pay for is followed by a hook. Its rejection is that of a statement with a lost reply.
import type { SystemAccess, SystemHandle } from "../../src/storage/database.ts";
import { withPlugin } from "../harness/postgres/database.ts";

export function afterSettlements(database: Pick<SystemAccess, "db">, hook: () => void | Promise<void>): SystemHandle {
  return withPlugin(database, {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      // The column that only their statement returns.
      if (result.rows.some((row) => "is_complete" in row)) await hook();
      return result;
    },
  });
}
