// Collects the schemas of an OpenAPI document under their names. The same schema object becomes one component; plain strings stay inline.
import { z } from "zod";

type Json = Record<string, unknown>;

export class Components {
  readonly #input = z.registry<{ id: string }>();
  readonly #output = z.registry<{ id: string }>();
  readonly #taken = new Set<string>();

  input(schema: z.ZodType, name: string): Json {
    return this.#refer(this.#input, schema, name, "input");
  }

  output(schema: z.ZodType, name: string): Json {
    return this.#refer(this.#output, schema, name, "output");
  }

  toJson(): Json {
    const all = [this.#render(this.#input, "input"), this.#render(this.#output, "output")];
    const entries = all.flatMap((schemas) => Object.entries(schemas));
    return Object.fromEntries(entries.toSorted(([left], [right]) => (left < right ? -1 : 1)));
  }

  #refer(registry: z.core.$ZodRegistry<{ id: string }>, schema: z.ZodType, name: string, io: "input" | "output"): Json {
    if (schema instanceof z.ZodString) return { type: "string" };
    const existingId = registry.get(schema)?.id;
    if (existingId !== undefined) return { $ref: `#/components/schemas/${existingId}` };
    // A schema's own id, from `.meta({ id })`, is the most readable name.
    const preferredName = z.globalRegistry.get(schema)?.id ?? name;
    const id = this.#taken.has(preferredName)
      ? `${preferredName}${io === "input" ? "Input" : "Output"}`
      : preferredName;
    if (this.#taken.has(id)) throw new Error(`two schemas want the name ${id} in OpenAPI`);
    this.#taken.add(id);
    registry.add(schema, { id });
    return { $ref: `#/components/schemas/${id}` };
  }

  #render(registry: z.core.$ZodRegistry<{ id: string }>, io: "input" | "output"): Json {
    const { schemas } = z.toJSONSchema(registry, {
      io,
      unrepresentable: "any",
      uri: (id) => `#/components/schemas/${id}`,
    });
    return Object.fromEntries(
      Object.entries(schemas).map(([id, { $schema: _dialect, $id: _id, ...schema }]) => [id, schema]),
    );
  }
}
