// The dependencies of the functions of `alerts/`, created once in `compose/alerts.ts`.
import type { Logger } from "pino";
import type { AlertEvent } from "../contract/alerts.ts";
import type { Database, systemAccess } from "../storage/database.ts";
import type { Receivers } from "../webhooks/services.ts";
import type { Destination } from "./destinations.ts";

export interface AlertServices {
  readonly database: Pick<Database, typeof systemAccess | "inWorkspace">;
  readonly destinations: readonly Destination[];
  /** Guarded as receivers of webhooks are [alerts.url-rules]. */
  readonly receivers: Pick<Receivers, "post">;
  readonly timeoutMs: number;
  readonly nowMs: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly onRaised?: (event: AlertEvent) => void;
  /** Called with the outcome of each attempt. */
  readonly onAttempt?: (outcome: string) => void;
}
