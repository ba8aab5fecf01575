// A change of the whole object over the state that was read.
import type { Outcome } from "../page/ask.ts";
import { confirmed } from "./dialog.ts";
import type { Visit } from "./visit.ts";

export interface Over {
  readonly path: string;
  readonly etag: string | null;
  readonly body: unknown;
}

/** Where somebody else changed it meanwhile nothing is lost unasked: neither their change nor what was typed here. */
export async function putOver<T>(visit: Visit, { path, etag, body }: Over): Promise<Outcome<T>> {
  const outcome = await visit.ask<T>("PUT", path, { body, ifMatch: etag });
  if (outcome.ok || outcome.failure.kind !== "refused" || outcome.failure.status !== 412) return outcome;
  const isAnew = await confirmed(
    "Somebody else changed it",
    "It was changed since this page read it, so nothing was saved. Read anew, the page shows it as it is now, and what you filled in here is lost.",
    "Read it anew",
  );
  if (isAnew) await visit.redraw();
  return outcome;
}
