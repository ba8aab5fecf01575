// pg-boss on our database: it wakes, defers and retries; the truth is in our own tables. A message may come twice or late, so its handler
// asks its table first [webhooks.stale-messages].
import { sql } from "kysely";
import { type Db, PgBoss } from "pg-boss";
import { ADVISORY_LOCKS } from "../storage/advisory-locks.ts";
import type { Database, Transacting } from "../storage/database.ts";
import { listenOnServer } from "../storage/listen-server.ts";
import { reachServer } from "../storage/pooler.ts";
import { sessionConfig } from "../storage/server-sessions.ts";
import type { SilenceTimes } from "../storage/statement-watchdog.ts";
import { engine } from "../storage/system.ts";
import { fromTransaction } from "./boss-database.ts";
import { type Dispatcher, startDispatcher, type WorkOptions } from "./dispatcher.ts";

export type { Message, WorkOptions } from "./dispatcher.ts";

/** What holds for all messages of one queue. */
export interface QueueDefinition {
  /** Times a failed or expired message comes again. */
  readonly retryLimit: number;
  /** Seconds before it does, doubled each time. */
  readonly retryDelaySeconds?: number;
  /** A message whose worker says nothing for so long counts as failed: longer than the longest work, at most a day. */
  readonly expireSeconds: number;
  /** At least 10: a worker that says nothing for so long is dead, and its message comes again. */
  readonly heartbeatSeconds?: number;
  /** Every message has a key, and of each key one waits at most. Fixed when the queue is first made. */
  readonly isKeyed?: boolean;
}

export interface SendOptions {
  /** Not before: seconds from now, with up to three decimals, or a moment. */
  readonly startAfter?: number | Date;
  /** What `perGroup` counts by, for example an app's id. */
  readonly groupId?: string;
  /** Higher ones come first; 0 unless set. */
  readonly priority?: number;
  /** In a keyed queue: sent while another of this key waits, nothing is added. */
  readonly key?: string;
}

export interface Queue {
  /** Makes the queues; nothing is sent or worked on before. */
  start(): Promise<void>;
  /** With `tx`, the message exists when that transaction commits and never otherwise. */
  send(name: string, data: Readonly<Record<string, unknown>>, options?: SendOptions, tx?: Transacting): Promise<void>;
  work(name: string, options: WorkOptions): void;
  /** Tells every process that something changed; heard when the transaction commits, or not at all. A hint, never truth. */
  publish(topic: string, tx?: Transacting): Promise<void>;
  /** Answers how to stop listening. `topic` is null when some may have been missed. */
  subscribe(listener: (topic: string | null) => void): () => void;
  /** From now on this process takes nothing new; it may still send. */
  drain(): void;
  /** Takes nothing new and waits so long for what runs; then aborts its signals. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

export interface CreateQueueOptions {
  readonly database: Database;
  readonly queues: Readonly<Record<string, QueueDefinition>>;
  readonly onError: (error: unknown) => void;
  /** Tests wait less for a connection that says nothing. */
  readonly silence?: SilenceTimes;
}

const SCHEMA = "pgboss";
/** One for every queue: the payload is its name, or a topic with its mark. */
const CHANNEL = "patchbay_queue";
const TOPIC_MARK = "@";
const NO_MESSAGE = "00000000-0000-0000-0000-000000000000";
/** Messages done with are of no further use. */
const DELETE_AFTER_SECONDS = 3_600;

