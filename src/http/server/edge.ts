// What the parts of the edge share, made once per server.
import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import type { ErrorCode } from "../../contract/errors.ts";
import type { SymbolSlot } from "../../lib/symbol-slot.ts";
import type { WaitGroup } from "../../lib/concurrency/wait-group.ts";
import type { RefuseHost } from "./allowed-hosts.ts";
import type { Schedule } from "../body/body-rate.ts";
import type { Exchange } from "./exchange.ts";
import type { EdgeLimits } from "./limits.ts";
import type { UnreadBudget } from "../reply/unread-budget.ts";
import type { Upgrades } from "../socket/upgrade.ts";

export interface ExchangeSeen {
  readonly requestId: string;
  readonly method: string;
  /** The endpoint's path as its contract has it; null: none. */
  readonly route: string | null;
  readonly status: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

export interface ExchangeWatch {
  /** With the caller's own `traceparent`, as it stands. */
  readonly arrived: (requestId: string, traceparent: string | undefined) => void;
  readonly exchanged: (seen: ExchangeSeen) => void;
  /** Of the trace that a request is in, its caller's or its own; null: nothing is traced. */
  readonly traceIdOf: ((requestId: string) => string) | null;
  /** What was refused before it could be read as a request: it has no endpoint, no key and no record. */
  readonly unreadable: (code: ErrorCode) => void;
}

export interface Edge {
  readonly limits: EdgeLimits;
  readonly schedule: Schedule;
  readonly nowMs: () => number;
  readonly publicUrl: () => string;
  readonly draining: () => boolean;
  /** Null: any host name is answered. */
  readonly refuseHost: RefuseHost | null;
  readonly logger: Logger;
  /** Sees each exchange as it begins and as it is over; only counts, never throws. */
  readonly watch: ExchangeWatch | null;
  readonly exchanges: SymbolSlot<IncomingMessage, Exchange>;
  /** Handlers and replies, also when nobody is left to answer. */
  readonly underWay: WaitGroup;
  readonly unread: UnreadBudget;
  /** Of this server's sockets; there when the server is. */
  readonly upgrades: () => Upgrades;
}
