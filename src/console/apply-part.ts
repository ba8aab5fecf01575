// Rereads the gateway's configuration file: shows the differences first, and applies them after a confirmation.
import type { ApplyResult } from "../contract/admin/apply.ts";
import { failureView } from "../page/error-view.ts";
import { button, element, table } from "../page/element.ts";
import { confirmed } from "./dialog.ts";
import { callWithError } from "./call-with-error.ts";
import type { Visit } from "./visit.ts";
import { mark, part, type Tone } from "./words.ts";

type Change = ApplyResult["changes"][number];

const ACTIONS: Readonly<Record<Change["action"], readonly [tone: Tone, word: string]>> = {
  created: ["good", "made"],
  changed: ["warn", "changed"],
  released: ["soft", "no longer in the file: now unmanaged, editable here"],
  removed: ["bad", "removed"],
};
const PATH = "/configuration/apply";

export function applyPart(visit: Visit): HTMLElement {
  const result = element("div", {});
  const ask = (dryRun: boolean) => visit.ask<ApplyResult>("POST", PATH, { body: { dry_run: dryRun } });
  const compare = button("Compare with the file", async () => {
    const outcome = await callWithError(result, () => ask(true));
    if (!outcome.ok) return;
    const { changes, file } = outcome.data;
    if (changes.length === 0) return result.replaceChildren(sameView(file));
    const go = button("Apply", () => apply(changes));
    result.replaceChildren(differenceView(file, changes), element("div", { class: "row" }, go));
    go.focus();
  });
  compare.id = "compare-file";
  return part(
    "Configuration file",
    element(
      "p",
      {},
      "Connections, routes, workspaces, apps, keys, budgets, plans and prices can be applied without a restart. Listeners and limits require one.",
    ),
    element("div", { class: "row" }, compare),
    result,
  );

  async function apply(changes: readonly Change[]): Promise<void> {
    if (!(await confirmed("Apply the file?", warningOf(changes), "Apply"))) return;
    const outcome = await ask(false);
    if (!outcome.ok) return result.replaceChildren(failureView(outcome.failure, outcome.requestId));
    // The file may have created or removed a workspace.
    await visit.placesChanged();
    await visit.redraw();
    visit.say(`${countText(outcome.data.changes.length)} applied.`);
  }
}

function sameView(file: string): HTMLElement {
  const name = element("code", {}, file);
  return element("p", { role: "status" }, mark("good", "Unchanged"), ": what ", name, " contains is already applied.");
}

function differenceView(file: string, changes: readonly Change[]): HTMLElement {
  return table(
    `${file} would change`,
    ["What", "Name", "Status"],
    changes.map(({ action, kind, name }) => {
      const [tone, word] = ACTIONS[action];
      return [kind.replaceAll("_", " "), element("code", {}, name), mark(tone, word)];
    }),
  );
}

function warningOf(changes: readonly Change[]): string {
  const removed = changes.filter(({ action }) => action === "removed").length;
  const ends =
    removed === 0 ? "" : ` ${removed} of them stop working immediately, and requests with a removed key are rejected.`;
  return `${countText(changes.length)} for all callers of this gateway, from the next request on.${ends} To undo this, restore the file and compare again. Removed keys then work again.`;
}

const countText = (count: number): string => (count === 1 ? "1 change" : `${count} changes`);