export function createQueue({ database, queues, onError, silence }: CreateQueueOptions): Queue {
  const boss = openBoss(database, silence);
  boss.on("error", onError);
  const dispatchers = new Map<string, Dispatcher>();
  const listeners = new Set<(topic: string | null) => void>();
  let listening: { close(): Promise<void> } | null = null;

  return {
    async start() {
      await prepareAsOwner(database, onError);
      await boss.start();
      for (const [name, definition] of Object.entries(queues)) {
        const options = {
          retryLimit: definition.retryLimit,
          retryDelay: definition.retryDelaySeconds ?? 0,
          retryBackoff: (definition.retryDelaySeconds ?? 0) > 0,
          expireInSeconds: definition.expireSeconds,
          deleteAfterSeconds: DELETE_AFTER_SECONDS,
          ...(definition.heartbeatSeconds === undefined ? {} : { heartbeatSeconds: definition.heartbeatSeconds }),
        };
        await boss.createQueue(name, { ...options, policy: definition.isKeyed === true ? "short" : "standard" });
        await boss.updateQueue(name, options);
        // Read once: pg-boss would look a queue up on its own connection, which a sender in our transaction must not wait for.
        await boss.findJobs(name, { id: NO_MESSAGE });
      }
      if (!hasOwner(database)) await letTenantsSend(boss.getDb(), database.tenantRole);
      const heard = (payload: string): void => {
        if (payload.startsWith(TOPIC_MARK)) listeners.forEach((listener) => listener(payload.slice(1)));
        else dispatchers.get(payload)?.wake();
      };
      const missed = (): void => {
        dispatchers.forEach((dispatcher) => dispatcher.wake());
        listeners.forEach((listener) => listener(null));
      };
      listening = await listen(database, { heard, missed, onError });
    },

    async send(name, data, options = {}, tx) {
      const { startAfter, groupId, priority, key } = options;
      const db = tx === undefined ? boss.getDb() : fromTransaction(tx);
      await boss.send(name, data, {
        db,
        ...(startAfter === undefined ? {} : { startAfter }),
        ...(priority === undefined ? {} : { priority }),
        ...(key === undefined ? {} : { singletonKey: key }),
        ...(groupId === undefined ? {} : { group: { id: groupId } }),
      });
      // Delivered at commit. A deferred message is found by this process when it is due, else by polling.
      if (typeof startAfter === "number") dispatchers.get(name)?.wakeAfter(startAfter);
      if (startAfter === undefined) await db.executeSql("select pg_notify($1, $2)", [CHANNEL, name]);
    },

    work(name, options) {
      if (dispatchers.has(name)) throw new Error(`the queue ${name} is worked on already`);
      const heartbeatSeconds = queues[name]?.heartbeatSeconds ?? null;
      dispatchers.set(name, startDispatcher({ boss, name, onError, heartbeatSeconds, ...options }));
    },

    async publish(topic, tx) {
      const db = tx === undefined ? boss.getDb() : fromTransaction(tx);
      await db.executeSql("select pg_notify($1, $2)", [CHANNEL, TOPIC_MARK + topic]);
    },

    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    drain() {
      dispatchers.forEach((dispatcher) => dispatcher.drain());
    },

    async stop({ graceMs = 0 } = {}) {
      await Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.stop(graceMs)));
      await listening?.close();
      await boss.stop({ graceful: false });
    },
  };
}

function openBoss(database: Database, silence: SilenceTimes | undefined): PgBoss {
  const { direct } = engine(database);
  const common = { schema: SCHEMA, schedule: false, superviseIntervalSeconds: 10, monitorIntervalSeconds: 10 };
  // pg-boss hands its options on to its pool, and its types do not say so.
  const pooled: object = sessionConfig({ url: direct.databaseUrl, pooling: direct.pooling }, silence);
  return new PgBoss({
    ...common,
    ...pooled,
    application_name: "patchbay-queue",
    max: 4,
    // The owner made the schema, where there is one; this role may not.
    migrate: direct.migrateUrl === null,
  });
}

interface Ears {
  readonly heard: (payload: string) => void;
  readonly missed: () => void;
  readonly onError: (error: unknown) => void;
}

/** Not pg-boss's own listener, which connects where its pool does: that may be a pooler. */
async function listen(database: Database, ears: Ears): Promise<{ close(): Promise<void> }> {
  const { direct } = engine(database);
  const { listenUrl } = direct;
  return listenOnServer({ listenUrl, channel: CHANNEL, applicationName: "patchbay-queue-listener", ...ears });
}

function hasOwner({ direct }: Database): boolean {
  return direct.migrateUrl !== null;
}

/** Where the schema has an owner of its own, it makes pg-boss's tables and lets the process use them. */
async function prepareAsOwner(database: Database, onError: (error: unknown) => void): Promise<void> {
  const { direct, db, tenantRole } = engine(database);
  if (direct.migrateUrl === null) return;
  const { pooling } = await reachServer(direct.migrateUrl);
  const pooled: object = sessionConfig({ url: direct.migrateUrl, pooling });
  const owner = new PgBoss({
    ...pooled,
    schema: SCHEMA,
    schedule: false,
    supervise: false,
    max: 1,
  });
  owner.on("error", onError);
  await owner.start();
  try {
    const { rows } = await sql<{ role: string }>`select current_user as role`.execute(db);
    const role = rows[0]?.role;
    if (role !== undefined) await grant(owner.getDb(), role, "select, insert, update, delete");
    await letTenantsSend(owner.getDb(), tenantRole);
  } finally {
    await owner.stop({ graceful: false });
  }
}

/** A transaction bound to a workspace sends messages as well: names of queues and ids, nothing of another's. */
async function letTenantsSend(db: Db, tenantRole: string | null): Promise<void> {
  if (tenantRole !== null) await grant(db, tenantRole, "select, insert");
}

async function grant(db: Db, role: string, privileges: string): Promise<void> {
  const to = `"${role.replaceAll('"', '""')}"`;
  // One text is one transaction. Processes that start at once would write the same rows of the catalogue.
  await db.executeSql(
    [
      `select pg_advisory_xact_lock(${ADVISORY_LOCKS.queueGrants})`,
      `grant usage on schema ${SCHEMA} to ${to}`,
      `grant ${privileges} on all tables in schema ${SCHEMA} to ${to}`,
      `grant usage on all sequences in schema ${SCHEMA} to ${to}`,
      `grant execute on all functions in schema ${SCHEMA} to ${to}`,
    ].join("; "),
  );
}
