// A query parameter that the endpoint does not have is refused like an unknown field: ignored, it would seem to have had an effect
// [api.unknown-query].
import { createFaults, type Faults } from "./validation-issues.ts";

/** Of an endpoint without a query. A route-control field ends it at once: nothing in a body can outrank it. */
export function refuseQuery(query: unknown, faults: Faults): void {
  let isRouteControl = false;
  for (const name of Object.keys(query as Readonly<Record<string, unknown>>)) {
    if (faults.noteRouteControl(name)) isRouteControl = true;
    else faults.add(name, `\`${name}\` is not a query parameter of this endpoint.`);
  }
  if (isRouteControl) faults.throwIfAny();
}

export function refuseAnyQuery(query: unknown): void {
  if (Object.keys(query as object).length === 0) return;
  const faults = createFaults();
  refuseQuery(query, faults);
  faults.throwIfAny();
}
