// Returns the app of a key, which provides the routes and budgets of its requests. Throws 403 for an administrator's key, which has none.
import type { AppInfo, Principal } from "../../auth/principal.ts";
import { GatewayError } from "../../contract/errors.ts";

export function appOf({ app }: Pick<Principal, "app">): AppInfo {
  if (app !== null) return app;
  throw new GatewayError("FORBIDDEN", {
    message: "This key belongs to no app, so it has no route. Use an app's key.",
    details: { required: ["app"] },
  });
}
