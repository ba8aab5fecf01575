// Converts a schema's issues to faults that a reader can act on: one per unknown key, with suggestions and without secret values.
import { z } from "zod";
import type { FaultPath } from "./fault.ts";
import { sizeWords, type TypeNames, typeWords, valueAt } from "../lib/text/describe-issue.ts";
import { suggest } from "../lib/text/suggest.ts";

export interface SchemaFault {
  readonly path: FaultPath;
  /** The unknown key, if the fault is about a key and not about a value. */
  readonly key?: string;
  readonly message: string;
  readonly suggestion?: string;
}

/** `mayShow` returns whether the value at a path was written in the file itself, so that it may be repeated. */
export function schemaFaults(
  schema: z.ZodType,
  data: unknown,
  issues: readonly z.core.$ZodIssue[],
  mayShow: (path: FaultPath) => boolean,
): readonly SchemaFault[] {
  return issues.flatMap((issue) => issueFaults(schema, data, issue, mayShow));
}

function issueFaults(
  schema: z.ZodType,
  data: unknown,
  issue: z.core.$ZodIssue,
  mayShow: (path: FaultPath) => boolean,
): readonly SchemaFault[] {
  const path = issue.path.map((step) => (typeof step === "symbol" ? String(step) : step));
  const value = valueAt(data, path);
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = knownKeys(schema, path, data);
      return issue.keys.map((key) => ({
        path: [...path, key],
        key,
        message: "unknown setting",
        ...suggestion(suggest(key, known)),
      }));
    }
    case "invalid_value":
      if (value === null)
        return [{ path, message: emptyMessage(schema, path, data, `must be one of ${issue.values.join(", ")}`) }];
      return [{ path, ...choiceFault(value, issue.values.map(String), mayShow(path)) }];
    case "invalid_union":
      return unionFaults(schema, data, issue, mayShow);
    case "invalid_type":
      if (value === null) return [{ path, message: emptyMessage(schema, path, data, typeMessage(issue, value)) }];
      return [{ path, message: value === undefined ? "is required" : typeMessage(issue, value) }];
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

function unionFaults(
  schema: z.ZodType,
  data: unknown,
  issue: z.core.$ZodIssueInvalidUnion,
  mayShow: (path: FaultPath) => boolean,
): readonly SchemaFault[] {
  const path = issue.path.map((step) => (typeof step === "symbol" ? String(step) : step));
  const value = valueAt(data, path);
  if (issue.discriminator !== undefined) {
    return [{ path, ...choiceFault(value, discriminators(schema, path.slice(0, -1), data), mayShow(path)) }];
  }
  // The alternative that matched deepest explains best what is wrong.
  const depthOf = (branch: readonly z.core.$ZodIssue[]) => Math.max(0, ...branch.map((inner) => inner.path.length));
  const deepest = issue.errors.toSorted((a, b) => depthOf(b) - depthOf(a))[0];
  if (deepest === undefined || depthOf(deepest) === 0) {
    const message = `must be ${unionNames(issue.errors)}`;
    if (value === null) return [{ path, message: emptyMessage(schema, path, data, message) }];
    return [{ path, message: value === undefined ? "is required" : message }];
  }
  return deepest.flatMap((inner) =>
    issueFaults(schema, data, { ...inner, path: [...issue.path, ...inner.path] }, mayShow),
  );
}

function choiceFault(value: unknown, choices: readonly string[], isShown: boolean) {
  if (value === undefined) return { message: `is required: one of ${choices.join(", ")}` };
  const nearest = isShown && typeof value === "string" ? suggest(value, choices) : undefined;
  const introduction =
    isShown && typeof value === "string" && value.length <= 64 ? `\`${value}\` is not one of` : "must be one of";
  return { message: `${introduction} ${choices.join(", ")}`, ...suggestion(nearest) };
}

export function suggestion(name: string | undefined): { suggestion?: string } {
  return name === undefined ? {} : { suggestion: name };
}

const TYPE_NAMES: TypeNames = {
  object: "a map",
  record: "a map",
  array: "a list",
  string: "a text",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
};

function typeMessage(issue: z.core.$ZodIssueInvalidType, value: unknown): string {
  const isBare = issue.expected === "string" && (typeof value === "number" || typeof value === "boolean");
  const hint = isBare && issue.message.startsWith("Invalid input") ? "; put it in quotes" : "";
  return `${typeWords(issue, TYPE_NAMES)}${hint}`;
}

