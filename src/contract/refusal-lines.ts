// Formats an error's issues, documentation link and request id as lines below its message, for a person at a terminal or for a language model.
import { z } from "zod";

export interface RefusalFacts {
  /** From an error body. A gateway of another version may send more, or other, details. */
  readonly details: unknown;
  readonly docUrl: string | null;
  readonly requestId: string | null;
}

const name = z.string().nullish().catch(null);
const issues = z
  .looseObject({ issues: z.array(z.looseObject({ param: name, path: name, message: z.string().catch("") })).min(2) })
  .transform((details) => details.issues);

/** Lists all issues of a refused request if there are several, the documentation of the code, and the request id. */
export function refusalLines({ details, docUrl, requestId }: RefusalFacts): readonly string[] {
  const found = issues.safeParse(details).data ?? [];
  return [
    ...found.map(({ param, path, message }) => `${param ?? path ?? "request"}: ${message}`),
    ...(docUrl === null ? [] : [`what to do: ${docUrl}`]),
    ...(requestId === null ? [] : [`request ${requestId}`]),
  ];
}
