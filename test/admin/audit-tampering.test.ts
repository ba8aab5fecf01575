// The audit log under an attacker who owns the database: rows edited, removed, forged, swapped, cut off and rewritten, each in a
// transaction of its own that is rolled back afterwards. PATCHBAY_SEED repeats a run.
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { type ReadCheckpoint, readCheckpoint, writeCheckpoint } from "../../src/admin/audit/audit-checkpoint.ts";
import { verifyAudit } from "../../src/admin/audit/verify-audit.ts";
import { brand } from "../../src/contract/ids.ts";
import { writeAudit } from "../../src/storage/audit-log.ts";
import type { DatabaseTransaction } from "../../src/storage/database.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { seeded } from "../faults/seeded.ts";
import { type OpenDatabase, openTestDatabase, withSystemAccess } from "../harness/postgres/database.ts";
import { ENCRYPTION_KEY } from "../harness/gateway.ts";
import { memoryObjects } from "./memory-objects.ts";

const TRIALS = 1_000;
const CHAINS = ["platform", "ws_one", "ws_two"] as const;
const ROWS_EACH = 14;
/** Rows of each chain that the checkpoint saw. */
const SEALED = 10;

const seal = createSeal({ keys: [ENCRYPTION_KEY] });
const store = memoryObjects();
let database: OpenDatabase;
let checkpoint: ReadCheckpoint;
before(async () => {
  database = await openTestDatabase();
  await append(SEALED);
  assert.equal(await writeCheckpoint({ database, seal, store, now: () => new Date() }), true);
  checkpoint = await readCheckpoint({ seal, store });
  await append(ROWS_EACH - SEALED);
});
after(() => database.close());

async function append(each: number): Promise<void> {
  for (let at = 0; at < each; at += 1) {
    await database.transaction(async (tx) => {
      for (const chain of CHAINS) {
        await writeAudit(tx, {
          workspaceId: chain === "platform" ? null : brand("workspace", chain),
          actorKeyId: at % 3 === 0 ? null : brand("key", "key_1"),
          action: at % 2 === 0 ? "thing.changed" : "thing.made",
          object: `thing ${at} with "quotes", ünïcode and \\`,
          before: at % 2 === 0 ? { n: at, deep: { list: [1, 2.5, "x", null] } } : null,
          after: { n: at + 1 },
        });
      }
    });
  }
}

