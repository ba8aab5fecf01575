// The key: typed once, kept in this tab alone, and asked what it may do.
import type { KeyDescription } from "../contract/account.ts";
import { getMe } from "./api.ts";
import { byId, element } from "../page/element.ts";
import { wordsOf } from "../page/error-view.ts";
import { kept } from "../page/keep.ts";

const KEPT = "patchbay.key";

/** Answers the key in use, or null. */
export function useKey(): () => string | null {
  const form = byId("key-form", HTMLFormElement);
  const input = byId("key", HTMLInputElement);
  const status = byId("key-status", HTMLElement);
  let key = kept()?.getItem(KEPT) ?? "";
  input.value = key;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void tell();
  });
  void tell();
  return () => {
    // Whoever typed a key and went on meant it.
    if (input.value.trim() !== key) void tell();
    return key === "" ? null : key;
  };

  async function tell(): Promise<void> {
    key = input.value.trim();
    kept()?.setItem(KEPT, key);
    if (key === "") return status.replaceChildren(whereKeysAre());
    status.replaceChildren(element("p", { class: "soft" }, "Asking the gateway…"));
    const asked = key;
    const outcome = await getMe(key);
    if (asked !== key) return;
    if (outcome.ok) return status.replaceChildren(...describe(outcome.data));
    const { failure } = outcome;
    const isRefused = failure.kind === "refused" && !failure.error.retryable;
    const title = isRefused ? "This key does not work. " : "What this key may do is not known. ";
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
    " where it runs. Otherwise ask whoever runs this gateway for one. It stays in this tab.",
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
    element("p", { class: "soft" }, `Can be asked: ${able.join(", ") || "plain text"}.`),
    element(
      "p",
      { class: "soft" },
      usable.length === 0 ? "No purposes." : `Purposes: ${usable.map(({ purpose }) => purpose).join(", ")}.`,
    ),
  ];
  if (!key.scopes.includes("transcribe")) lines.push(element("p", { class: "bad" }, "It lacks the scope transcribe."));
  return lines;
}
