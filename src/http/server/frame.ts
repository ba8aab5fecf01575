// What the endpoints of a listener share: how callers are authenticated, and which requests leave a record.
import type { RequestId } from "../../contract/ids.ts";
import type { OpenRecord } from "../../gateway/request-record.ts";
import type { EdgePrincipal } from "./endpoint.ts";

export type Authenticate<P extends EdgePrincipal> = (authorization: string | undefined) => Promise<P>;

export interface Frame<P extends EdgePrincipal> {
  readonly authenticate: Authenticate<P>;
  readonly openRecord?: OpenRecordFor<P>;
  /** Headers with a caller's remaining quotas, for responses of endpoints that count against them. */
  readonly quotaFields?: (principal: P) => Readonly<Record<string, string>>;
}

export type OpenRecordFor<P extends EdgePrincipal> = (opening: {
  readonly requestId: RequestId;
  readonly endpoint: string;
  readonly principal: P | null;
  readonly receivedAtMs: number;
  readonly hasIdempotencyKey: boolean;
}) => OpenRecord;
