// A gateway of the budget trials, to be killed during a rush. Run by budget-gateway.ts.
import { flushCompileCache } from "node:module";
import { sql } from "kysely";
import { pino } from "pino";
import { createApp } from "../../../src/compose/app.ts";
import { applyConfiguration } from "../../../src/directory/apply-configuration.ts";
import { listen } from "../../../src/http/server/listen.ts";
import { sweepAttempts } from "../../../src/metering/sweep-attempts.ts";
import { sweepLeases } from "../../../src/metering/sweep-leases.ts";
import type { SystemTransaction } from "../../../src/storage/database.ts";
import { createSeal } from "../../../src/storage/secrets/seal.ts";
import { shiftClock } from "../../harness/postgres/database.ts";
import { configurationOf, ENCRYPTION_KEY, PEPPER } from "../../harness/gateway.ts";
import { openSurvivingDatabase } from "../surviving-database.ts";
import type { AppSums, BudgetSetup, FromGateway, ToGateway } from "./budget-protocol.ts";

const HOUR_SECONDS = 3_600;

const setup = JSON.parse(process.argv[2] ?? "null") as BudgetSetup;
const database = await openSurvivingDatabase(setup);
const configuration = await configurationOf(setup.file, setup.dataDir);
const seal = createSeal({ keys: [ENCRYPTION_KEY] });
// At each start, as in production.
await applyConfiguration({ database, seal, pepper: PEPPER }, configuration, { isFile: true });
const logger = pino({ level: "error" }, process.stderr);
const app = await createApp({ configuration, database, seal, pepper: PEPPER, logger });
// Exits with its parent.
process.on("disconnect", () => process.exit(0));
process.on("message", (message) => void obey(message as ToGateway));
// A killed process does not write its compile cache, and the next one would compile everything again.
flushCompileCache();
say({ kind: "ready", origin: await listen(app.server, { host: "127.0.0.1", port: 0 }) });

async function obey(message: ToGateway): Promise<void> {
  if (message === "resolve") return say({ kind: "resolved", sums: await resolve() });
  await app.close();
  await database.close();
  process.disconnect();
}

async function resolve(): Promise<readonly AppSums[]> {
  await shiftClock(database, HOUR_SECONDS);
  await untilNone(sweepAttempts);
  await untilNone(sweepLeases);
  await shiftClock(database, 0);
  const { rows } = await sql<AppSums>`
    select a.slug as app,
      (select count(*)::int from attempts t where t.app_id = a.id and t.state = 'open') as open,
      (select count(*)::int from attempts t where t.app_id = a.id and t.outcome = 'succeeded') as succeeded,
      (select count(*)::int from attempts t where t.app_id = a.id and t.unresolved) as unresolved,
      (select coalesce(sum(t.charge_nano_usd), 0)::float8 from attempts t where t.app_id = a.id) as "chargedNanoUsd",
      (select count(*)::int from budget_leases l where l.app_id = a.id and l.state = 'open') as "openLeases",
      (select coalesce(sum(l.granted_nano_usd - l.settled_nano_usd), 0)::float8 from budget_leases l
        where l.app_id = a.id and l.unresolved) as "unresolvedNanoUsd",
      (select coalesce(sum(w.spent_nano_usd), 0)::float8 from budget_windows w join budgets b on b.id = w.budget_id
        where b.app_id = a.id) as "spentNanoUsd",
      (select coalesce(sum(w.reserved_nano_usd), 0)::float8 from budget_windows w join budgets b on b.id = w.budget_id
        where b.app_id = a.id) as "reservedNanoUsd"
    from apps a order by a.slug`.execute(database.db);
  return rows;
}

async function untilNone(sweep: (tx: SystemTransaction) => Promise<number>): Promise<void> {
  while ((await database.transaction(sweep)) > 0);
}

function say(message: FromGateway): void {
  process.send?.(message);
}
