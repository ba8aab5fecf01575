// Reads of jobs with their results, a few at a time: a result of megabytes is held several times over on its way from its row to an
// answer, and workspaces wait in turn.
import type { Most } from "../lib/places.ts";
import type { JobServices } from "./services.ts";

/** A result of eight megabytes takes some 200 MB on its way. */
export const MOST_RESULT_READS: Most = { total: 2, perKind: 2, perOwner: 1 };

const NEVER = new AbortController().signal;

export function withinResultReads<T>(
  { resultReads }: Pick<JobServices, "resultReads">,
  workspaceId: string,
  read: () => Promise<T>,
): Promise<T> {
  return resultReads.within("results", NEVER, read, workspaceId);
}
