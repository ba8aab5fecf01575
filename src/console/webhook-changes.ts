// Actions on a workspace's webhook, each with a confirmation and its error at the button.
import type { DeliveryView, WebhookView } from "../contract/webhook.ts";
import { button, element } from "../page/element.ts";
import { outcomeText } from "./delivery-attempts.ts";
import { confirmed, showDialog, showSecret } from "./dialog.ts";
import { formView } from "./form-view.ts";
import { callWithError } from "./call-with-error.ts";
import type { Visit } from "./visit.ts";

export const WEBHOOK = "/stt-webhook";

export interface Changing {
  readonly visit: Visit;
  readonly webhook: WebhookView;
  /** ETag of the shown state, so that a concurrent change is not overwritten. */
  readonly etag: string | null;
  /** Element that shows a refusal. */
  readonly problem: HTMLElement;
}

/** Shows the secret if the change created one. */
export async function changed(visit: Visit, { secret }: WebhookView, what: string): Promise<void> {
  if (secret !== undefined)
    await showSecret(
      "Signing secret",
      secret,
      element("p", {}, "Your receiver uses it to verify signatures. The prefix whsec_ is part of it."),
    );
  visit.say(what);
  await visit.redraw();
}

/** Sends all fields, because a `PUT` replaces the whole. */
async function putWebhook(
  { visit, webhook: { url, enabled }, etag: ifMatch, problem }: Changing,
  change: Readonly<Record<string, boolean>>,
  what: string,
): Promise<void> {
  const body = { url, enabled, ...change };
  const outcome = await callWithError(
    problem,
    () => visit.ask<WebhookView>("PUT", WEBHOOK, { body, ifMatch }),
    () => visit.redraw(),
  );
  if (outcome.ok) await changed(visit, outcome.data, what);
}

export async function sendTest({ visit, problem }: Changing): Promise<void> {
  const outcome = await callWithError(problem, () => visit.ask<DeliveryView>("POST", `${WEBHOOK}/test`));
  if (!outcome.ok) return;
  const [attempt] = outcome.data.attempts;
  const came = attempt === undefined ? "its result is not known yet" : outcomeText(attempt);
  visit.say(`The test delivery ${outcome.data.status === "delivered" ? "arrived" : "failed"}: ${came}.`);
  await visit.redraw();
}

export const start = (changing: Changing): Promise<void> =>
  putWebhook(changing, { enabled: true }, "Deliveries were enabled.");

export async function stop(changing: Changing): Promise<void> {
  const what =
    "Jobs that end from now on create no deliveries. Pending deliveries fail and can be redelivered. You can enable deliveries again at any time.";
  if (await confirmed("Disable deliveries?", what, "Disable deliveries"))
    await putWebhook(changing, { enabled: false }, "Deliveries were disabled.");
}

export async function endPrevious(changing: Changing): Promise<void> {
  const what =
    "Deliveries are signed with the new secret only. Receivers with the old secret reject them. This cannot be undone.";
  if (await confirmed("Revoke the previous secret?", what, "Revoke"))
    await putWebhook(changing, { revoke_previous: true }, "The previous secret was revoked.");
}

export async function remove({ visit, etag: ifMatch, problem }: Changing): Promise<void> {
  const what =
    "No more deliveries are created, and pending ones fail. The address and the signing secret are deleted; a new webhook gets a new secret. The log is kept for seven days.";
  if (!(await confirmed("Remove the webhook?", what, "Remove"))) return;
  if (
    !(
      await callWithError(
        problem,
        () => visit.ask("DELETE", WEBHOOK, { ifMatch }),
        () => visit.redraw(),
      )
    ).ok
  )
    return;
  visit.say("The webhook was removed.");
  await visit.redraw();
}

export function rotate({ visit, webhook: { url, enabled }, etag: ifMatch }: Changing): void {
  const form = formView<WebhookView>({
    fields: [
      {
        kind: "check",
        name: "revoke_previous",
        label: "The old secret leaked: revoke it immediately",
        hint: "Otherwise deliveries are signed with both secrets for 24 hours, so that you can update your receiver.",
      },
    ],
    submit: "Create secret",
    send: (body) => visit.ask("PUT", WEBHOOK, { body: { ...body, url, enabled, rotate_secret: true }, ifMatch }),
    done: (webhook) => {
      dialog.close();
      return changed(visit, webhook, "Deliveries are now signed with the new secret.");
    },
    again: () => {
      dialog.close();
      return visit.redraw();
    },
  });
  const cancel = button("Cancel", () => dialog.close());
  const dialog = showDialog("New signing secret", form, element("div", { class: "row" }, cancel));
}
