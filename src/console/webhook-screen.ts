// The completion webhook of a workspace: its settings, where they can be changed, and its delivery log.
import type { DeliveryView, WebhookView } from "../contract/webhook.ts";
import { element } from "../page/element.ts";
import { deliveriesList, STATUS_FILTER } from "./deliveries-list.ts";
import type { Delivery } from "./delivery-attempts.ts";
import { filterView, filtersIn } from "./filter-view.ts";
import type { LiveList } from "./live-list.ts";
import { callWithError } from "./call-with-error.ts";
import { type Answer, Unanswered, type Visit } from "./visit.ts";
import { WEBHOOK } from "./webhook-changes.ts";
import { settingsView, setUpView } from "./webhook-settings.ts";
import { part } from "./words.ts";

const FILTERS = [STATUS_FILTER];

export async function showWebhook(visit: Visit): Promise<readonly Node[]> {
  // Its settings are on the public listener only.
  const isOwn = visit.scope.listener === "public";
  const webhook = isOwn ? await webhookOf(visit) : null;
  const settings = isOwn ? (webhook === null ? setUpView(visit) : settingsView(visit, webhook)) : elsewhereView();
  return [settings, ...(await logOf(visit, webhook?.data.enabled === true))];
}

/** Null: there is none. */
async function webhookOf(visit: Visit): Promise<Answer<WebhookView> | null> {
  const outcome = await visit.ask<WebhookView>("GET", WEBHOOK);
  if (outcome.ok) return outcome;
  if (outcome.failure.kind === "refused" && outcome.failure.status === 404) return null;
  throw new Unanswered(outcome);
}

function elsewhereView(): HTMLElement {
  return part(
    "Settings",
    element(
      "p",
      {},
      "Webhooks are managed on the gateway's public address, in its console with an administrator key of this workspace, or with ",
      element("code", {}, "patchbay webhooks"),
      ". Events can be redelivered there, too.",
    ),
  );
}

async function logOf(visit: Visit, canRedeliver: boolean): Promise<readonly Node[]> {
  const query = filtersIn(visit, FILTERS);
  const problem = element("div", {});
  const list: LiveList<Delivery> = await deliveriesList(visit, {
    path: `${WEBHOOK}/deliveries?${query}`,
    empty:
      query === ""
        ? "No deliveries in the last seven days. Each job that ends creates one."
        : "No deliveries match this filter.",
    ...(canRedeliver ? { again: redeliver } : {}),
  });
  return [element("h2", {}, "Deliveries"), filterView(visit, FILTERS), problem, list.view];

  async function redeliver({ id }: Delivery): Promise<void> {
    const path = `${WEBHOOK}/deliveries/${encodeURIComponent(id)}/redeliver`;
    const outcome = await callWithError(problem, () => visit.ask<DeliveryView>("POST", path));
    if (!outcome.ok) return;
    visit.say("The event will be redelivered under the same id. Earlier attempts are kept.");
    list.put(outcome.data);
  }
}
