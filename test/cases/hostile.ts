// Rows of our own beyond the two lists in this folder, found by thinking as an attacker does: what is sent, and the verdict. The
// bytes are built from small good requests, so that each row is wrong in one way only.
import { hostileAdministration } from "./hostile-administration.ts";
import { hostileBodies } from "./hostile-bodies.ts";
import { hostileHttp } from "./hostile-http.ts";

export interface HostileRequest {
  readonly id: string;
  readonly input: string;
  /** Each on a connection of its own; all of them end alike. */
  readonly requests: readonly (Buffer | string)[];
  readonly status: number;
  /** Null where it is served: hostile in looks, good in fact. */
  readonly code: string | null;
  /** Of a served one: how often a provider is called for it. */
  readonly calls?: number;
  readonly listener?: "admin";
}

export const hostileRequests: readonly HostileRequest[] = [...hostileHttp, ...hostileBodies, ...hostileAdministration];
