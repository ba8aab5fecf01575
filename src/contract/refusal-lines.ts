// What a refusal says beside its message, in lines for whoever has to act on it: a person at a terminal, or a model.
import { z } from "zod";

export interface RefusalFacts {
  /** As an error body has them; a gateway of another version may say more, or other things. */
  readonly details: unknown;
  readonly docUrl: string | null;
  readonly requestId: string | null;
}

const name = z.string().nullish().catch(null);
const issues = z
  .looseObject({ issues: z.array(z.looseObject({ param: name, path: name, message: z.string().catch("") })).min(2) })
  .transform((details) => details.issues);

/** All faults of a refused request where there are several, where the code is explained, and whose answer it was. */
export function refusalLines({ details, docUrl, requestId }: RefusalFacts): readonly string[] {
  const found = issues.safeParse(details).data ?? [];
  return [
    ...found.map(({ param, path, message }) => `${param ?? path ?? "request"}: ${message}`),
    ...(docUrl === null ? [] : [`what to do: ${docUrl}`]),
    ...(requestId === null ? [] : [`request ${requestId}`]),
  ];
}
