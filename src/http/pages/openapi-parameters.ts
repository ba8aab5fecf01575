// The parameters of an operation in OpenAPI. Those of paths, and those with a name in the contract, are components.
import { z } from "zod";
import { type EndpointContract, pathParameters } from "../../contract/endpoints/endpoint.ts";
import { PARAMETER_NAMES } from "../../contract/endpoints/parameter-names.ts";
import { componentName, type Components, type Json } from "./openapi-components.ts";

const NAMES = new Map<unknown, string>(Object.entries(PARAMETER_NAMES).map(([name, field]) => [field, name]));

/** `pathValues`: examples of path parameters by name. */
export function parametersOf(
  contract: EndpointContract,
  components: Components,
  pathValues: Readonly<Record<string, string>>,
): readonly Json[] {
  return [
    ...pathParameters(contract).map((name) =>
      components.share("parameters", componentName(name), {
        name,
        in: "path",
        required: true,
        schema: { type: "string" },
        ...(pathValues[name] === undefined ? {} : { example: pathValues[name] }),
      }),
    ),
    ...fieldsIn("query", contract.query, components),
    ...fieldsIn("header", contract.headers, components),
  ];
}

function fieldsIn(place: "query" | "header", object: z.ZodObject | undefined, components: Components): readonly Json[] {
  if (object === undefined) return [];
  const schema = z.toJSONSchema(object, { io: "input", unrepresentable: "any" });
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = typeof property === "boolean" ? {} : property;
    const parameter = {
      name,
      in: place,
      required: required.has(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
    const shared = NAMES.get(object.shape[name]);
    return shared === undefined ? parameter : components.share("parameters", shared, parameter);
  });
}
