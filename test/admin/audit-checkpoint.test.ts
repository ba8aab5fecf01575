// Signed checkpoints of the audit log: when one is written, what it covers, and that a forged one is found.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { type CheckpointServices, readCheckpoint, writeCheckpoint } from "../../src/admin/audit/audit-checkpoint.ts";
import { verifyAudit } from "../../src/admin/audit/verify-audit.ts";
import { writeAudit } from "../../src/storage/audit-log.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { type OpenDatabase, openTestDatabase } from "../harness/postgres/database.ts";
import { memoryObjects } from "./memory-objects.ts";

const OLD_KEY = Buffer.alloc(32, 1);
const NEW_KEY = Buffer.alloc(32, 2);
let database: OpenDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const add = () =>
  database.transaction((tx) =>
    writeAudit(tx, { workspaceId: null, actorKeyId: null, action: "a.b", object: "x", before: null, after: null }),
  );
const servicesWith = (
  ...keys: readonly Buffer[]
): CheckpointServices & { store: ReturnType<typeof memoryObjects> } => ({
  database,
  seal: createSeal({ keys }),
  store: memoryObjects(),
  now: () => new Date("2026-11-21T03:00:00Z"),
});
const verdict = async (services: CheckpointServices) =>
  verifyAudit(database, { chain: null, checkpoint: await readCheckpoint(services) });

test("tenancy.audit-checkpoint: a checkpoint is written when a chain has grown, and none when nothing has happened", async () => {
  const services = servicesWith(OLD_KEY);
  await add();
  assert.equal(await writeCheckpoint(services), true);
  assert.equal(await writeCheckpoint(services), false);
  await add();
  assert.equal(await writeCheckpoint(services), true);
  assert.equal([...services.store.held.keys()].filter((key) => key.startsWith("audit/checkpoints/")).length, 2);
  const { ok, checkpoint_at: at } = await verdict(services);
  assert.deepEqual([ok, at], [true, "2026-11-21T03:00:00.000Z"]);
});

test("tenancy.audit-checkpoint-chain: a checkpoint names the one before it, so that a removed one is found", async () => {
  const services = servicesWith(OLD_KEY);
  for (let at = 0; at < 3; at += 1) {
    await add();
    await writeCheckpoint(services);
  }
  const kept = [...services.store.held]
    .filter(([key]) => key.startsWith("audit/checkpoints/"))
    .map(([, bytes]) => JSON.parse(bytes.toString()) as { readonly body: string; readonly signature: string });
  assert.deepEqual(
    kept.map(({ body }) => (JSON.parse(body) as { readonly previous: string | null }).previous),
    [null, kept[0]?.signature, kept[1]?.signature],
  );
});

test("tenancy.audit-checkpoint-chain: after a change of the key ring the next checkpoint is signed by the new key, and the old key can be removed", async () => {
  const services = servicesWith(OLD_KEY);
  await add();
  await writeCheckpoint(services);
  const turned = { ...services, seal: createSeal({ keys: [NEW_KEY, OLD_KEY] }) };
  assert.equal((await verdict(turned)).ok, true);
  assert.equal(await writeCheckpoint(turned), true);
  assert.equal((await verdict({ ...services, seal: createSeal({ keys: [NEW_KEY] }) })).ok, true);
});

test("tenancy.audit-no-cover-up: a checkpoint that was changed, or signed by another key, is a finding, and stays as evidence", async () => {
  const services = servicesWith(OLD_KEY);
  await add();
  await writeCheckpoint(services);
  const honest = services.store.held.get("audit/latest") ?? Buffer.alloc(0);
  for (const forged of [
    honest.toString().replace("2026-11-21", "2026-11-22"),
    honest.toString().replace(/"signature":"[^"]{10}/u, '"signature":"AAAAAAAAAA'),
    "nonsense",
    "{}",
    "",
  ]) {
    services.store.held.set("audit/latest", Buffer.from(forged));
    const { ok, findings } = await verdict(services);
    assert.deepEqual([ok, findings.map(({ kind }) => kind)], [false, ["checkpoint"]], forged);
    await assert.rejects(writeCheckpoint(services), /does not match/u);
  }
  services.store.held.set("audit/latest", honest);
  assert.equal((await verdict({ ...services, seal: createSeal({ keys: [NEW_KEY] }) })).ok, false);
});

test("tenancy.audit-no-cover-up: a log that is shorter than at the last checkpoint is not covered up by a new one", async () => {
  const services = servicesWith(OLD_KEY);
  await add();
  await writeCheckpoint(services);
  await sql`update audit_heads set seq = seq - 1`.execute(database.db);
  await assert.rejects(writeCheckpoint(services), /shorter/u);
  await sql`update audit_heads set seq = seq + 1`.execute(database.db);
});
