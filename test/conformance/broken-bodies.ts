// Bodies that an operation's schema, or its media type, does not admit.
import * as fc from "fast-check";
import { type Operation, resolve } from "./document.ts";
import { bodiesOf, type Draft, type Drawn, formOf, isNamedByPath, type Request } from "./requests.ts";
import { DOCUMENTED, type Expectation, REFUSED, status, type Trial } from "./trial.ts";
import type { Validators } from "./validators.ts";

/** Admitted or not, never a fault: text that no column can hold, figures at the edge of what is exact. */
const ODD_VALUES: readonly unknown[] = [
  "\0",
  "a\0b",
  "\ud800",
  "0000-02-29T00:00:00Z",
  "9999-12-31T23:59:59-12:00",
  "999999999.999999999",
  Number.MAX_SAFE_INTEGER,
  2_147_483_648,
  5e-324,
  ["\0"],
  { a: "x\0y" },
  { "a\0": "x" },
];

/** A value of each kind; whichever its schema does not admit is a broken one. */
const STRANGERS: readonly unknown[] = [
  true,
  7,
  -1.5,
  "",
  "x",
  [],
  ["x", 1],
  {},
  { unlisted: 1 },
  "x".repeat(20_000),
  1e300,
];

export function brokenBodies(
  operation: Operation,
  draft: Draft,
  good: Request,
  validators: Validators,
  draw: Drawn,
): readonly Trial[] {
  const { json, form } = bodiesOf(operation);
  const schema = draft.isForm ? form : json;
  if (schema === undefined || good.body === null) return [];
  const trial = (name: string, change: Partial<Request>, expected: Expectation): Trial => ({
    name,
    request: { ...good, ...change },
    expected,
  });
  const typed = (type: string, body: Request["body"] = good.body): Partial<Request> => ({
    headers: { ...good.headers, "content-type": type },
    body,
  });
  const { "content-type": _type, ...untyped } = good.headers;
  const trials = [
    trial("content type text/plain", typed("text/plain"), status(415, 403, 404)),
    trial("no content type", { headers: untyped }, status(415, 403, 404)),
    trial("compressed body", { headers: { ...good.headers, "content-encoding": "gzip" } }, status(415, 403, 404)),
    trial("no body", { body: "" }, status(400, 403, 404)),
  ];
  if (draft.isForm)
    trials.push(
      trial("a form without an end", { body: (good.body as Uint8Array).subarray(0, -4) }, status(400, 403, 404)),
      trial("a form without a boundary", typed("multipart/form-data"), status(400, 403, 404)),
    );
  else {
    const text = String(good.body);
    const broken = draw(
      fc.constantFrom(
        "{",
        "[]",
        "null",
        '"x"',
        "7",
        text.slice(0, -1),
        `${text}x`,
        text.replace("{", '{"a":1,"a":2,'),
        "[".repeat(5_000),
        "\ufeff\ufffe{}",
      ),
    );
    trials.push(
      trial("no JSON object", { body: broken }, status(400, 403, 404)),
      trial(
        "not UTF-8",
        { body: Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc0]), Buffer.from('"}')]) },
        status(400, 403, 404),
      ),
    );
  }
  const { properties = {}, required = [], additionalProperties } = resolve(operation.listener, schema);
  const fields = draft.body as Readonly<Record<string, unknown>>;
  const sent = (name: string, body: Readonly<Record<string, unknown>>, expected = REFUSED): Trial =>
    trial(name, { body: draft.isForm ? formOf(body) : JSON.stringify(body) }, expected);
  // A connection's fields are judged as the file's are: once its owner is known.
  const owned = /^replace(?:Platform)?Connection$/u.test(operation.operationId) ? [409] : [];
  if (additionalProperties === false)
    trials.push(sent("unknown field", { ...fields, unlisted_field: "x" }, status(400, 403, 404, ...owned)));
  const needed = required.filter((name) => !isNamedByPath(operation, name));
  if (needed.length > 0) {
    const name = draw(fc.constantFrom(...needed));
    const { [name]: _left, ...rest } = fields;
    trials.push(sent(`without ${name}`, rest));
  }
  const names = Object.keys(properties);
  // In a form every value is text, and what text means a boolean or a list is not for JSON Schema to say.
  if (draft.isForm || names.length === 0) return trials;
  for (let round = 0; round < 3; round += 1) {
    const name = draw(fc.constantFrom(...names));
    const odd = ODD_VALUES.filter((value) => validators.admits(operation, properties[name] ?? {}, value));
    if (odd.length > 0) {
      const value = draw(fc.constantFrom(...odd));
      trials.push(sent(`odd ${name} = ${JSON.stringify(value)}`, { ...fields, [name]: value }, DOCUMENTED));
    }
    const strangers = STRANGERS.filter((value) => !validators.admits(operation, properties[name] ?? {}, value));
    if (strangers.length === 0) continue;
    const stranger = draw(fc.constantFrom(...strangers));
    trials.push(sent(`${name} = ${JSON.stringify(stranger).slice(0, 40)}`, { ...fields, [name]: stranger }));
  }
  return trials;
}