const MAX_SHOWN_KEYS = 8;

/** The message for a key without a value: its author meant to write more, or nothing at all. */
function emptyMessage(schema: z.ZodType, path: FaultPath, data: unknown, requirement: string): string {
  const found = schemasAt(schema, path, data);
  const isList = found.some((each) => each instanceof z.ZodArray);
  const keys = isList ? knownKeys(schema, [...path, 0], data) : knownKeys(schema, path, data);
  const some = keys.length > MAX_SHOWN_KEYS ? `${keys.slice(0, MAX_SHOWN_KEYS).join(", ")}, …` : keys.join(", ");
  const content = keys.length === 0 ? "" : isList ? ` of entries with ${some}` : ` with ${some}`;
  return `is empty; it ${requirement}${content}${isOptional(schema, path, data) ? ", or be omitted" : ""}`;
}

function isOptional(schema: z.ZodType, path: FaultPath, data: unknown): boolean {
  const step = path.at(-1);
  if (typeof step !== "string") return false;
  const childSchemas = schemasAt(schema, path.slice(0, -1), data).flatMap((parent) => childSchema(parent, step) ?? []);
  return childSchemas.length > 0 && childSchemas.every((each) => each.safeParse(undefined).success);
}

function unionNames(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
  const names = branches.flatMap((issues) =>
    issues.map((issue) =>
      issue.code === "invalid_type"
        ? (TYPE_NAMES[issue.expected] ?? issue.expected)
        : issue.code === "invalid_value"
          ? issue.values.join(", ")
          : issue.message,
    ),
  );
  return [...new Set(names)].join(", or ");
}

/** Keys that the schema knows at a path. In a discriminated union, only those of the option that the data selects. */
function knownKeys(schema: z.ZodType, path: FaultPath, data: unknown): readonly string[] {
  const keys = schemasAt(schema, path, data).flatMap((found) =>
    found instanceof z.ZodObject ? Object.keys(found.shape) : [],
  );
  // Keys that several options share are listed once.
  return [...new Set(keys)];
}

function discriminators(schema: z.ZodType, path: FaultPath, data: unknown): readonly string[] {
  return schemasAt(schema, path, data, false).flatMap((found) => {
    const kind: unknown = found instanceof z.ZodObject ? found.shape["kind"] : undefined;
    return kind instanceof z.ZodLiteral ? [...kind.values].map(String) : [];
  });
}

function schemasAt(schema: z.ZodType, path: FaultPath, data: unknown, narrow = true): readonly z.ZodType[] {
  let found = unwrap(schema, data, narrow);
  path.forEach((step, depth) => {
    const isLast = depth === path.length - 1;
    const value = valueAt(data, path.slice(0, depth + 1));
    found = found.flatMap((parent) => {
      const child = childSchema(parent, step);
      return child === undefined ? [] : unwrap(child, value, narrow || !isLast);
    });
  });
  return found;
}

function childSchema(parent: z.ZodType, step: string | number): z.ZodType | undefined {
  if (parent instanceof z.ZodObject) return asType(parent.shape[step]);
  if (parent instanceof z.ZodArray) return asType(parent.element);
  if (parent instanceof z.ZodRecord) return asType(parent.valueType);
  return undefined;
}

/** Unwraps defaults, nullables and transforms to the schemas of the value itself. */
function unwrap(schema: z.ZodType, value: unknown, narrow: boolean): readonly z.ZodType[] {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional
  ) {
    return unwrapInner(schema.def.innerType, value, narrow);
  }
  if (schema instanceof z.ZodPipe) return unwrapInner(schema.def.in, value, narrow);
  if (schema instanceof z.ZodUnion) {
    const options = schema.options.flatMap((option) => unwrapInner(option, value, narrow));
    const chosen = options.filter(
      (option) =>
        narrow &&
        option instanceof z.ZodObject &&
        asType(option.shape["kind"])?.safeParse(valueAt(value, ["kind"])).success === true,
    );
    return chosen.length > 0 ? chosen : options;
  }
  return [schema];
}

function unwrapInner(inner: unknown, value: unknown, narrow: boolean): readonly z.ZodType[] {
  const type = asType(inner);
  return type === undefined ? [] : unwrap(type, value, narrow);
}

function asType(value: unknown): z.ZodType | undefined {
  return value instanceof z.ZodType ? value : undefined;
}
