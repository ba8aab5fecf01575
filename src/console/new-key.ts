// Shows a new key once: the secret, an example call, and a test. Nothing is stored.
import type { KeyDescription } from "../contract/account.ts";
import type { KeyView } from "../contract/admin/keys.ts";
import { ask } from "../page/ask.ts";
import { button, copyButton, element } from "../page/element.ts";
import { showSecret } from "./dialog.ts";
import { callWithError } from "./call-with-error.ts";
import type { Visit } from "./visit.ts";
import { mark } from "./words.ts";

/** `said`: notes about the rotated key. Resolves when it is closed. */
export function showNewKey(visit: Visit, key: KeyView, ...said: readonly string[]): Promise<void> {
  const { name, secret = "" } = key;
  const isPublic = visit.scope.listener === "public";
  // Callers use the public listener: the admin page contains its address.
  const gateway = isPublic ? location.origin : (document.body.dataset["publicUrl"] ?? location.origin);
  const command = `curl -s ${gateway}/v1/me \\\n  -H 'Authorization: Bearer ${secret}'`;
  const tested = element("div", { role: "status" });
  return showSecret(
    `New key: ${name}`,
    secret,
    ...said.map((words) => element("p", {}, words)),
    element("h3", {}, "First request"),
    element("pre", {}, element("code", {}, command)),
    element(
      "div",
      { class: "row wrap" },
      copyButton("Copy request", () => command),
      ...(isPublic ? [testButton(secret, tested)] : []),
    ),
    ...(isPublic ? [tested] : []),
  );
}

/** Tests on the page's own listener, which avoids a cross-origin call. */
function testButton(secret: string, tested: HTMLElement): HTMLButtonElement {
  return button("Send a test request", async () => {
    const outcome = await callWithError(tested, () => ask<KeyDescription>("/v1/me", secret));
    if (outcome.ok) tested.append(element("p", {}, mark("good", "It works."), ` ${whoIs(outcome.data)}`));
  });
}

function whoIs({ app, workspace, key }: KeyDescription): string {
  return `Authenticated as ${key.name}, ${app === null ? "an administrator" : `of the app ${app.name}`} in ${workspace.slug}.`;
}
