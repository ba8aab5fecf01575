// A key that was made, this once: the secret, a first call with it, and whether it works. Nothing of it is kept.
import type { KeyDescription } from "../contract/account.ts";
import type { KeyView } from "../contract/keys.ts";
import { ask } from "../page/ask.ts";
import { button, copyButton, element } from "../page/element.ts";
import { failureView } from "../page/error-view.ts";
import { showSecret } from "./dialog.ts";
import type { Visit } from "./visit.ts";
import { mark } from "./words.ts";

/** `said`: what else its reader should know, of the key that it took over from. Ends when it is closed. */
export function showNewKey(visit: Visit, key: KeyView, ...said: readonly string[]): Promise<void> {
  const { name, secret = "" } = key;
  const isPublic = visit.scope.listener === "public";
  const command = `curl -s ${isPublic ? location.origin : "$GATEWAY"}/v1/me \\\n  -H 'Authorization: Bearer ${secret}'`;
  return showSecret(
    `New key: ${name}`,
    secret,
    ...said.map((words) => element("p", {}, words)),
    element("h3", {}, "A first call"),
    ...(isPublic ? [] : [element("p", { class: "soft" }, "$GATEWAY is the address under which callers reach it.")]),
    element("pre", {}, element("code", {}, command)),
    element(
      "div",
      { class: "row wrap" },
      copyButton("Copy the call", () => command),
      ...(isPublic ? [testButton(secret)] : []),
    ),
    ...(isPublic ? [element("div", { id: "test-call", role: "status" })] : []),
  );
}

/** The page's own listener takes the call: no other origin is asked. */
function testButton(secret: string): HTMLButtonElement {
  return button("Make a test call", async (own) => {
    const outcome = await ask<KeyDescription>("/v1/me", secret);
    const words = outcome.ok ? [mark("good", "It works."), ` ${whoIs(outcome.data)}`] : [];
    const shown = outcome.ok ? element("p", {}, ...words) : failureView(outcome.failure, outcome.requestId);
    own.closest("dialog")?.querySelector("#test-call")?.replaceChildren(shown);
  });
}

function whoIs({ app, workspace, key }: KeyDescription): string {
  return `The gateway knows it as ${key.name}, ${app === null ? "an administrator" : `of the app ${app.name}`} in ${workspace.slug}.`;
}
