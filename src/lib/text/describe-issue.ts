// Describes a validation issue in words. Used for request fields and for the configuration file.
import type { z } from "zod";

export interface WordedIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The names of types in the source format (JSON or YAML). */
export type TypeNames = Readonly<Record<string, string>>;

const JSON_NAMES: TypeNames = {
  object: "an object",
  record: "an object",
  array: "a list",
  string: "a string",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
};

/** The text for a missing value. */
export const MISSING = "is required";

/** Reports each unknown member separately, and of a union the member that matched furthest. A custom message of the schema takes precedence. */
export function describeIssue(issue: z.core.$ZodIssue, value: unknown): readonly WordedIssue[] {
  const { path } = issue;
  if (issue.code !== "custom" && typeof path.at(-1) === "string" && valueAt(value, path) === undefined)
    return [{ path, message: MISSING }];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({ path: [...path, key], message: "unknown field" }));
    case "invalid_type":
      return [{ path, message: typeWords(issue, JSON_NAMES) }];
    case "invalid_value":
      return [{ path, message: generic(issue) ? choiceWords(issue.values) : issue.message }];
    case "invalid_union":
      return unionWords(issue, value);
    case "too_small":
    case "too_big":
      return [{ path, message: sizeWords(issue) }];
    case "invalid_format":
    case "not_multiple_of":
    case "invalid_key":
    case "invalid_element":
    case "custom":
      return [{ path, message: issue.message }];
  }
}

export function sizeWords(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  if (!issue.message.startsWith("Too ")) return issue.message;
  if (issue.code === "too_big")
    return `must be ${issue.inclusive === true ? "at most" : "less than"} ${issue.maximum}${unit(issue.origin)}`;
  if (["string", "array"].includes(issue.origin) && issue.minimum === 1) return "must not be empty";
  return `must be ${issue.inclusive === true ? "at least" : "more than"} ${issue.minimum}${unit(issue.origin)}`;
}

export function typeWords(issue: z.core.$ZodIssueInvalidType, names: TypeNames): string {
  return generic(issue) ? `must be ${names[issue.expected] ?? issue.expected}` : issue.message;
}

function unionWords(issue: z.core.$ZodIssueInvalidUnion, value: unknown): readonly WordedIssue[] {
  const { path } = issue;
  const choices = /Expected (?<list>.+)$/u.exec(issue.message)?.groups?.["list"];
  if (issue.discriminator !== undefined && choices !== undefined)
    return [{ path, message: `must be one of ${choices.replaceAll("'", "").replaceAll(" | ", ", ")}` }];
  const depthOf = (branch: readonly z.core.$ZodIssue[]) => Math.max(0, ...branch.map((inner) => inner.path.length));
  const deepest = issue.errors.toSorted((a, b) => depthOf(b) - depthOf(a))[0] ?? [];
  // If no union member matches the type, the schema's message is used. Inside one of them, issues are described as usual.
  const isStranger = deepest.some((inner) => inner.code === "invalid_union" && inner.discriminator !== undefined);
  if (!generic(issue) && (isStranger || depthOf(deepest) === 0)) return [{ path, message: issue.message }];
  // The type is right, the size is not.
  const size = issue.errors.flat().find(({ code }) => code === "too_big" || code === "too_small");
  if (depthOf(deepest) === 0 && size !== undefined)
    return describeIssue(size, valueAt(value, path)).map(({ message }) => ({ path, message }));
  if (depthOf(deepest) === 0) return [{ path, message: `must be ${alternatives(issue.errors)}` }];
  const inside = valueAt(value, path);
  return deepest.flatMap((inner) =>
    describeIssue(inner, inside).map((worded) => ({ ...worded, path: [...path, ...worded.path] })),
  );
}

function alternatives(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
  const names = branches.flatMap((issues) =>
    issues.map((issue) => {
      if (issue.code === "invalid_type") return JSON_NAMES[issue.expected] ?? issue.expected;
      return issue.code === "invalid_value" ? issue.values.map(String).join(", ") : issue.message;
    }),
  );
  return [...new Set(names)].join(", or ");
}

function choiceWords(values: readonly unknown[]): string {
  return `must be ${values.length === 1 ? "" : "one of "}${values.map(String).join(", ")}`;
}

/** Whether the message is zod's default. */
function generic(issue: { readonly message: string }): boolean {
  return issue.message.startsWith("Invalid ");
}

function unit(origin: string): string {
  return origin === "string" ? " characters long" : origin === "array" || origin === "set" ? " entries long" : "";
}

export function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  let value = data;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<PropertyKey, unknown>>)[step];
  }
  return value;
}
