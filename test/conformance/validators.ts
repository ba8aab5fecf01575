// The documents' own schemas, compiled by an independent validator.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { DOCUMENTS, type Listener, type Operation, type Schema } from "./document.ts";

export interface Validators {
  /** What is wrong with a body of this status and media type, or null. */
  judge(operation: Operation, status: number, mediaType: string, body: unknown): string | null;
  admits(operation: Operation, schema: Schema, value: unknown): boolean;
  /** As a query or a header says it: numbers are texts there. */
  admitsText(operation: Operation, schema: Schema, text: string): boolean;
}

export function createValidators(): Validators {
  // Formats stand beside a pattern in our documents; `binary` is no format of JSON Schema.
  const options = { strict: false, validateFormats: false, allErrors: false };
  const plain = new Ajv2020(options);
  const coercing = new Ajv2020({ ...options, coerceTypes: true });
  for (const [listener, document] of Object.entries(DOCUMENTS))
    for (const ajv of [plain, coercing]) ajv.addSchema({ $id: listener, ...document });
  const compiled = new Map<string, ValidateFunction>();

  const compile = (pointer: string): ValidateFunction => {
    const known = compiled.get(pointer) ?? plain.compile({ $ref: pointer });
    compiled.set(pointer, known);
    return known;
  };

  return {
    judge: ({ listener, path, method }, status, mediaType, body) => {
      const steps = ["paths", path, method.toLowerCase(), "responses", String(status), "content", mediaType, "schema"];
      const validate = compile(`${listener}#/${steps.map(escape).join("/")}`);
      return validate(body) ? null : plain.errorsText(validate.errors);
    },
    admits: ({ listener }, schema, value) => plain.validate(absolute(listener, schema), value),
    admitsText: ({ listener }, schema, text) =>
      // Boxed, because what is coerced is written back.
      coercing.validate({ type: "object", properties: { value: absolute(listener, schema) } }, { value: text }),
  };
}

function escape(step: string): string {
  return encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** References of a document mean that document wherever the schema is compiled. */
function absolute(listener: Listener, schema: Schema): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${listener}#/`)) as object;
}
