// A gateway process that can kill itself, as by kill -9, between two of its steps. Run by gateway-process.ts.
import { createHash } from "node:crypto";
import { flushCompileCache } from "node:module";
import { sql } from "kysely";
import { pino } from "pino";
import { createApp } from "../../src/compose/app.ts";
import { applyConfiguration } from "../../src/directory/apply-configuration.ts";
import type { GatewayServices } from "../../src/gateway/services.ts";
import { listen } from "../../src/http/server/listen.ts";
import { removeOrphans } from "../../src/jobs/sweep.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { type OpenDatabase, setClock, withSystemAccess } from "../harness/postgres/database.ts";
import { configurationOf, ENCRYPTION_KEY, KEY, PEPPER } from "../harness/gateway.ts";
import { openSurvivingDatabase } from "./surviving-database.ts";
import { terminateSessions } from "./terminate-sessions.ts";
import type { Ask, ChildSetup, Facts, FromChild, InnerPoint, SubmitPoint, ToChild } from "./kill-protocol.ts";

const setup = JSON.parse(process.argv[2] ?? "null") as ChildSetup;
let armed: InnerPoint | SubmitPoint | null = null;
let cutting: InnerPoint | null = null;
let committing: InnerPoint | SubmitPoint | null = null;

const innerDatabase = await openSurvivingDatabase(setup, 4);
// Dies before the commit of a transaction, if its step is armed.
const database: OpenDatabase = {
  ...withSystemAccess(innerDatabase, {
    transaction: (work) => killing((run) => innerDatabase.transaction(run), work),
  }),
  inWorkspace: (workspaceId, work) => killing((run) => innerDatabase.inWorkspace(workspaceId, run), work),
};
type Work<Tx, T> = (tx: Tx) => Promise<T>;
async function killing<Tx, T>(transact: (work: Work<Tx, T>) => Promise<T>, work: Work<Tx, T>): Promise<T> {
  const result = await transact(async (tx) => {
    const done = await work(tx);
    if (committing !== null) {
      reach(committing);
      await cut(committing);
    }
    return done;
  });
  if (committing === "before-submit-commit") {
    committing = null;
    reach("after-submit-commit");
  }
  return result;
}
const configuration = await configurationOf(
  {
    prices: [
      { provider: "deepgram", model: "nova-3", usd_per_audio_hour: "0.29", source: "test", as_of: "2026-11-01" },
    ],
    connections: [{ id: "dg", kind: "deepgram", api_key: "dg-secret", base_url: setup.providerUrl }],
    routes: [{ id: "speech", targets: [{ connection: "dg", model: "nova-3" }] }],
    workspaces: [
      {
        id: "acme",
        apps: [
          {
            id: "notes",
            route: "speech",
            budgets: [{ period: "total", limit_usd: "1000.00" }],
            keys: [{ id: "notes-key", secret: KEY, scopes: ["transcribe", "jobs"] }],
          },
        ],
      },
    ],
  },
  setup.dataDir,
);
const seal = createSeal({ keys: [ENCRYPTION_KEY] });
// At each start, as in production.
await applyConfiguration({ database: innerDatabase, seal, pepper: PEPPER }, configuration, { isFile: true });
const app = await createApp({
  configuration,
  database,
  seal,
  pepper: PEPPER,
  logger: pino({ level: "error" }, process.stderr),
  wrapGateway,
});
process.on("message", (message) => void obey(message as ToChild));
// Exits with its parent.
process.on("disconnect", () => process.exit(0));
// A killed process does not write its compile cache, and the next one would compile everything again.
flushCompileCache();
say({ kind: "ready", origin: await listen(app.server, { host: "127.0.0.1", port: 0 }) });

