// Reads the provider calls of one answer from the ledger.
import type { Answer } from "./client.ts";
import type { TestGateway } from "./gateway.ts";

/** In the order of the targets. */
export function attemptRows({ database }: Pick<TestGateway, "database">, { headers }: Answer) {
  return database.db
    .selectFrom("attempts")
    .selectAll()
    .where("request_id", "=", headers.get("x-request-id") ?? "")
    .orderBy("position")
    .execute();
}
