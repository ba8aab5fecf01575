// When a request's record is complete: its reply has ended and so has its work, which continues under an idempotency key after the caller
// disconnected [requests.keyed-hang-up].
import type { OpenRecord } from "../../gateway/request-record.ts";
import type { Exchange } from "./exchange.ts";

export interface Recorded extends Pick<OpenRecord, "recorder"> {
  /** The record waits for this, however it ends. */
  during(work: Promise<unknown>): void;
}

/** `statusOf` is asked when the reply has ended. */
export function recordUntilEnd(record: OpenRecord, exchange: Exchange, statusOf: () => number): Recorded {
  /** The reply, and each piece of work. */
  let running = 1;
  let status = 0;
  const oneEnded = (): void => {
    running -= 1;
    if (running === 0) record.end({ status, code: exchange.code });
  };
  exchange.onClose(() => {
    status = statusOf();
    oneEnded();
  });
  return {
    recorder: record.recorder,
    during: (work) => {
      // The record is complete: nobody read the answer that is still sent.
      if (running === 0) return;
      running += 1;
      void work.then(oneEnded, oneEnded);
    },
  };
}
