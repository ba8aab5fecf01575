// Asks before a route is saved, published or rolled back with a model that has ended or ends soon, and sends it again with the confirmation
// [console.confirms-ending].
import type { RouteView } from "../contract/admin/routes.ts";
import type { Failure, Outcome } from "../page/ask.ts";
import { confirmed } from "./dialog.ts";

type Body = Readonly<Record<string, unknown>>;

export async function sendConfirmingEnd(
  send: (body: Body) => Promise<Outcome<RouteView>>,
  body: Body,
  label = "Save anyway",
): Promise<Outcome<RouteView>> {
  const outcome = await send(body);
  const ending = outcome.ok ? null : endingIn(outcome.failure);
  if (ending === null || !(await confirmed("Use a model that ends?", ending, label))) return outcome;
  return send({ ...body, confirm_ending: true });
}

/** Null: it was refused for another reason. */
function endingIn(failure: Failure): string | null {
  if (failure.kind !== "refused") return null;
  const { details, message } = failure.error;
  return details?.["reason"] === "model_ending" ? message : null;
}
