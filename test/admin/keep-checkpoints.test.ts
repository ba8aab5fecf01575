// A process signs where the audit log ends soon after its start, every hour, and once more when it stops.
import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { after, before, test } from "node:test";
import { pino } from "pino";
import { writeAudit } from "../../src/storage/audit-log.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { ObjectMissing, type ObjectStore } from "../../src/objects/store.ts";
import { keepCheckpoints } from "../../src/compose/audit-checkpoints.ts";
import { type OpenDatabase, openTestDatabase } from "../harness/postgres/database.ts";
import { ENCRYPTION_KEY } from "../harness/gateway.ts";
import { memoryObjects } from "./memory-objects.ts";

let database: OpenDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const MINUTE_MS = 60_000;

test("tenancy.audit-checkpoint: the first checkpoint comes within a minute, then one an hour while there is something new, and one at shutdown", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const store = memoryObjects();
  let nowMs = Date.parse("2026-11-21T03:00:00Z");
  const objects: Pick<ObjectStore, "put" | "open"> = {
    put: (key, body, sizeBytes) => store.put(key, "open" in body ? body.open() : body, sizeBytes),
    open: async (key) => {
      const bytes = await store.read(key);
      if (bytes === null) throw new ObjectMissing(key);
      return (async function* whole() {
        yield bytes;
      })();
    },
  };
  const logs: string[] = [];
  const keeper = keepCheckpoints({
    database,
    seal: createSeal({ keys: [ENCRYPTION_KEY] }),
    objects,
    logger: pino({ level: "trace" }, { write: (line: string) => logs.push(line) }),
    now: () => new Date(nowMs),
  });
  const written = () => [...store.held.keys()].filter((key) => key.startsWith("audit/checkpoints/")).length;
  const add = () =>
    database.transaction((tx) =>
      writeAudit(tx, { workspaceId: null, actorKeyId: null, action: "a.b", object: "x", before: null, after: null }),
    );
  const pass = async (minutes: number): Promise<void> => {
    for (let at = 0; at < minutes; at += 1) {
      nowMs += MINUTE_MS;
      t.mock.timers.tick(MINUTE_MS);
      await turn();
    }
  };
  const until = async (count: number): Promise<void> => {
    while (written() < count) await turn();
  };

  await add();
  assert.equal((await keeper.read()).kind, "none");
  await pass(1);
  await until(1);
  await add();
  await pass(59);
  assert.equal(written(), 1);
  await pass(1);
  await until(2);
  await add();
  await keeper.stop();
  assert.equal(written(), 3);
  const latest = await keeper.read();
  assert.equal(latest.kind === "good" && latest.checkpoint.heads[0]?.seq, 3n);
  assert.deepEqual(logs, []);
});
