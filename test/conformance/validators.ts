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
  // In our documents a format comes with a pattern; `binary` is no format of JSON Schema.
  const options = { strict: false, validateFormats: false, allErrors: false };
  const plain = new Ajv2020(options);
  const coercing = new Ajv2020({ ...options, coerceTypes: true });
  for (const [listener, document] of Object.entries(DOCUMENTS))
    for (const ajv of [plain, coercing]) ajv.addSchema({ $id: listener, ...document });
  const compiled = new Map<string, ValidateFunction>();
  // By its text: the same schema is asked about hundreds of times, and compiling it takes longer than asking.
  const compile = (ajv: Ajv2020, schema: object): ValidateFunction => {
    const text = `${ajv === plain} ${JSON.stringify(schema)}`;
    const known = compiled.get(text) ?? ajv.compile(schema);
    compiled.set(text, known);
    return known;
  };

  return {
    judge: ({ listener, responses }, status, mediaType, body) => {
      const schema = responses[String(status)]?.content?.[mediaType]?.schema ?? {};
      const validate = compile(plain, absolute(listener, schema));
      return validate(body) ? null : plain.errorsText(validate.errors);
    },
    admits: ({ listener }, schema, value) => compile(plain, absolute(listener, schema))(value),
    admitsText: ({ listener }, schema, text) =>
      // Boxed, because what is coerced is written back.
      compile(coercing, { type: "object", properties: { value: absolute(listener, schema) } })({ value: text }),
  };
}

/** References of a document mean that document wherever the schema is compiled. */
function absolute(listener: Listener, schema: Schema): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${listener}#/`)) as object;
}
