// Calls the admin API for a screen with the user's key.
import { ask, type Outcome } from "../page/ask.ts";
import type { Session } from "./session.ts";
import { type Answer, type Change, type Scope, Unanswered, type Visit } from "./visit.ts";
import { saidWhile } from "./waiting.ts";

type Calls = Pick<Visit, "read" | "readWithEtag" | "readPlatform" | "ask">;

/** `signal` aborts reads; changes are not aborted. */
export function callsOf({ key, isOperator }: Session, { base }: Scope, signal: AbortSignal): Calls {
  const askAt = <T>(
    path: string,
    method: string,
    { body, ifMatch, isFirst, idempotencyKey }: Change = {},
  ): Promise<Outcome<T>> =>
    saidWhile(
      ask(path, key, {
        method,
        signal: method === "GET" ? signal : null,
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(ifMatch === undefined || ifMatch === null ? {} : { "if-match": ifMatch }),
          ...(isFirst === true ? { "if-none-match": "*" } : {}),
          ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  const readAt = async <T>(path: string): Promise<Answer<T>> => {
    const outcome = await askAt<T>(path, "GET");
    if (!outcome.ok) throw new Unanswered(outcome);
    return outcome;
  };
  return {
    read: async <T>(path: string) => (await readAt<T>(base + path)).data,
    readWithEtag: (path) => readAt(base + path),
    readPlatform: async <T>(path: string) => (isOperator ? (await readAt<T>(`/admin/v1${path}`)).data : null),
    ask: (method, path, change) => askAt(base + path, method, change),
  };
}
