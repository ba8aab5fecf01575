// Run as a process of its own by data-dir.test.ts: opens the data directory, commits a row, says so, and stays.
import { openDatabase } from "../../src/storage/database.ts";

const dataDir = process.argv[2];
if (dataDir === undefined) throw new Error("usage: hold-data-dir.ts DIR");
const { db } = await openDatabase({ dataDir });
await db.insertInto("prices").values({ provider: "p", model: "committed", definition: "{}" }).execute();
console.log("committed");
setInterval(() => undefined, 60_000);
