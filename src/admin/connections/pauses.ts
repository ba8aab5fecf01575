// Pauses and resumes a provider account, or one model on it, shared or of a workspace [admin.pause].
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { PauseList, PauseView, Resumption } from "../../contract/admin/pauses.ts";
import { accountKey, isWithin, placeKey } from "../../directory/account-key.ts";
import { modelsOf } from "../../directory/models-of.ts";
import { type Adapters, PLATFORM } from "../../directory/snapshot.ts";
import { providerKind, storedConnection } from "../../directory/stored-schemas.ts";
import { suggest } from "../../lib/text/suggest.ts";
import type { ReportingCircuits } from "../../providers/health.ts";
import { announceChange } from "../../storage/connection/announce.ts";
import { endPauses, listPauses, putPause } from "../../directory/store/connection-pauses.ts";
import { readConnection } from "../../directory/store/connections.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import { wakeParkedJobs } from "../../jobs/store/claimed-jobs.ts";
import type { ConnectionPauseRow } from "../../storage/schema/tables.ts";
import { noSuch } from "../refusals.ts";
import { auditSetUp, changeSetUp, readAs, type SetUpActor, type SetUpServices } from "../set-up-scope.ts";

export interface PauseServices extends SetUpServices {
  readonly adapters: Adapters;
  readonly circuits: Pick<ReportingCircuits, "close">;
}

interface Place extends SetUpActor {
  readonly id: string;
  /** Null: all models of the connection. */
  readonly model: string | null;
}

export interface PauseChange extends Place {
  readonly seconds: number;
  readonly reason: string | null;
}

export async function listPauseViews(
  services: SetUpServices,
  { scope }: Pick<SetUpActor, "scope">,
): Promise<PauseList> {
  const rows = await readAs(services, { scope }, (db) => listPauses(db, scope));
  return { object: "list", data: rows.map(viewPause) };
}

export async function pauseConnection(services: PauseServices, change: PauseChange): Promise<PauseView> {
  const { scope, actor, id, model, seconds, reason } = change;
  return changeSetUp(services, change, async (tx) => {
    await requirePlace(services, tx, change);
    const before = (await listPausesOf(tx, change)).find((each) => each.model === model);
    const place = { scope, connection: id, model };
    const after = await putPause(tx, place, { seconds, reason, actorKeyId: actor });
    const auditFacts = { before: before === undefined ? null : factsOf(before), after: factsOf(after) };
    await auditSetUp(tx, change, { action: "connection.paused", object: id, ...auditFacts });
    return viewPause(after);
  });
}

export async function resumeConnection(services: PauseServices, change: Place): Promise<Resumption> {
  const { scope, id, model } = change;
  const place = placeKey(accountKey(scope, id), model);
  const resumed = await changeSetUp(services, change, async (tx) => {
    await requirePlace(services, tx, change);
    const endedPauses = await endPauses(tx, { scope, connection: id, model });
    const remaining = await listPausesOf(tx, change);
    if (endedPauses.length > 0) await wakeParkedJobs(tx);
    await announceChange(tx, "circuits", place);
    const before = { model, pauses: endedPauses.map(factsOf) };
    await auditSetUp(tx, change, { action: "connection.resumed", object: id, before, after: { model } });
    return {
      ended: endedPauses.map(viewPause),
      still_paused: remaining.filter((each) => each.model === null).map(viewPause),
    };
  });
  // Other processes learn of it by the announcement.
  services.circuits.close(isWithin(place));
  return { object: "connection_resumption", connection: id, model, ...resumed };
}

export function viewPause(row: ConnectionPauseRow): PauseView {
  return {
    object: "connection_pause",
    workspace_id: row.scope === PLATFORM ? null : row.scope,
    connection: row.connection,
    model: row.model,
    until: row.ends_at.toISOString(),
    reason: row.reason,
    created_by: row.actor_key_id,
    created_at: row.created_at.toISOString(),
  };
}

function factsOf({ model, ends_at: until, reason }: ConnectionPauseRow): object {
  return { model, until: until.toISOString(), reason };
}

async function listPausesOf(tx: DatabaseTransaction, { scope, id }: Place): Promise<readonly ConnectionPauseRow[]> {
  return (await listPauses(tx, scope)).filter(({ connection }) => connection === id);
}

/** Throws 404 for an unknown connection and 400 for a model that it does not have, because a pause of a mistyped name would have no effect. */
async function requirePlace(
  { adapters }: PauseServices,
  tx: DatabaseTransaction,
  { scope, id, model }: Place,
): Promise<void> {
  const row = await readConnection(tx, { scope, id });
  if (row === null) throw noSuch("connection");
  if (model === null) return;
  const { models } = storedConnection.parse(row.settings);
  const names = modelsOf({ kind: providerKind.parse(row.kind), models }, adapters).map(({ name }) => name);
  if (names.includes(model)) return;
  const similarName = suggest(model, names);
  const hint = similarName === undefined ? "Omit it for the whole connection." : `Did you mean ${similarName}?`;
  throw invalidRequest("model", `model: connection ${id} has no such model. ${hint}`);
}
