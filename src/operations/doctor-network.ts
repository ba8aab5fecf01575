// What `patchbay doctor` does over the network besides calling an address, handed in by `main.ts`: it sends nothing.
import type { Configuration } from "../config/configuration.ts";
import type { Reached } from "../webhooks/receivers.ts";

export interface DoctorNetwork {
  /** The addresses of a name, found as calls to the operator's own addresses find them. */
  readonly lookUp: (host: string) => Promise<readonly string[]>;
  /** A connection such as a delivery makes, closed again. Throws when `signal` aborts. */
  readonly reach: (url: string, signal: AbortSignal) => Promise<Reached>;
  readonly close: () => Promise<void>;
}

export type OpenNetwork = (configuration: Configuration) => Promise<DoctorNetwork>;
