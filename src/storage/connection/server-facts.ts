// Asks the database server about itself: its version, clock and settings, and the role of the session. Reads no rows.
import { sql } from "kysely";
import type { Handle } from "../system.ts";

export async function readServerVersion(db: Handle): Promise<string | null> {
  const { rows } = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(db);
  return rows[0]?.version ?? null;
}

/** The time at this moment: `patchbay_now()` is the start of the transaction. */
export async function readServerTime(db: Handle): Promise<Date | null> {
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(db);
  return rows[0]?.at ?? null;
}

export async function readRole(db: Handle): Promise<string | null> {
  const { rows } = await sql<{ role: string }>`select current_user as role`.execute(db);
  return rows[0]?.role ?? null;
}

export interface SessionFacts {
  /** Whether the server compiles statements just in time: `on` or `off`. */
  readonly jit: string;
  readonly login: string;
}

export async function readSessionFacts(db: Handle): Promise<SessionFacts | null> {
  const { rows } = await sql<SessionFacts>`
    select current_setting('jit') as jit, current_user as login`.execute(db);
  return rows[0] ?? null;
}
