// Collects the parts that operations of an OpenAPI document share, under their names: schemas, parameters, error responses and headers
// [api.openapi-components].
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { SchemaNames } from "../../contract/endpoints/schema-names.ts";

export type Json = Readonly<Record<string, unknown>>;
type Direction = "input" | "output";
type Place = "headers" | "parameters" | "responses";

const SCHEMAS_AT = "#/components/schemas/";

export class Components {
  readonly #names = z.registry<{ id: string }>();
  readonly #used = { input: new Set<string>(), output: new Set<string>() };
  readonly #shared: Readonly<Record<Place, Map<string, Json>>> = {
    headers: new Map(),
    parameters: new Map(),
    responses: new Map(),
  };

  constructor(names: SchemaNames) {
    for (const [id, schema] of Object.entries(names)) this.#names.add(schema, { id });
  }

  /** Refers to the schema of a body: of a request (`input`) or a response. Plain texts are not components. */
  schema(direction: Direction, schema: z.ZodType, body: string): Json {
    if (schema instanceof z.ZodString) return { type: "string" };
    const name = this.#names.get(schema)?.id;
    if (name === undefined) throw new Error(`the schema of ${body} has no name in schema-names.ts`);
    this.#used[direction].add(name);
    return { $ref: `${SCHEMAS_AT}${name}` };
  }

  share(place: Place, name: string, part: Json): Json {
    const present = this.#shared[place].get(name) ?? part;
    if (!isDeepStrictEqual(present, part)) throw new Error(`two ${place} have the name ${name}`);
    this.#shared[place].set(name, part);
    return { $ref: `#/components/${place}/${name}` };
  }

  toJson(): Json {
    const { headers, parameters, responses } = this.#shared;
    return {
      schemas: sorted(this.#schemas()),
      parameters: sorted(parameters),
      responses: sorted(responses),
      headers: sorted(headers),
    };
  }

  /** A field with a default is optional in a request and always present in a response, so that one zod schema can mean two. */
  #schemas(): ReadonlyMap<string, Json> {
    const input = this.#reachable("input");
    const output = this.#reachable("output");
    for (const [name, schema] of input)
      if (!isDeepStrictEqual(output.get(name) ?? schema, schema))
        throw new Error(`${name} differs between requests and responses: each needs its own schema and name`);
    return new Map([...input, ...output]);
  }

  #reachable(direction: Direction): ReadonlyMap<string, Json> {
    const { schemas } = z.toJSONSchema(this.#names, {
      io: direction,
      unrepresentable: "any",
      uri: (name) => `${SCHEMAS_AT}${name}`,
    });
    const reachable = new Map<string, Json>();
    const visit = (name: string): void => {
      const rendered = schemas[name];
      if (rendered === undefined || reachable.has(name)) return;
      const { $schema: _dialect, $id: _id, ...schema } = rendered;
      reachable.set(name, schema);
      for (const inner of namesIn(schema)) visit(inner);
    };
    for (const name of this.#used[direction]) visit(name);
    return reachable;
  }
}

/** `tenant_id` and `NOT_FOUND` as names of components: `TenantId`, `NotFound`. */
export function componentName(words: string): string {
  return words
    .toLowerCase()
    .split("_")
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join("");
}

/** The components to which a schema refers. */
function namesIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [inner.slice(SCHEMAS_AT.length)] : namesIn(inner),
  );
}

function sorted(parts: ReadonlyMap<string, Json>): Json {
  return Object.fromEntries([...parts].toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
