// The initial state of every test database: this version's schema with the queue's tables, and no rows.
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { createQueue } from "../../../src/queue/queue.ts";
import { openDatabase } from "../../../src/storage/connection/open-database.ts";

export async function migrateEmpty(databaseUrl: string): Promise<void> {
  const database = await openDatabase({ databaseUrl, poolSize: 1 });
  try {
    const queue = createQueue({ database, queues: {}, onError: () => undefined });
    await queue.start();
    await queue.stop();
  } finally {
    await database.close();
  }
}

/** Hash of everything that determines what `migrateEmpty` creates. */
export function schemaHash(): string {
  const root = new URL("../../../", import.meta.url);
  const hash = createHash("sha256").update(readFileSync(new URL("package-lock.json", root)));
  for (const file of globSync("src/storage/{migrations/**/*,schema/{migrate,protect,tenant-tables}}.ts", {
    cwd: root,
  }).toSorted())
    hash.update(readFileSync(new URL(file, root)));
  return hash.digest("hex").slice(0, 16);
}
