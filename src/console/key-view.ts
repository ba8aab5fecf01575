// The page of one key: its permissions and expiry, rotation and revocation.
import type { AppView } from "../contract/admin/apps.ts";
import type { KeyView } from "../contract/admin/keys.ts";
import { element } from "../page/element.ts";
import { actionView } from "./action-view.ts";
import { NEW } from "./address.ts";
import { appLink } from "./app-form.ts";
import { purposeTable } from "./purpose-view.ts";
import { confirmed } from "./dialog.ts";
import { formView } from "./form-view.ts";
import { changePart } from "./key-form.ts";
import { isTest, keyTags, partsOf, stateView } from "./key-words.ts";
import { showNewKey } from "./new-key.ts";
import { fileNotice, isOfFile } from "./owner-view.ts";
import { quotaText } from "./quota-fields.ts";
import type { Visit } from "./visit.ts";
import { buttonLink, factList, link, orNone, part, timeView } from "./words.ts";

const OWN = "You are signed in with this key. When it stops working, sign in with another one.";

export async function showKey(visit: Visit, id: string): Promise<readonly Node[]> {
  const key = await visit.read<KeyView>(`/keys/${encodeURIComponent(id)}`);
  const app = key.app_id === null ? null : await visit.read<AppView>(`/apps/${key.app_id}`);
  const isWorking = key.state === "active";
  const around = element(
    "p",
    { class: "row wrap" },
    ...(isWorking && !isOfFile(key) ? [buttonLink(visit.link("keys", [key.id, "change"]), "Edit")] : []),
    ...(isWorking ? [] : [toMakeAnother(visit, app)]),
    link(visit.link("requests", [], { key: key.id }), "Requests"),
    link(visit.link("usage", [], { key: key.id, by: "day" }), "Usage"),
  );
  return [
    link(visit.link("keys"), "All keys"),
    part(`Key ${key.name}`, factsOf(visit, key, app), around),
    ...(key.purposes.length === 0
      ? []
      : [
          part(
            "Key purposes",
            purposeTable(key.purposes, "Purposes of this key only", (label) => label),
          ),
        ]),
    ...(isOfFile(key) ? [fileNotice("key")] : []),
    ...(isWorking && !isOfFile(key)
      ? [part("Rotate", ...rotation(visit, key)), part("Revoke", element("p", {}, REVOCATION), revocation(visit, key))]
      : []),
  ];
}

/** A separate view, so that viewing a key cannot change it. */
export async function changeKey(visit: Visit, id: string): Promise<readonly Node[]> {
  const { data: key, etag } = await visit.readWithEtag<KeyView>(`/keys/${encodeURIComponent(id)}`);
  return [link(visit.link("keys", [key.id]), `The key ${key.name}`), await changePart(visit, key, etag)];
}

function toMakeAnother(visit: Visit, app: AppView | null): HTMLElement {
  return buttonLink(visit.link("keys", [NEW], app === null ? {} : { app: app.slug }), "Create another key");
}

function factsOf(visit: Visit, key: KeyView, app: AppView | null): HTMLElement {
  const ofApp: readonly (readonly [string, Node | string])[] =
    app === null
      ? []
      : [
          ["Mode", isTest(key) ? "test: the sandbox answers" : "live"],
          ["Scopes", key.scopes.join(", ") || "nothing"],
          ["Route", key.route ?? `same as app (${orNone(app.route)})`],
          ["Audio route", key.audio_input_override ?? "same as app"],
        ];
  return factList([
    ["Key", element("div", {}, element("code", {}, partsOf(key)), ...keyTags(key, visit.ownKey))],
    ["State", stateView(key, false)],
    ["App", app === null ? "none (administrator key)" : link(appLink(visit, app), app.name)],
    ["Role", key.role === "admin" ? "admin: can administer the workspace" : "member"],
    ...ofApp,
    ["Quota", quotaText(key.quota)],
    ["Created", timeView(key.created_at)],
    ["Last used", key.last_used_at === null ? "never" : timeView(key.last_used_at)],
    ...(key.replaces === null
      ? []
      : [["Replaces", link(visit.link("keys", [key.replaces]), element("code", {}, key.replaces))] as const]),
    ["Id", element("code", {}, key.id)],
  ]);
}

function rotation(visit: Visit, key: KeyView): readonly Node[] {
  const form = formView<KeyView>({
    fields: [
      {
        kind: "select",
        name: "overlap_seconds",
        label: "Overlap",
        isRequired: true,
        hint: "Both keys work until then, so that you can deploy the new one.",
        choices: [
          ["0", "now"],
          ["3600", "in 1 hour"],
          ["86400", "in 1 day"],
          ["604800", "in 7 days"],
        ],
        value: "86400",
      },
    ],
    submit: "Rotate key",
    confirm: async ({ overlap_seconds: seconds }) =>
      seconds !== "0" ||
      confirmed(
        `Stop the old key (${partsOf(key)}) now?`,
        "Requests with the old key are rejected immediately. This cannot be undone.",
        "Rotate and stop the old key",
      ),
    send: ({ overlap_seconds: seconds }) =>
      visit.ask("POST", `/keys/${key.id}/rotate`, { body: { overlap_seconds: Number(seconds) } }),
    done: async (newKey) => {
      await showNewKey(visit, newKey, await fateOf(visit, key));
      visit.say(`The key ${newKey.name} is active.`);
      visit.go(visit.link("keys", [newKey.id]));
    },
  });
  const what = "Creates a new key with the same settings and a new secret, which is shown once.";
  return [element("p", {}, key.id === visit.ownKey ? `${what} ${OWN}` : what), form];
}

/** Describes the rotated key. Users who rotated the key they are signed in with, effective now, can no longer query it. */
async function fateOf(visit: Visit, { id, prefix, last4 }: KeyView): Promise<string> {
  const name = `The old key (${partsOf({ prefix, last4 })})`;
  const outcome = await visit.ask<KeyView>("GET", `/keys/${id}`);
  if (!outcome.ok || outcome.data.state !== "active") return `${name} no longer works.`;
  const { expires_at: end } = outcome.data;
  return `${name} works ${end === null ? "on" : `until ${new Date(end).toLocaleString()}`}.`;
}

const REVOCATION = "For a leaked or unused key. It stops working immediately.";

function revocation(visit: Visit, key: KeyView): HTMLElement {
  const own = key.id === visit.ownKey ? ` ${OWN}` : "";
  return actionView<KeyView>({
    label: "Revoke key",
    title: `Revoke the key ${key.name} (${partsOf(key)})?`,
    what: `Requests with it are rejected within 5 s, and its streams and live sessions end. Jobs and calls in progress are completed. This cannot be undone.${own}`,
    run: () => visit.ask("DELETE", `/keys/${key.id}`),
    done: async () => {
      await visit.redraw();
      visit.say(`The key ${key.name} was revoked.`);
    },
  });
}
