// Returns the app that provides the routes and budgets of a request: the app of its key. Administrators' keys have none.
import type { AppInfo, Principal } from "../../auth/principal.ts";
import { GatewayError } from "../../contract/errors.ts";

export function appOf({ app }: Pick<Principal, "app">): AppInfo {
  if (app !== null) return app;
  throw new GatewayError("FORBIDDEN", {
    message: "This key belongs to no app, so it has no route. Use an app's key.",
    details: { required: ["app"] },
  });
}
