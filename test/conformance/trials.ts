// What the run sends to one operation besides good requests: each of the ways of breaking one, and what must come of it.
import * as fc from "fast-check";
import { brokenBodies } from "./broken-bodies.ts";
import type { Operation } from "./document.ts";
import { ADMIN_KEY, APP_KEY, OPERATOR_KEY, POOR_KEY } from "./installation.ts";
import { type Draft, type Drawn, isWorkspace, parametersIn, type Request } from "./requests.ts";
import { DOCUMENTED, type Expectation, REFUSED, status, type Trial } from "./trial.ts";
import type { Validators } from "./validators.ts";

export interface Breaking {
  readonly draw: Drawn;
  readonly validators: Validators;
  /** The methods that the document has for this path. */
  readonly allowed: readonly string[];
  /** One wrong method instead of all. */
  readonly isShort: boolean;
}

/** `good`: a request to break, and what it was made of. */
export function brokenTrials(
  operation: Operation,
  good: { readonly draft: Draft; readonly request: Request },
  { draw, validators, allowed, isShort }: Breaking,
): readonly Trial[] {
  const { draft, request } = good;
  return [
    ...badKeys(operation, request, draw),
    ...wrongPaths(operation, request, draw),
    ...wrongMethods(request, draw, allowed).slice(0, isShort ? 1 : METHODS.length),
    ...badParameters(operation, request, validators, draw),
    ...brokenBodies(operation, draft, request, validators, draw),
  ];
}

function badKeys(operation: Operation, good: Request, draw: Drawn): readonly Trial[] {
  if (operation.security.length === 0) return [];
  const { authorization: _key, ...anonymous } = good.headers;
  const withKey = (name: string, authorization: string, expected: Expectation): Trial => ({
    name,
    request: { ...good, headers: { ...anonymous, authorization } },
    expected,
  });
  const isAdmin = operation.listener === "admin";
  const lesser = isAdmin ? [ADMIN_KEY, APP_KEY] : isWorkspace(operation) ? [APP_KEY] : [POOR_KEY];
  const needsMore = isAdmin || isWorkspace(operation) || operation["x-required-scope"] !== undefined;
  return [
    { name: "no key", request: { ...good, headers: anonymous }, expected: status(401) },
    ...draw(fc.constantFrom(...BAD_KEYS)).map(([name, value]) => withKey(name, value, status(401))),
    ...(needsMore ? lesser : []).map((key) => withKey("a key without the right", `Bearer ${key}`, status(403, 404))),
  ];
}

