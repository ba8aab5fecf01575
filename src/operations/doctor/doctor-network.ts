// The network access of `patchbay doctor` and `patchbay alerts test`, injected by `main.ts`. The doctor sends no data.
import type { Configuration } from "../../config/configuration.ts";
import type { ReachOutcome } from "../../webhooks/receivers.ts";
import type { Receivers } from "../../webhooks/services.ts";

export interface DoctorNetwork {
  /** Resolves a host name as calls to the operator's own addresses do. */
  readonly lookUp: (host: string) => Promise<readonly string[]>;
  /** Connects as a delivery would, then closes the connection. Throws when `signal` aborts. */
  readonly reach: (url: string, signal: AbortSignal) => Promise<ReachOutcome>;
  /** Sends a test alert, guarded as every delivery is. Only `patchbay alerts test` uses it. */
  readonly post: Receivers["post"];
  readonly close: () => Promise<void>;
}

export type OpenNetwork = (configuration: Configuration) => Promise<DoctorNetwork>;
