// What the parts of the edge share, made once per server.
import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import type { Schedule } from "./body-rate.ts";
import type { Exchange } from "./exchange.ts";
import type { EdgeLimits } from "./limits.ts";
import type { Upgrades } from "./upgrade.ts";

export interface Edge {
  readonly limits: EdgeLimits;
  readonly schedule: Schedule;
  readonly now: () => number;
  readonly publicUrl: () => string;
  readonly draining: () => boolean;
  readonly logger: Logger;
  readonly exchanges: WeakMap<IncomingMessage, Exchange>;
  /** Of this server's sockets; there when the server is. */
  readonly upgrades: () => Upgrades;
}
