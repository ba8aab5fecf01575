// Requests of one operation as its document says them.
import * as fc from "fast-check";
import { arbitraryOf, type Hints } from "./arbitrary-of.ts";
import { type Operation, type Parameter, type Schema } from "./document.ts";
import { ADMIN_KEY, APP_KEY, type Known, OPERATOR_KEY, pathOf, RECORDING } from "./installation.ts";

export interface Request {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string | null;
}

export interface Draft {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly isForm: boolean;
  readonly accept: string | null;
}

export interface Drawn {
  /** One draw of an arbitrary, out of the run's seed. */
  <T>(arbitrary: fc.Arbitrary<T>): T;
}

export function isWorkspace({ path }: Operation): boolean {
  return path.startsWith("/workspace/");
}

function keyOf(operation: Operation): string {
  return operation.listener === "admin" ? OPERATOR_KEY : isWorkspace(operation) ? ADMIN_KEY : APP_KEY;
}

export const parametersIn = ({ parameters = [] }: Operation, place: Parameter["in"]) =>
  parameters.filter((parameter) => parameter.in === place);

export function draftOf(operation: Operation, hints: Hints, known: Known): fc.Arbitrary<Draft> {
  const { listener } = operation;
  const choice = fc.oneof(
    { weight: 12, arbitrary: fc.nat() },
    { weight: 1, arbitrary: fc.stringMatching(/^[A-Za-z0-9._~-]{1,40}$/u).filter((text) => !/^\.+$/u.test(text)) },
  );
  const path = fc
    .array(choice, { minLength: 4, maxLength: 4 })
    .map((choices) => pathOf(known, operation.path, choices));
  const query = someOf(operation, "query", (parameter) =>
    arbitraryOf(listener, parameter.schema, hints, parameter.name).map(String),
  );
  const headers = someOf(operation, "header", (parameter) =>
    parameter.name === "If-Match"
      ? fc.constantFrom("*", "*", "*", '"not-this-one"')
      : arbitraryOf(listener, parameter.schema, hints)
          .map(String)
          .filter((text) => /^[\x21-\x7e]{1,200}$/u.test(text)),
  );
  const { json, form } = bodiesOf(operation);
  const body = (schema: Schema | undefined, isForm: boolean) =>
    schema === undefined
      ? []
      : [
          arbitraryOf(listener, schema, isForm ? { ...hints, file: fc.constant(RECORDING) } : hints).map((value) => ({
            body: value,
            isForm,
          })),
        ];
  const bodies = [...body(json, false), ...body(form, true)];
  return fc
    .record({
      path,
      query,
      headers,
      accept: fc.constantFrom(null, "*/*", "application/problem+json", "application/json", "text/html, */*;q=0.5"),
      body: bodies.length === 0 ? fc.constant({ body: null, isForm: false }) : fc.oneof(...bodies),
    })
    .map(({ body: { body: value, isForm }, ...rest }) => ({ ...rest, body: unnamed(operation, value), isForm }));
}

function unnamed(operation: Operation, body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !isNamedByPath(operation, name)));
}

/** What replaces an object may omit the name that is in its path; the schema is the one that makes such objects. */
export function isNamedByPath({ method, path }: Operation, name: string): boolean {
  return method === "PUT" && path.endsWith("}") && ["id", "purpose"].includes(name);
}

function someOf(
  operation: Operation,
  place: Parameter["in"],
  of: (parameter: Parameter) => fc.Arbitrary<string>,
): fc.Arbitrary<Record<string, string>> {
  const entries = parametersIn(operation, place).map((parameter) => {
    const present = of(parameter).map((value): readonly [string, string][] => [[parameter.name, value]]);
    return parameter.required
      ? present
      : fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: present });
  });
  return fc.tuple(...entries).map((all) => Object.fromEntries(all.flat()));
}

export function bodiesOf({ requestBody }: Operation) {
  return {
    json: requestBody?.content?.["application/json"]?.schema,
    form: requestBody?.content?.["multipart/form-data"]?.schema,
  };
}

export function requestOf(operation: Operation, draft: Draft): Request {
  const { path } = draft;
  const query = new URLSearchParams(draft.query).toString();
  const headers: Record<string, string> = draft.accept === null ? {} : { accept: draft.accept };
  for (const [name, value] of Object.entries(draft.headers)) headers[name.toLowerCase()] = value;
  if (operation.security.length > 0) headers["authorization"] = `Bearer ${keyOf(operation)}`;
  const { body, type } = encode(draft);
  if (type !== null) headers["content-type"] = type;
  return { method: operation.method, target: query === "" ? path : `${path}?${query}`, headers, body };
}

function encode({ body, isForm }: Pick<Draft, "body" | "isForm">) {
  if (body === null) return { body: null, type: null };
  if (!isForm) return { body: JSON.stringify(body), type: "application/json" };
  return { body: formOf(body as Record<string, unknown>), type: `multipart/form-data; boundary=${BOUNDARY}` };
}

const BOUNDARY = "between-the-parts-of-a-conformance-run";

export function formOf(fields: Readonly<Record<string, unknown>>): Buffer {
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [name, one] as const),
  );
  return Buffer.concat([
    ...parts.flatMap(([name, value]) => {
      const isFile = value instanceof Uint8Array;
      const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${isFile ? '; filename="a.wav"' : ""}\r\n\r\n`;
      return [Buffer.from(head), isFile ? value : Buffer.from(String(value)), Buffer.from("\r\n")];
    }),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ]);
}
