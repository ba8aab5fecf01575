// Pauses by the operator, in force in this process when the call resolves [admin.pause].
import { PAUSE_SECONDS } from "../../src/contract/admin/pauses.ts";
import { putPause } from "../../src/directory/store/connection-pauses.ts";
import type { TestGateway } from "./gateway.ts";

type Paused = Pick<TestGateway, "app" | "database">;

/** Pauses a shared connection for seven days; all its models unless one is named. */
export async function pauseIn({ app, database }: Paused, connection: string, model: string | null = null) {
  const place = { scope: "platform", connection, model };
  const facts = { seconds: PAUSE_SECONDS.most, reason: "a test", actorKeyId: "key_of_a_test" };
  const row = await database.transaction((tx) => putPause(tx, place, facts));
  await app.refreshDirectory();
  return row.ends_at.toISOString();
}

export async function resumeIn({ app, database }: Paused): Promise<void> {
  await database.db.deleteFrom("connection_pauses").execute();
  await app.refreshDirectory();
}
