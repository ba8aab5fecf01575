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

const figure = z.union([z.string(), z.number()]);
/** Of a request that a budget refused. */
const budget = z.looseObject({
  limit: figure,
  spent: figure,
  reserved: figure,
  requested: figure,
  resets_at: z.string().nullable(),
});

/** Lists all issues of a refused request if there are several, the figures of a budget, the documentation of the code, and the request id. */
export function refusalLines({ details, docUrl, requestId }: RefusalFacts): readonly string[] {
  const found = issues.safeParse(details).data ?? [];
  return [
    ...found.map(({ param, path, message }) => `${param ?? path ?? "request"}: ${message}`),
    ...budgetLines(details),
    ...(docUrl === null ? [] : [`what to do: ${docUrl}`]),
    ...(requestId === null ? [] : [`request ${requestId}`]),
  ];
}

function budgetLines(details: unknown): readonly string[] {
  const found = budget.safeParse(details).data;
  if (found === undefined) return [];
  const { limit, spent, reserved, requested, resets_at: resetsAt } = found;
  const inProgress = Number(reserved) === 0 ? "" : `, ${reserved} reserved`;
  const end = resetsAt === null ? "" : `; resets at ${resetsAt}`;
  return [`budget: ${spent} of ${limit} spent${inProgress}, this request needs ${requested}${end}`];
}
