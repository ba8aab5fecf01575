// A message queue of pg-boss on Patchbay's database, and publish/subscribe over PostgreSQL notifications. Both only wake handlers, and the state is in
// Patchbay's own tables: a message may arrive twice or late, so its handler checks its table first [webhooks.stale-messages].
import { type Db, PgBoss } from "pg-boss";
import { ADVISORY_LOCKS } from "../storage/connection/advisory-locks.ts";
import type { Database, DatabaseTransaction } from "../storage/database.ts";
import { listenOnServer } from "../storage/connection/listen-server.ts";
import { reachServer } from "../storage/connection/pooler.ts";
import { readRole } from "../storage/connection/server-facts.ts";
import { sessionConfig } from "../storage/connection/server-sessions.ts";
import type { SilenceTimes } from "../storage/connection/statement-watchdog.ts";
import { bypassRls } from "../storage/system.ts";
import { preparedOn } from "./boss-database.ts";
import { CHANNEL, TOPIC_MARK } from "./topics.ts";
import { type Dispatcher, type ReservedSlot, startDispatcher, type WorkOptions } from "./dispatcher.ts";

export type { Message, ReservedSlot, WorkOptions } from "./dispatcher.ts";

/** The settings of one queue. */
export interface QueueDefinition {
  /** Retries of a failed or expired message. */
  readonly retryLimit: number;
  /** Delay before the first retry in seconds, doubled for each further one. */
  readonly retryDelaySeconds?: number;
  /** A message counts as failed if its worker reports nothing for so long. Longer than the longest work, at most a day. */
  readonly expireSeconds: number;
  /** A worker without a heartbeat for so long is considered dead, and its message is retried. At least 10. */
  readonly heartbeatSeconds?: number;
  /** Every message has a key, and at most one message of each key waits. Fixed when the queue is created. */
  readonly isKeyed?: boolean;
}

export interface SendOptions {
  /** The earliest start: seconds from now with up to three decimals, or a date. */
  readonly startAfter?: number | Date;
  /** The group that `perGroup` limits, for example an app's id. */
  readonly groupId?: string;
  /** Higher priorities are served first. Default: 0. */
  readonly priority?: number;
  /** In a keyed queue, the message is dropped if another message with this key waits. */
  readonly key?: string;
}

/** A message of `sendAll`. */
export interface QueueMessage extends SendOptions {
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Queue {
  /** Creates the queues. Call it before sending or working. */
  start(): Promise<void>;
  /** With `tx`, the message is sent when that transaction commits, and never if it rolls back. */
  send(
    name: string,
    data: Readonly<Record<string, unknown>>,
    options?: SendOptions,
    tx?: DatabaseTransaction,
  ): Promise<void>;
  /** Like `send`, for several messages in one statement and with one notification. */
  sendAll(name: string, messages: readonly QueueMessage[], tx?: DatabaseTransaction): Promise<void>;
  work(name: string, options: WorkOptions): void;
  /** A slot of this process's handlers for work that needs no message. Null: this process does not work on the queue, or has no free slot for the group. */
  reserve(name: string, groupId: string): ReservedSlot | null;
  /** Notifies every process of a change when the transaction commits. Notifications may be lost, so they are only hints. */
  publish(topics: string | readonly string[], tx?: DatabaseTransaction): Promise<void>;
  /** Returns a function that unsubscribes. `topic` is null when notifications may have been missed. */
  subscribe(listener: (topic: string | null) => void): () => void;
  /** Stops fetching messages in this process. Sending still works. */
  drain(): void;
  /** Stops fetching, waits up to `graceMs` for running handlers, then aborts their signals. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

export interface CreateQueueOptions {
  readonly database: Database;
  readonly queues: Readonly<Record<string, QueueDefinition>>;
  readonly onError: (error: unknown) => void;
  /** Timeouts of an unresponsive connection; tests shorten them. */
  readonly silence?: SilenceTimes;
  /** Interval of pg-boss's maintenance; tests shorten it. */
  readonly superviseSeconds?: number;
}

const SUPERVISE_SECONDS = 10;
const SCHEMA = "pgboss";
const NO_MESSAGE = "00000000-0000-0000-0000-000000000000";
/**
 * Retention of completed messages, which are not used again, and how often they are deleted. Every 10 s three statements of pg-boss read all messages: those of
 * a million jobs took a second of PostgreSQL's CPU.
 */
const DELETE_AFTER_SECONDS = 60;
const DELETE_EVERY_SECONDS = 60;

export function createQueue(options: CreateQueueOptions): Queue {
  const { database, queues, onError } = options;
  const boss = openBoss(options);
  const pooled = preparedOn(bypassRls(database, "claim").db);
  boss.on("error", onError);
  const dispatchers = new Map<string, Dispatcher>();
  const listeners = new Set<(topic: string | null) => void>();
  let listener: { close(): Promise<void> } | null = null;

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
        // Fills pg-boss's cache. Otherwise it would look the queue up on its own connection, and a sender inside a transaction would wait for it.
        await boss.findJobs(name, { id: NO_MESSAGE });
      }
      if (!hasOwner(database)) await grantSending(boss.getDb(), database.tenantRole);
      const heard = (payload: string): void => {
        if (payload.startsWith(TOPIC_MARK)) listeners.forEach((notify) => notify(payload.slice(1)));
        else dispatchers.get(payload)?.wake();
      };
      const missed = (): void => {
        dispatchers.forEach((dispatcher) => dispatcher.wake());
        listeners.forEach((notify) => notify(null));
      };
      listener = await listen(database, { heard, missed, onError });
    },

    async send(name, data, options = {}, tx) {
      const { startAfter, groupId, priority, key } = options;
      const db = tx === undefined ? pooled : preparedOn(tx);
      await boss.send(name, data, {
        db,
        ...(startAfter === undefined ? {} : { startAfter }),
        ...(priority === undefined ? {} : { priority }),
        ...(key === undefined ? {} : { singletonKey: key }),
        ...(groupId === undefined ? {} : { group: { id: groupId } }),
      });
      // The notification is delivered at commit. A deferred message is found by this process's timer, or by polling.
      if (typeof startAfter === "number") dispatchers.get(name)?.wakeAfter(startAfter);
      if (startAfter === undefined) await db.executeSql("select pg_notify($1, $2)", [CHANNEL, name]);
    },

    async sendAll(name, messages, tx) {
      if (messages.length === 0) return;
      const db = tx === undefined ? pooled : preparedOn(tx);
      const rows = messages.map(({ data, startAfter, groupId, priority, key }) => ({
        data,
        ...(startAfter === undefined ? {} : { startAfter }),
        ...(priority === undefined ? {} : { priority }),
        ...(key === undefined ? {} : { singletonKey: key }),
        ...(groupId === undefined ? {} : { group: { id: groupId } }),
      }));
      await boss.insert(name, rows, { db });
      for (const { startAfter } of messages)
        if (typeof startAfter === "number") dispatchers.get(name)?.wakeAfter(startAfter);
      if (messages.every(({ startAfter }) => startAfter !== undefined)) return;
      await db.executeSql("select pg_notify($1, $2)", [CHANNEL, name]);
    },

    work(name, options) {
      if (dispatchers.has(name)) throw new Error(`the queue ${name} is worked on already`);
      const heartbeatSeconds = queues[name]?.heartbeatSeconds ?? null;
      dispatchers.set(name, startDispatcher({ boss, db: pooled, name, onError, heartbeatSeconds, ...options }));
    },

    reserve: (name, groupId) => dispatchers.get(name)?.reserve(groupId) ?? null,

    async publish(topics, tx) {
      const db = tx === undefined ? pooled : preparedOn(tx);
      const payloads = (typeof topics === "string" ? [topics] : topics).map((topic) => TOPIC_MARK + topic);
      await db.executeSql("select pg_notify($1, payload) from unnest($2::text[]) as payload", [CHANNEL, payloads]);
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
      await listener?.close();
      await stopBoss(boss, onError);
    },
  };
}

