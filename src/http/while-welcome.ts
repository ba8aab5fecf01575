// How long an answer without an end of its own goes on: until nobody listens, the process begins to stop, or its caller's key is no longer
// good for it (contract 2: a revoked key stops working within 5 s, in the middle of an answer too).
import { schedule } from "./body-rate.ts";

/** On top of the 4 s that a verifier remembers a key (`auth/verify-key.ts`); where a revocation is announced, this is all it takes. */
const ASK_AGAIN_MS = 500;

export interface Welcome extends Disposable {
  /** Aborts when it is to end. */
  readonly over: AbortSignal;
}

/** `ask` rejects once the caller is refused. To be disposed of with the answer. */
export function whileWelcome(until: readonly AbortSignal[], ask: () => Promise<unknown>): Welcome {
  const refused = new AbortController();
  const over = AbortSignal.any([...until, refused.signal]);
  const askAgain = async (): Promise<void> => {
    try {
      await ask();
      if (!over.aborted) cancel = later();
    } catch (error) {
      refused.abort(error);
    }
  };
  const later = (): (() => void) => schedule(() => void askAgain(), ASK_AGAIN_MS);
  let cancel = later();
  return {
    over,
    [Symbol.dispose]: () => {
      cancel();
      refused.abort();
    },
  };
}
