// Refuses query parameters that the endpoint does not have, like unknown fields: if ignored, they would seem to have an effect [api.unknown-query].
import { createFaults, type Faults } from "./validation-issues.ts";

/** For endpoints without a query. A route-control field is refused at once, because no error in the body has precedence over it. */
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