function openBoss({ database, silence, superviseSeconds = SUPERVISE_SECONDS }: CreateQueueOptions): PgBoss {
  const { direct } = bypassRls(database, "server");
  const common = {
    schema: SCHEMA,
    schedule: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: DELETE_EVERY_SECONDS,
  };
  // pg-boss passes its options to its connection pool, which its types do not declare.
  const pooled: object = sessionConfig({ url: direct.databaseUrl, pooling: direct.pooling }, silence);
  return new PgBoss({
    ...common,
    ...pooled,
    application_name: "patchbay-queue",
    max: 4,
    // With a separate owner, the owner creates the schema, because this role may not.
    migrate: direct.migrateUrl === null,
  });
}

interface ListenHandlers {
  readonly heard: (payload: string) => void;
  readonly missed: () => void;
  readonly onError: (error: unknown) => void;
}

/** Replaces pg-boss's own listener, which would connect through the pool's URL: that may be a transaction pooler. */
async function listen(database: Database, handlers: ListenHandlers): Promise<{ close(): Promise<void> }> {
  const { direct } = bypassRls(database, "server");
  const { listenUrl } = direct;
  return listenOnServer({ listenUrl, channel: CHANNEL, applicationName: "patchbay-queue-listener", ...handlers });
}

function hasOwner(database: Database): boolean {
  return bypassRls(database, "server").direct.migrateUrl !== null;
}

/** If the schema has a separate owner, that role creates pg-boss's tables and grants this process access. */
async function prepareAsOwner(database: Database, onError: (error: unknown) => void): Promise<void> {
  const { direct, db } = bypassRls(database, "server");
  const { tenantRole } = database;
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
    const role = await readRole(db);
    if (role !== null) await grant(owner.getDb(), role, "select, insert, update, delete");
    await grantSending(owner.getDb(), tenantRole);
  } finally {
    await stopBoss(owner, onError);
  }
}

/** Its pool does not wait until its connections are closed: one may still report that the server ended it, which is no error any more. */
async function stopBoss(boss: PgBoss, onError: (error: unknown) => void): Promise<void> {
  await boss.stop({ graceful: false });
  boss.on("error", () => undefined);
  boss.off("error", onError);
}

/** Transactions bound to a workspace send messages too. Messages hold only queue names and ids, so no other workspace's data is exposed. */
async function grantSending(db: Db, tenantRole: string | null): Promise<void> {
  if (tenantRole !== null) await grant(db, tenantRole, "select, insert");
}

async function grant(db: Db, role: string, privileges: string): Promise<void> {
  const grantee = `"${role.replaceAll('"', '""')}"`;
  // Statements in one text are one transaction. The lock is for processes that start together and would update the same catalogue rows.
  await db.executeSql(
    [
      `select pg_advisory_xact_lock(${ADVISORY_LOCKS.queueGrants})`,
      `grant usage on schema ${SCHEMA} to ${grantee}`,
      `grant ${privileges} on all tables in schema ${SCHEMA} to ${grantee}`,
      `grant usage on all sequences in schema ${SCHEMA} to ${grantee}`,
      `grant execute on all functions in schema ${SCHEMA} to ${grantee}`,
    ].join("; "),
  );
}
