// The network access of `patchbay doctor` other than HTTP calls, injected by `main.ts`. It sends no data.
import type { Configuration } from "../../config/configuration.ts";
import type { ReachOutcome } from "../../webhooks/receivers.ts";

export interface DoctorNetwork {
  /** Resolves a host name as calls to the operator's own addresses do. */
  readonly lookUp: (host: string) => Promise<readonly string[]>;
  /** Connects as a delivery would, then closes the connection. Throws when `signal` aborts. */
  readonly reach: (url: string, signal: AbortSignal) => Promise<ReachOutcome>;
  readonly close: () => Promise<void>;
}

export type OpenNetwork = (configuration: Configuration) => Promise<DoctorNetwork>;
