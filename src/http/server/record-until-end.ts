// Completes a request's record when both its reply and its work have ended. With an idempotency key the work continues after the client disconnects
// [requests.keyed-hang-up].
import type { OpenRecord } from "../../gateway/request-record.ts";
import type { Exchange } from "./exchange.ts";

export interface RecordedExchange extends Pick<OpenRecord, "recorder"> {
  /** The record stays open until this promise settles. */
  during(work: Promise<unknown>): void;
}

export function recordUntilEnd(record: OpenRecord, exchange: Exchange): RecordedExchange {
  /** The reply and each piece of work. */
  let pendingCount = 1;
  let status = 0;
  const endOne = (): void => {
    pendingCount -= 1;
    if (pendingCount === 0) record.end({ status, code: exchange.code });
  };
  exchange.onClose(() => {
    status = exchange.status;
    endOne();
  });
  return {
    recorder: record.recorder,
    during: (work) => {
      // The record is already complete: the client disconnected before this response.
      if (pendingCount === 0) return;
      pendingCount += 1;
      void work.then(endOne, endOne);
    },
  };
}
