// Validates connections and routes sent to the admin API with the schema and the cross-checks of the configuration file, so that both report the same
// faults, and all of them at once [admin.all-faults].
import type { z } from "zod";
import { checkConnection } from "../config/check-connection.ts";
import { checkRoute, type SetUpScope } from "../config/check-route.ts";
import { type FaultPath, formatPath } from "../config/fault.ts";
import { type SchemaFault, schemaFaults } from "../config/schema-faults.ts";
import type { GatewayError } from "../contract/errors.ts";
import { invalidRequests } from "../contract/invalid-request.ts";
import { connectionSection, type ParsedConnection } from "../contract/settings/connection.ts";
import { type ParsedRouteRequest, routeRequest } from "../contract/settings/route.ts";

const ROOT: FaultPath = [];

/** `credential`: the stored one, which is kept if the body contains none. */
export function judgeConnection(body: object, credential: string | null): ParsedConnection {
  const parsed = parse(connectionSection, body);
  const value = { ...body, api_key: parsed.apiKey ?? credential };
  throwIfFaulty(checkConnection({ path: ROOT, value }));
  return { ...parsed, apiKey: value.api_key };
}

export function judgeRoute(body: object, scope: SetUpScope): ParsedRouteRequest {
  const parsed = parse(routeRequest, body);
  throwIfFaulty(checkRoute({ path: ROOT, value: body }, scope));
  return parsed;
}

/** Validates a stored definition against current objects: an account or a route may have been deleted since it was written. */
export function judgeStoredRoute(definition: unknown, scope: SetUpScope): void {
  throwIfFaulty(storedRouteFaults(definition, scope));
}

export function storedRouteFaults(definition: unknown, scope: SetUpScope): readonly SchemaFault[] {
  return checkRoute({ path: ROOT, value: definition }, scope);
}

export function parse<S extends z.ZodType>(schema: S, body: object): z.output<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw refusal(schemaFaults(schema, body, parsed.error.issues, (path) => path.at(-1) !== "api_key"));
}

function throwIfFaulty(faults: readonly SchemaFault[]): void {
  if (faults.length > 0) throw refusal(faults);
}

function refusal(faults: readonly SchemaFault[]): GatewayError {
  return invalidRequests(
    faults.map(({ path, message, suggestion }) => {
      const param = path.length === 0 ? null : formatPath(path);
      const hint = suggestion === undefined ? "" : ` (did you mean \`${suggestion}\`?)`;
      return { param, message: `${param === null ? "" : `${param}: `}${message}${hint}` };
    }),
  );
}
