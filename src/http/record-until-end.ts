// When a request's record is complete (contract 10): its reply has ended and so has its work, which goes on under an idempotency
// key when the caller has left.
import type { OpenRecord } from "../gateway/request-record.ts";
import type { Exchange } from "./exchange.ts";

export interface Recorded extends Pick<OpenRecord, "recorder"> {
  /** The record waits for this, however it ends. */
  during(work: Promise<unknown>): void;
}

/** `statusOf` is asked when the reply has ended. */
export function recordUntilEnd(record: OpenRecord, exchange: Exchange, statusOf: () => number): Recorded {
  const works: Promise<unknown>[] = [];
  const end = async (): Promise<void> => {
    await exchange.closed;
    const status = statusOf();
    await Promise.allSettled(works);
    record.end({ status, code: exchange.code });
  };
  void end();
  return {
    recorder: record.recorder,
    during: (work) => {
      works.push(work);
    },
  };
}
