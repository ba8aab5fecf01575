// Aborts long-lived responses when the client disconnects, the process drains, or the API key stops being valid (checked every 500 ms).
import { GatewayError } from "../../contract/errors.ts";
import { schedule } from "../body/body-rate.ts";

/** In addition to the 4 s for which a verified key is cached (`auth/verify-key.ts`). Where revocations are announced, this interval is the whole delay. */
const CHECK_INTERVAL_MS = 500;

/** An invalid key, a lost scope or role, and a workspace that no longer exists. */
const REVOKED_STATUSES: ReadonlySet<number> = new Set([401, 403, 404]);

/** One for all: creating it captures a stack, which took 2 % of a streamed chat. */
const RESPONSE_OVER = new DOMException("The response has ended.", "AbortError");

export interface AuthorizationWatch extends Disposable {
  /** Aborts when the response has to end; the reason is the `GatewayError` where the authorization was revoked. */
  readonly ended: AbortSignal;
  /** The result of the work, or the refusal if the authorization was revoked meanwhile. */
  readonly unlessRevoked: <T>(work: Promise<T>) => Promise<T>;
}

/** `authorize` rejects with the error that the same request would get now. Dispose of the watch with the response. */
export function watchAuthorization(signals: readonly AbortSignal[], authorize: () => unknown): AuthorizationWatch {
  const own = new AbortController();
  const ended = AbortSignal.any([...signals, own.signal]);
  let revocation: GatewayError | null = null;
  const check = async (): Promise<void> => {
    try {
      await authorize();
    } catch (error) {
      // A check that failed for another reason, such as an unavailable database, revokes nothing: the next one decides.
      if (isRevocation(error)) {
        revocation = error;
        return own.abort(error);
      }
    }
    if (!ended.aborted) cancel = scheduleCheck();
  };
  const scheduleCheck = (): (() => void) => schedule(() => void check(), CHECK_INTERVAL_MS);
  let cancel = scheduleCheck();
  return {
    ended,
    unlessRevoked: async (work) => {
      const [outcome] = await Promise.allSettled([work]);
      if (revocation !== null) throw revocation;
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    },
    [Symbol.dispose]: () => {
      cancel();
      own.abort(RESPONSE_OVER);
    },
  };
}

function isRevocation(error: unknown): error is GatewayError {
  return error instanceof GatewayError && REVOKED_STATUSES.has(error.status);
}
