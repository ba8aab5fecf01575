// The API key: entered once, stored in this tab only, and checked for its permissions.
import type { KeyDescription } from "../contract/account.ts";
import { getMe } from "./api.ts";
import { byId, element } from "../page/element.ts";
import { wordsOf } from "../page/error-view.ts";
import { kept } from "../page/keep.ts";

const KEPT = "patchbay.key";

/** Returns a function for the current key, or null. */
export function useKey(): () => string | null {
  const form = byId("key-form", HTMLFormElement);
  const input = byId("key", HTMLInputElement);
  const status = byId("key-status", HTMLElement);
  let key = kept()?.getItem(KEPT) ?? "";
  input.value = key;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void showKey();
  });
  void showKey();
  return () => {
    // A key that was typed but not submitted is used.
    if (input.value.trim() !== key) void showKey();
    return key === "" ? null : key;
  };

  async function showKey(): Promise<void> {
    key = input.value.trim();
    kept()?.setItem(KEPT, key);
    if (key === "") return status.replaceChildren(whereKeysAre());
    status.replaceChildren(element("p", { class: "soft" }, "Checking the key…"));
    const requestedKey = key;
    const outcome = await getMe(key);
    if (requestedKey !== key) return;
    if (outcome.ok) return status.replaceChildren(...describe(outcome.data));
    const { failure } = outcome;
    const isRefused = failure.kind === "refused" && !failure.error.retryable;
    const title = isRefused ? "This key does not work. " : "The key's permissions could not be read. ";
    status.replaceChildren(
      element("p", { class: "bad" }, element("strong", {}, title), wordsOf(failure)),
      whereKeysAre(),
    );
  }
}

function whereKeysAre(): HTMLElement {
  const file = element("code", {}, "data/cli-key");
  return element(
    "p",
    { class: "soft" },
    "The first start printed a key in its terminal, and keeps it in ",
    file,
    " where it runs. Otherwise ask the operator for one. It is stored in this tab only.",
  );
}

function describe({
  key,
  app,
  workspace,
  purposes,
  routing_contexts: contexts,
}: KeyDescription): readonly HTMLElement[] {
  const usable = purposes.filter((purpose) => purpose.is_enabled);
  byId("purposes", HTMLDataListElement).replaceChildren(
    ...usable.map(({ purpose, description }) => element("option", { value: purpose }, description)),
  );
  const hearing = contexts.filter(({ capabilities }) => capabilities.includes("audio_input"));
  const features = hearing.flatMap((context) => Object.entries(context.features));
  const able = [...new Set(features.flatMap(([name, can]) => (can ? [name] : [])))];
  const lines = [
    element(
      "p",
      { class: "good" },
      `App ${app?.name ?? key.name}, workspace ${workspace.slug} `,
      element("span", { class: "soft" }, `(${key.prefix}…${key.last4})`),
    ),
    element("p", { class: "soft" }, `Available features: ${able.join(", ") || "plain text"}.`),
    element(
      "p",
      { class: "soft" },
      usable.length === 0 ? "No purposes." : `Purposes: ${usable.map(({ purpose }) => purpose).join(", ")}.`,
    ),
  ];
  if (!key.scopes.includes("transcribe")) lines.push(element("p", { class: "bad" }, "It lacks the scope transcribe."));
  return lines;
}