interface Random {
  between(from: number, to: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

function createRandom(seed: number): Random {
  const next = seeded(seed);
  const between = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    between,
    pick: (items) => {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
  };
}

interface Tampering {
  readonly name: string;
  readonly run: (tx: DatabaseTransaction, random: Random) => Promise<void>;
}

const someSeq = (random: Random, from = 1, to = ROWS_EACH) => random.between(from, to);
const someChain = (random: Random) => random.pick(CHAINS);

const EDITS: Readonly<Record<string, string>> = {
  id: "id + 100000",
  workspace_id: "coalesce(workspace_id, '') || 'x'",
  at: "at + interval '1 microsecond'",
  "at (endless)": "'infinity'",
  actor_key_id: "coalesce(actor_key_id, '') || '2'",
  "actor_key_id (nothing)": "case when actor_key_id is null then '' end",
  action: "action || ' '",
  object: "upper(object)",
  before: "case when before is null then 'null'::jsonb end",
  "before (inside)": "coalesce(before, '{}') || '{\"n\": -1}'",
  after: "after || '{\"m\": null}'",
  chain: "chain || 'x'",
  seq: "seq + 1000",
  previous_hash: "sha256(previous_hash)",
  hash: "sha256(hash)",
};

const TAMPERINGS: readonly Tampering[] = [
  ...Object.entries(EDITS).map(([name, value]) => ({
    name: `edit of ${name}`,
    run: async (tx: DatabaseTransaction, random: Random) => {
      const column = sql.id(name.split(" ")[0] ?? name);
      await changeOne(
        tx,
        sql`update audit_log set ${column} = ${sql.raw(value)} where chain = ${someChain(random)} and seq = ${someSeq(random)}`,
      );
    },
  })),
  {
    name: "edit with its own hash made to fit",
    run: async (tx, random) => {
      const [chain, seq] = [someChain(random), someSeq(random, 1, ROWS_EACH - 1)];
      await changeOne(tx, sql`update audit_log set action = 'thing.forged' where chain = ${chain} and seq = ${seq}`);
      await rehash(tx, chain, seq, seq);
    },
  },
  {
    name: "everything from a sealed entry on rewritten, with hashes and head that fit",
    run: async (tx, random) => {
      const [chain, seq] = [someChain(random), someSeq(random, 1, SEALED)];
      await changeOne(tx, sql`update audit_log set object = 'forged' where chain = ${chain} and seq = ${seq}`);
      await rehash(tx, chain, seq, ROWS_EACH);
      await fitHead(tx, chain);
    },
  },
  {
    name: "removal",
    run: async (tx, random) => {
      await changeOne(tx, sql`delete from audit_log where chain = ${someChain(random)} and seq = ${someSeq(random)}`);
    },
  },
  {
    name: "removal, the rest renumbered and made to fit",
    run: async (tx, random) => {
      const [chain, seq] = [someChain(random), someSeq(random, 1, SEALED)];
      await changeOne(tx, sql`delete from audit_log where chain = ${chain} and seq = ${seq}`);
      await sql`update audit_log set seq = seq - 1 where chain = ${chain} and seq > ${seq}`.execute(tx);
      await rehash(tx, chain, seq, ROWS_EACH - 1);
      await fitHead(tx, chain);
    },
  },
  {
    name: "a forged entry at a number that is taken",
    run: async (tx, random) => forge(tx, someChain(random), someSeq(random)),
  },
  {
    name: "a forged entry behind the head",
    run: async (tx, random) => {
      const chain = someChain(random);
      await forge(tx, chain, ROWS_EACH + 1);
      await rehash(tx, chain, ROWS_EACH + 1, ROWS_EACH + 1);
    },
  },
  {
    name: "a forged entry before the first",
    run: async (tx, random) => forge(tx, someChain(random), random.between(-3, 0)),
  },
  {
    name: "a forged entry put between, the rest renumbered and made to fit",
    run: async (tx, random) => {
      const [chain, seq] = [someChain(random), someSeq(random, 1, SEALED)];
      await sql`update audit_log set seq = seq + 1 where chain = ${chain} and seq >= ${seq}`.execute(tx);
      await forge(tx, chain, seq);
      await rehash(tx, chain, seq, ROWS_EACH + 1);
      await fitHead(tx, chain);
    },
  },
  {
    name: "two entries swapped",
    run: async (tx, random) => {
      const chain = someChain(random);
      const [first, second] = [someSeq(random, 1, 6), someSeq(random, 7, ROWS_EACH)];
      await sql`update audit_log set seq = case seq when ${first}::bigint then ${second}::bigint else ${first}::bigint end
        where chain = ${chain} and seq in (${first}, ${second})`.execute(tx);
    },
  },
  {
    name: "two entries swapped with their hashes",
    run: async (tx, random) => {
      const chain = someChain(random);
      const [first, second] = [someSeq(random, 1, 6), someSeq(random, 7, ROWS_EACH)];
      await sql`update audit_log a set hash = b.hash, previous_hash = b.previous_hash, seq = b.seq from audit_log b
        where a.chain = ${chain} and b.chain = ${chain} and (a.seq, b.seq) in ((${first}, ${second}), (${second}, ${first}))`.execute(
        tx,
      );
    },
  },
  {
    name: "an entry moved to another chain's end",
    run: async (tx, random) => {
      await sql`update audit_log set chain = 'ws_two', seq = ${ROWS_EACH + 1} where chain = ${random.pick(["platform", "ws_one"])} and seq = ${someSeq(random)}`.execute(
        tx,
      );
    },
  },
  {
    name: "the end cut off",
    run: async (tx, random) => {
      await sql`delete from audit_log where chain = ${someChain(random)} and seq > ${someSeq(random, 0, ROWS_EACH - 1)}`.execute(
        tx,
      );
    },
  },
  {
    name: "the end cut off behind the checkpoint, the head made to fit",
    run: async (tx, random) => {
      const chain = someChain(random);
      await sql`delete from audit_log where chain = ${chain} and seq > ${someSeq(random, 0, SEALED - 1)}`.execute(tx);
      await fitHead(tx, chain);
    },
  },
  {
    name: "a whole chain removed, head and all",
    run: async (tx, random) => {
      const chain = someChain(random);
      await sql`delete from audit_log where chain = ${chain}`.execute(tx);
      await sql`delete from audit_heads where scope = ${chain}`.execute(tx);
    },
  },
  {
    name: "a head moved",
    run: async (tx, random) => {
      const by = random.pick([-2, -1, 1, 5]);
      await sql`update audit_heads set seq = seq + ${by} where scope = ${someChain(random)}`.execute(tx);
    },
  },
  {
    name: "a head's hash changed",
    run: async (tx, random) => {
      await sql`update audit_heads set hash = sha256(hash) where scope = ${someChain(random)}`.execute(tx);
    },
  },
  {
    name: "a head removed",
    run: async (tx, random) => {
      await sql`delete from audit_heads where scope = ${someChain(random)}`.execute(tx);
    },
  },
];

async function changeOne(tx: DatabaseTransaction, statement: ReturnType<typeof sql>): Promise<void> {
  assert.equal((await statement.execute(tx)).numAffectedRows, 1n, "the tampering changed nothing");
}

async function forge(tx: DatabaseTransaction, chain: string, seq: number): Promise<void> {
  await sql`insert into audit_log (workspace_id, action, object, chain, seq, previous_hash, hash)
    values (${chain === "platform" ? null : chain}, 'thing.forged', 'x', ${chain}, ${seq},
      coalesce((select hash from audit_log where chain = ${chain} and seq = ${seq - 1} limit 1), ''::bytea), sha256('x'))`.execute(
    tx,
  );
}

/** With the database's own functions, as its owner can. */
async function rehash(tx: DatabaseTransaction, chain: string, from: number, to: number): Promise<void> {
  for (let seq = from; seq <= to; seq += 1) {
    await sql`update audit_log set previous_hash = coalesce((select hash from audit_log where chain = ${chain} and seq = ${seq - 1}), ''::bytea)
      where chain = ${chain} and seq = ${seq}`.execute(tx);
    await sql`update audit_log set hash = sha256(previous_hash || convert_to(audit_part(chain) || audit_part(seq::text) || audit_part(id::text)
      || audit_part(workspace_id) || audit_part(encode(timestamptz_send(at), 'hex')) || audit_part(actor_key_id) || audit_part(action)
      || audit_part(object) || audit_part(before::text) || audit_part(after::text), 'UTF8')) where chain = ${chain} and seq = ${seq}`.execute(
      tx,
    );
  }
}

async function fitHead(tx: DatabaseTransaction, chain: string): Promise<void> {
  await sql`update audit_heads h set seq = coalesce(l.seq, 0), hash = coalesce(l.hash, ''::bytea)
    from (select max(seq) as seq, (array_agg(hash order by seq desc))[1] as hash from audit_log where chain = ${chain}) l
    where h.scope = ${chain}`.execute(tx);
}

const UNDONE = Symbol("undone");

/** What is found of a tampering, which is undone then. */
async function findingsOf(work: (tx: DatabaseTransaction) => Promise<void>): Promise<readonly string[]> {
  let findings: readonly string[] = [];
  await database
    .transaction(async (tx) => {
      await work(tx);
      const { findings: found } = await verifyAudit(withSystemAccess(database, { db: tx }), {
        chain: null,
        checkpoint,
      });
      findings = found.map(({ message }) => message);
      throw UNDONE;
    })
    .catch((error: unknown) => {
      if (error !== UNDONE) throw error;
    });
  return findings;
}

test("tenancy.audit-clean: an untouched log has no findings, also while it grows", async () => {
  const whole = await verifyAudit(database, { chain: null, checkpoint });
  assert.deepEqual([whole.ok, whole.chains, whole.entries, whole.findings], [true, 3, CHAINS.length * ROWS_EACH, []]);
  const one = await verifyAudit(database, { chain: "ws_one", checkpoint });
  assert.deepEqual([one.ok, one.chains, one.entries], [true, 1, ROWS_EACH]);
});

test(`tenancy.audit-tampering: ${TRIALS} random tamperings of the audit log are all found`, async (t) => {
  const seed = Number(process.env["PATCHBAY_SEED"] ?? randomInt(2 ** 31));
  t.diagnostic(`seed ${seed}`);
  const random = createRandom(seed);
  // What the owner of the database can switch off.
  await sql`alter table audit_log disable trigger user`.execute(database.db);
  await sql`alter table audit_log alter column id drop identity, alter column id set default 999999`.execute(
    database.db,
  );
  await sql`drop index audit_log_chain`.execute(database.db);
  assert.deepEqual(await findingsOf(async () => undefined), []);
  const missed: string[] = [];
  for (let trial = 0; trial < TRIALS; trial += 1) {
    const tampering = TAMPERINGS[trial % TAMPERINGS.length];
    assert(tampering !== undefined);
    const findings = await findingsOf((tx) => tampering.run(tx, random));
    if (findings.length === 0) missed.push(tampering.name);
  }
  assert.deepEqual(missed, [], `of ${TRIALS}, seed ${seed}`);
});
