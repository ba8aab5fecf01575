// Parses a response with a strict schema but ignores unknown keys, so that commands work with a newer gateway.
import type { z } from "zod";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

export function parseIgnoringUnknownKeys<T extends z.ZodType>(
  schema: T,
  document: unknown,
): z.ZodSafeParseResult<z.output<T>> {
  const parsed = schema.safeParse(document);
  const unknown = parsed.success ? null : unknownMembers(parsed.error.issues);
  if (unknown === null) return parsed;
  const known = structuredClone(document);
  for (const path of unknown) remove(known, path);
  return schema.safeParse(known);
}

/** Null: there are other issues too. */
function unknownMembers(issues: readonly Issue[]): readonly Path[] | null {
  const found: Path[] = [];
  for (const issue of issues) {
    const members = membersOf(issue);
    if (members === null) return null;
    found.push(...members.map((path) => [...issue.path, ...path]));
  }
  return found;
}

function membersOf(issue: Issue): readonly Path[] | null {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [key]);
  if (issue.code !== "invalid_union") return null;
  // Of several union members, the one with the fewest unknown keys.
  const forms = issue.errors.map(unknownMembers).filter((members) => members !== null);
  return forms.toSorted((one, other) => one.length - other.length)[0] ?? null;
}

function remove(document: unknown, path: Path): void {
  const holder = path.slice(0, -1).reduce<unknown>((value, name) => Reflect.get(Object(value), name), document);
  Reflect.deleteProperty(Object(holder), path.at(-1) ?? "");
}
