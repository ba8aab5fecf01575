// The settings of a workspace's webhook, with a button for each action.
import type { WebhookView } from "../contract/webhook.ts";
import { button, element } from "../page/element.ts";
import { type Field, formView } from "./form-view.ts";
import type { Answer, Visit } from "./visit.ts";
import {
  type Changing,
  changed,
  endPrevious,
  remove,
  rotate,
  sendTest,
  start,
  stop,
  WEBHOOK,
} from "./webhook-changes.ts";
import { factList, mark, part, timeView } from "./words.ts";

const URL_FIELD = {
  kind: "text",
  name: "url",
  label: "Receiver URL",
  hint: "https, any port. It must resolve to a public address.",
  placeholder: "https://hooks.example.com/patchbay",
  isRequired: true,
} as const satisfies Field;

export function setUpView(visit: Visit): HTMLElement {
  return part(
    "Set up",
    element(
      "p",
      {},
      "No webhook yet. A webhook sends a signed event to your receiver when a job ends; the app then fetches the transcript. For a receiver on your own machine, use ",
      element("code", {}, "patchbay listen"),
      ".",
    ),
    formView<WebhookView>({
      fields: [URL_FIELD],
      submit: "Set up",
      // A webhook created meanwhile by another user is not replaced.
      send: (body) => visit.ask("PUT", WEBHOOK, { body, isFirst: true }),
      done: (made) => changed(visit, made, "The webhook was set up."),
      again: () => visit.redraw(),
    }),
  );
}

export function settingsView(visit: Visit, { data: webhook, etag }: Answer<WebhookView>): HTMLElement {
  const problem = element("div", {});
  const changing: Changing = { visit, webhook, etag, problem };
  const buttons = [
    buttonWithId("webhook-test", "Send a test delivery", () => sendTest(changing)),
    webhook.enabled
      ? buttonWithId("webhook-switch", "Disable deliveries", () => stop(changing))
      : buttonWithId("webhook-switch", "Enable deliveries", () => start(changing)),
    buttonWithId("webhook-rotate", "Rotate secret", () => rotate(changing)),
    ...(webhook.previous_secret_until === null
      ? []
      : [buttonWithId("webhook-previous", "Revoke the previous secret", () => endPrevious(changing))]),
    buttonWithId("webhook-remove", "Remove", () => remove(changing), "danger"),
  ];
  return part(
    "Settings",
    factsOf(webhook),
    element("div", { class: "row wrap" }, ...buttons),
    problem,
    element("details", {}, element("summary", {}, "Change URL"), moveForm(changing)),
  );
}

/** The id restores the focus after the screen is redrawn. */
function buttonWithId(id: string, label: string, press: () => void | Promise<void>, look = ""): HTMLButtonElement {
  const own = button(label, press);
  own.id = id;
  own.className = look;
  return own;
}

function moveForm({ visit, webhook: { url, enabled }, etag: ifMatch }: Changing): HTMLFormElement {
  return formView<WebhookView>({
    fields: [{ ...URL_FIELD, value: url }],
    submit: "Save",
    send: (body) => visit.ask("PUT", WEBHOOK, { body: { ...body, enabled }, ifMatch }),
    done: (made) => changed(visit, made, "The URL was changed."),
    again: () => visit.redraw(),
  });
}

function factsOf(webhook: WebhookView): HTMLElement {
  const { previous_secret_until: previous, failing_since: failing } = webhook;
  return factList([
    ["Address", element("code", {}, webhook.url)],
    ["State", stateOf(webhook)],
    ...(webhook.disabled_at === null ? [] : [["Disabled", timeView(webhook.disabled_at)] as const]),
    ...(failing === null ? [] : [["Failing since", timeView(failing)] as const]),
    ["Secret", element("span", {}, "ends in ", element("code", {}, webhook.secret_last4))],
    ...(previous === null
      ? []
      : [["Previous secret", element("span", {}, "also signs until ", timeView(previous))] as const]),
    ["Changed", timeView(webhook.updated_at)],
  ]);
}

const STOPPED: Readonly<Record<NonNullable<WebhookView["disabled_reason"]>, string>> = {
  owner: "disabled by an administrator",
  gone: "disabled: the receiver responded 410",
  failing: "disabled: all deliveries failed for five days",
};

function stateOf({ disabled_reason: reason, failing_since: failing }: WebhookView): HTMLElement {
  if (reason !== null) return mark(reason === "owner" ? "soft" : "bad", STOPPED[reason]);
  return failing === null ? mark("good", "delivers") : mark("warn", "enabled, but the latest attempts failed");
}
