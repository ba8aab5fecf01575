// The services that all parts of the HTTP edge share, created once per server.
import type { Logger } from "pino";
import type { ErrorCode } from "../../contract/errors.ts";
import type { WaitGroup } from "../../lib/concurrency/wait-group.ts";
import type { RefuseHost } from "./allowed-hosts.ts";
import type { Schedule } from "../body/body-rate.ts";
import type { EdgeLimits } from "./limits.ts";
import type { UnreadBudget } from "../reply/unread-budget.ts";
import type { Upgrades } from "../socket/upgrade.ts";

export interface ObservedExchange {
  readonly requestId: string;
  readonly method: string;
  /** The endpoint's path as in its contract. Null: no endpoint matched. */
  readonly route: string | null;
  readonly status: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

export interface ExchangeWatch {
  /** `traceparent` is the client's own header, unchanged. */
  readonly arrived: (requestId: string, traceparent: string | undefined) => void;
  readonly exchanged: (seen: ObservedExchange) => void;
  /** Returns the id of the trace that a request belongs to, the client's or a new one. Null: tracing is off. */
  readonly traceIdOf: ((requestId: string) => string) | null;
  /** Counts input that was refused before it could be parsed as a request. It has no endpoint, no key and no record. */
  readonly unreadable: (code: ErrorCode) => void;
}

export interface Edge {
  readonly limits: EdgeLimits;
  readonly schedule: Schedule;
  readonly nowMs: () => number;
  readonly publicUrl: () => string;
  readonly draining: () => boolean;
  /** Null: any host name is allowed. */
  readonly refuseHost: RefuseHost | null;
  readonly logger: Logger;
  /** Notified of the beginning and end of each exchange. Only counts, never throws. */
  readonly watch: ExchangeWatch | null;
  /** Running handlers and replies, including those of disconnected clients. */
  readonly underWay: WaitGroup;
  readonly unread: UnreadBudget;
  /** The WebSockets of this server. A function, because they are created after the server. */
  readonly upgrades: () => Upgrades;
}
