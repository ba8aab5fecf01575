// Refuses query parameters that the endpoint does not have, like unknown fields: if ignored, they would seem to have an effect [api.unknown-query].
import type { HttpRequest } from "../server/endpoint.ts";
import { createFaults, type Faults } from "./validation-issues.ts";

/** For endpoints without a query. A route-control field is refused at once, because no error in the body has precedence over it. */
export function refuseQuery(query: HttpRequest["query"], faults: Faults): void {
  let isRouteControl = false;
  for (const name of Object.keys(query)) {
    if (faults.noteRouteControl(name)) isRouteControl = true;
    else faults.add(name, `\`${name}\` is not a query parameter of this endpoint.`);
  }
  if (isRouteControl) faults.throwIfAny();
}

export function refuseAnyQuery(query: HttpRequest["query"]): void {
  if (Object.keys(query).length === 0) return;
  const faults = createFaults();
  refuseQuery(query, faults);
  faults.throwIfAny();
}
