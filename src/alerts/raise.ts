// Records alerts for the destinations that receive them. The database decides, over all processes and restarts, whether a cause may be reported to a
// destination now [alerts.once-an-hour]; cause and delivery are one transaction [alerts.durable].
import { newId, type WorkspaceId } from "../contract/ids.ts";
import { bypassRls } from "../storage/system.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import { alertBody } from "./alert-body.ts";
import { type Alert, QUIET_SECONDS } from "./alert.ts";
import { type Destination, receives } from "./destinations.ts";
import type { AlertServices } from "./services.ts";
import { listDueCauses, type OccurredCause, reportCauses } from "./store/alert-causes.ts";
import { countPending, insertAlertDeliveries } from "./store/alert-deliveries.ts";

/** Bound of the alerts that wait for one destination [alerts.backlog]. */
const MAX_PENDING = 500;

/** Returns how many deliveries were recorded. */
export async function raiseAlerts(services: AlertServices, alerts: readonly Alert[]): Promise<number> {
  let recorded = 0;
  for (const destination of services.destinations) {
    const received = latestByCause(alerts.filter((alert) => receives(destination, alert)));
    for (const [owner, its] of Map.groupBy(received, ({ workspace }) => ownerOf(destination, workspace)))
      recorded += await record(services, destination, owner, its);
  }
  return recorded;
}

function ownerOf(destination: Destination, workspace: Alert["workspace"]): WorkspaceId | null {
  return destination.workspace === null ? null : (workspace?.id ?? null);
}

/** In order of the causes, so that two processes lock their rows in the same order. */
function latestByCause(alerts: readonly Alert[]): readonly Alert[] {
  const latest = new Map<string, Alert>();
  for (const alert of alerts) {
    const other = latest.get(alert.cause);
    if (other === undefined || other.occurredAt < alert.occurredAt) latest.set(alert.cause, alert);
  }
  return [...latest.values()].toSorted((left, right) => (left.cause < right.cause ? -1 : 1));
}

async function record(
  services: AlertServices,
  destination: Destination,
  owner: WorkspaceId | null,
  alerts: readonly Alert[],
): Promise<number> {
  const { database, logger, onRaised } = services;
  const work = (tx: DatabaseTransaction) => recordIn(tx, destination, owner, alerts);
  const { reported, dropped } = await (owner === null
    ? bypassRls(database, "sweep").transaction(work)
    : database.inWorkspace(owner, work));
  for (const { event, cause } of reported) {
    onRaised?.(event);
    logger.info({ event: "alert.raised", subject: cause });
  }
  if (dropped > 0)
    logger.warn(
      { event: "alert.dropped", subject: destination.place, lost: dropped },
      "too many alerts wait for this destination",
    );
  return reported.length;
}

async function recordIn(
  tx: DatabaseTransaction,
  destination: Destination,
  owner: WorkspaceId | null,
  alerts: readonly Alert[],
): Promise<{ readonly reported: readonly Alert[]; readonly dropped: number }> {
  const due = await pick(alerts, (causes) => listDueCauses(tx, destination.id, causes));
  if (due.length === 0) return { reported: [], dropped: 0 };
  const fitting = due.slice(0, Math.max(0, MAX_PENDING - (await countPending(tx, destination.id))));
  const holder = { destination: destination.id, workspaceId: owner };
  const reported = await pick(fitting, (causes) => reportCauses(tx, holder, causes));
  await insertAlertDeliveries(
    tx,
    reported.map((alert) => {
      const id = newId("alert");
      const body = alertBody(id, { ...alert, workspace: alert.workspace?.slug ?? null });
      return { id, workspaceId: owner, destination: destination.id, event: alert.event, body: JSON.stringify(body) };
    }),
  );
  return { reported, dropped: due.length - fitting.length };
}

async function pick(
  alerts: readonly Alert[],
  choose: (causes: readonly OccurredCause[]) => Promise<ReadonlySet<string>>,
): Promise<readonly Alert[]> {
  const chosen = await choose(
    alerts.map(({ event, cause, occurredAt }) => ({ cause, occurredAt, quietSeconds: QUIET_SECONDS[event] })),
  );
  return alerts.filter(({ cause }) => chosen.has(cause));
}