function wrongPaths(operation: Operation, good: Request, draw: Drawn): readonly Trial[] {
  const [path = "", query] = good.target.split("?");
  const elsewhere = [
    `${path}/`,
    `${path}/extra/segment/more`,
    `/${path}`,
    path.replace(/[a-z]/u, (letter) => letter.toUpperCase()),
    path.replace(/[a-z]/u, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    `${path}/../x`,
    // "/" has no letter to change, and "/docs/" is an address of its own.
  ].filter((each) => each !== path && each !== "/docs/");
  const target = `${draw(fc.constantFrom(...elsewhere))}${query === undefined ? "" : `?${query}`}`;
  const hasHead = operation.method === "GET" && 200 in operation.responses;
  return [
    { name: "a path that does not exist", request: { ...good, target }, expected: { kind: "no endpoint" } },
    ...(hasHead ? [{ name: "HEAD", request: { ...good, method: "HEAD" }, expected: { kind: "head" } } as const] : []),
  ];
}

/** In an order of their own each time. */
function wrongMethods(good: Request, draw: Drawn, allowed: readonly string[]): readonly Trial[] {
  const wrong = METHODS.filter((method) => !allowed.includes(method));
  return draw(fc.shuffledSubarray(wrong, { minLength: wrong.length })).map((method) => ({
    name: `method ${method}`,
    request: { ...good, method, body: null },
    expected: { kind: "method", allowed },
  }));
}

function badParameters(operation: Operation, good: Request, validators: Validators, draw: Drawn): readonly Trial[] {
  const { target, headers } = good;
  const trials: Trial[] = [];
  // Probes and pages without a key take what proxies add.
  if (operation.security.length > 0)
    trials.push({
      name: "unknown query parameter",
      request: { ...good, target: withQuery(target, "unlisted_parameter", "1") },
      expected: status(400, 403, 404),
    });
  for (const { name, value } of brokenParameters(operation, "query", validators, draw))
    trials.push({
      name: `query ${name}=${value.slice(0, 40)}`,
      request: { ...good, target: withQuery(target, name, value) },
      expected: REFUSED,
    });
  // Admitted or not, never a fault: text that no column can hold, and times beyond every calendar.
  for (const { name } of parametersIn(operation, "query").filter(({ name }) => name !== "wait"))
    trials.push({
      name: `odd ${name}`,
      request: { ...good, target: withQuery(target, name, draw(fc.constantFrom(...ODD_TEXTS))) },
      expected: DOCUMENTED,
    });
  for (const { name, value } of brokenParameters(operation, "header", validators, draw))
    trials.push({
      name: `header ${name}: ${value.slice(0, 40)}`,
      request: { ...good, headers: { ...headers, [name.toLowerCase()]: value } },
      expected: name === "Idempotency-Key" && ignoresKey(good) ? DOCUMENTED : REFUSED,
    });
  for (const { name, required } of parametersIn(operation, "header")) {
    if (!required) continue;
    const { [name.toLowerCase()]: _left, ...rest } = headers;
    trials.push({ name: `without ${name}`, request: { ...good, headers: rest }, expected: status(428, 400, 404, 409) });
  }
  return trials;
}

/** Streams and dry runs ignore the header [idempotency.ignored]. */
function ignoresKey({ body }: Request): boolean {
  const text = typeof body === "string" ? body : Buffer.from(body ?? "").toString("latin1");
  return /"(?:dry_run|stream)"(?::|\r\n\r\n)(?:true|1)|"mode"(?::"|\r\n\r\n)realtime/u.test(text);
}

const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"];

const BAD_KEYS: readonly (readonly (readonly [string, string])[])[] = [
  [
    ["an unknown key", "Bearer svc_live_0000000000000000000000000000000000000000"],
    ["a key that was never created", "Bearer a-key-that-nobody-ever-made-01"],
  ],
  [
    ["no scheme", OPERATOR_KEY],
    ["another scheme", `Basic ${Buffer.from(`x:${OPERATOR_KEY}`).toString("base64")}`],
  ],
  [
    ["an empty key", "Bearer "],
    ["two keys", `Bearer ${APP_KEY} ${APP_KEY}`],
  ],
  [
    ["a key cut short", `Bearer ${OPERATOR_KEY.slice(0, -1)}`],
    ["a key in capitals", `Bearer ${ADMIN_KEY.toUpperCase()}`],
  ],
];

const ODD_TEXTS = [
  "\0",
  "a\0b",
  "\ufffd",
  "0000-02-29",
  "0000-02-29T00:00:00Z",
  "9999-12-31T23:59:59-12:00",
  "0001-01-01T00:00:00+12:00",
  "99999999999999999999",
];
const BAD_TEXTS = ["", "x", "-1", "1.5", "x".repeat(5_000), "2026-99-99", "\u0001", "null"];
/** What no client puts into a header. */
const CONTROL = /[^\x20-\x7e]/u;

function brokenParameters(operation: Operation, place: "query" | "header", validators: Validators, draw: Drawn) {
  const checked = parametersIn(operation, place).filter(({ name }) => !["If-Match", "wait"].includes(name));
  return checked.flatMap(({ name, schema }) => {
    const values = BAD_TEXTS.filter(
      (value) => !validators.admitsText(operation, schema, value) && (place === "query" || !CONTROL.test(value)),
    );
    return values.length === 0 ? [] : [{ name, value: draw(fc.constantFrom(...values)) }];
  });
}

function withQuery(target: string, name: string, value: string): string {
  const [path = "", query = ""] = target.split("?");
  const fields = new URLSearchParams(query);
  fields.set(name, value);
  return `${path}?${fields.toString()}`;
}
