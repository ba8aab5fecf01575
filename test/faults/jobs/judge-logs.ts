// Finds statements that PostgreSQL refused as wrong, such as one on a table without permission. A client retries the answer, a 500, as if the database had been
// away, so that without this check a trial in which half of the submissions fail has no violation.
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** SQLSTATE class 42, "syntax error or access rule violation", as pino writes it. No outage causes it. */
const REFUSED = /"code":"42[0-9A-Z]{3}"/u;
const MESSAGE = /"msg":"([^"]*)"/u;

/** One violation for each message in the logs of a folder. */
export async function judgeLogs(folder: string): Promise<readonly string[]> {
  const counts = new Map<string, number>();
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".log")) continue;
    for await (const line of createInterface({ input: createReadStream(join(folder, name)) })) {
      if (!REFUSED.test(line)) continue;
      const message = MESSAGE.exec(line)?.[1] ?? "no message";
      counts.set(message, (counts.get(message) ?? 0) + 1);
    }
  }
  return [...counts].map(([message, count]) => `PostgreSQL refused ${count} statements: ${message}`);
}