function wrapGateway(gateway: GatewayServices): GatewayServices {
  const { idempotency, ledger } = gateway;
  return {
    ...gateway,
    idempotency: {
      ...idempotency,
      claim: async (request) => {
        reach("after-parse");
        const claim = await idempotency.claim(request);
        if (claim.kind === "owned") reach("after-slot-insert");
        return claim;
      },
    },
    ledger: {
      ...ledger,
      reserveAllIn: async (tx, reservations) => {
        // The only one of a submission: its audio is stored, its row is inserted and not committed.
        reach("after-object-put");
        committing = "before-submit-commit";
        return ledger.reserveAllIn(tx, reservations);
      },
      reserve: async (reservation) => {
        committing = "before-dispatch-commit";
        const reserved = await ledger.reserve(reservation).finally(() => (committing = null));
        reach("after-dispatch-commit");
        return reserved;
      },
      settle: async (settlement) => {
        committing = "before-settle-commit";
        const settled = await ledger.settle(settlement).finally(() => (committing = null));
        reach("after-settle-commit");
        await cut("after-settle-commit");
        return settled;
      },
    },
  };
}

function reach(point: InnerPoint | SubmitPoint): void {
  if (armed === point) process.kill(process.pid, "SIGKILL");
}

async function cut(point: InnerPoint | SubmitPoint): Promise<void> {
  if (cutting !== point || setup.databaseUrl === null) return;
  cutting = null;
  await terminateSessions(setup.databaseUrl);
}

async function obey({ id, ask }: ToChild): Promise<void> {
  try {
    say({ kind: "answer", id, facts: await answer(ask) });
    // The parent waits for the end of the process, because the answer may still be in transit.
    if (ask.kind === "close") process.disconnect();
  } catch (error) {
    say({ kind: "failed", id, message: error instanceof Error ? error.message : String(error) });
  }
}

async function answer(ask: Ask): Promise<Facts | null> {
  switch (ask.kind) {
    case "arm":
      armed = ask.point;
      return null;
    case "cut":
      cutting = ask.point;
      return null;
    case "clock":
      await setClock(innerDatabase, ask.at);
      return null;
    case "sweep":
      await app.gateway.idempotency.sweep();
      await app.gateway.ledger.sweepReservations();
      return null;
    case "orphans": {
      const later = new Date(Date.now() + 2 * 3_600_000);
      await removeOrphans({ ...app.jobs, gateway: { ...app.jobs.gateway, now: () => later } });
      return null;
    }
    case "facts":
      return readFacts(ask.key, ask.since);
    case "close":
      await app.close();
      await innerDatabase.close();
      return null;
  }
}

async function readFacts(key: string, since: string): Promise<Facts> {
  const hash = createHash("sha256").update(key).digest("hex");
  const slots = await sql<{ state: string }>`
    select state from idempotency_slots where encode(key_sha256, 'hex') = ${hash}`.execute(innerDatabase.db);
  const attempts = await sql<Facts["attempts"][number]>`
    select state, outcome, unresolved, coalesce(charge_nano_usd, 0)::float8 as "chargeNanoUsd"
    from attempts where created_at >= ${since}::timestamptz order by id`.execute(innerDatabase.db);
  const jobs = await sql<{ count: number }>`
    select count(*)::int as count from jobs where created_at >= ${since}::timestamptz`.execute(innerDatabase.db);
  const recordings = await Array.fromAsync(app.jobs.objects.listOlder("audio", new Date(Date.now() + 3_600_000)));
  const sums = await sql<Pick<Facts, "chargedNanoUsd" | "spentNanoUsd" | "reservedNanoUsd">>`
    select (select coalesce(sum(charge_nano_usd), 0)::float8 from attempts) as "chargedNanoUsd",
      coalesce(sum(spent_nano_usd), 0)::float8 as "spentNanoUsd", coalesce(sum(reserved_nano_usd), 0)::float8 as "reservedNanoUsd"
    from budget_windows`.execute(innerDatabase.db);
  const [sum] = sums.rows;
  if (sum === undefined) throw new Error("an aggregate without a row");
  return {
    slot: slots.rows[0]?.state ?? null,
    attempts: attempts.rows,
    jobs: jobs.rows[0]?.count ?? 0,
    recordings: recordings.length,
    ...sum,
  };
}

function say(message: FromChild): void {
  process.send?.(message);
}
