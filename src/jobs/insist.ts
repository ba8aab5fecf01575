// A paid answer in hand is not lost because the database or the object store is away for a moment (contract 5): its write is tried
// again until it is done, the job is another's, or its time is over. Only for writes that may be made twice.
import { setTimeout as wait } from "node:timers/promises";
import { isAway } from "../storage/transact.ts";

export interface Insistence {
  /** Aborts when the job is lost, or this process can wait no longer. */
  readonly signal: AbortSignal;
  readonly deadlineAt: Date;
  readonly now: () => Date;
}

/** For as long as the job has time, and this attempt has the job. */
export function insistenceOn(
  { deadlineAt }: { readonly deadlineAt: Date },
  { gateway }: { readonly gateway: { readonly now: () => Date } },
  signal: AbortSignal,
): Insistence {
  return { signal, deadlineAt, now: gateway.now };
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

export async function insist<T>(
  { signal, deadlineAt, now }: Insistence,
  write: () => Promise<T>,
  mayPass: (error: unknown) => boolean = isAway,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      if (signal.aborted || now() >= deadlineAt || !mayPass(error)) throw error;
    }
    await wait(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
