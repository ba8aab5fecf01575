// Rereads the gateway's configuration file: shows the differences first, and applies them after a confirmation.
import type { ApplyResult } from "../contract/admin/apply.ts";
import { failureView } from "../page/error-view.ts";
import { button, element, table } from "../page/element.ts";
import { confirmed } from "./dialog.ts";
import { toldIn } from "./told.ts";
import type { Visit } from "./visit.ts";
import { mark, part, type Tone } from "./words.ts";

type Change = ApplyResult["changes"][number];

const ACTIONS: Readonly<Record<Change["action"], readonly [tone: Tone, word: string]>> = {
  created: ["good", "made"],
  changed: ["warn", "changed"],
  released: ["soft", "no longer in the file: it stays, and can be changed here"],
  removed: ["bad", "removed"],
};
const PATH = "/configuration/apply";

export function applyPart(visit: Visit): HTMLElement {
  const result = element("div", {});
  const ask = (dryRun: boolean) => visit.ask<ApplyResult>("POST", PATH, { body: { dry_run: dryRun } });
  const compare = button("Compare with the file", async () => {
    const outcome = await toldIn(result, () => ask(true));
    if (!outcome.ok) return;
    const { changes, file } = outcome.data;
    if (changes.length === 0) return result.replaceChildren(sameView(file));
    const go = button("Bring it into force", () => apply(changes));
    result.replaceChildren(differenceView(file, changes), element("div", { class: "row" }, go));
    go.focus();
  });
  compare.id = "compare-file";
  return part(
    "Configuration file",
    element(
      "p",
      {},
      "What it says of connections, routes, workspaces, apps, keys, budgets, plans and prices can be brought into force without a restart. Listeners and limits wait for one.",
    ),
    element("div", { class: "row" }, compare),
    result,
  );

  async function apply(changes: readonly Change[]): Promise<void> {
    if (!(await confirmed("Bring the file into force?", warningOf(changes), "Bring it into force"))) return;
    const outcome = await ask(false);
    if (!outcome.ok) return result.replaceChildren(failureView(outcome.failure, outcome.requestId));
    // The file may have created or removed a workspace.
    await visit.placesChanged();
    await visit.redraw();
    visit.say(`${countText(outcome.data.changes.length)} of the file in force.`);
  }
}

function sameView(file: string): HTMLElement {
  const name = element("code", {}, file);
  return element("p", { role: "status" }, mark("good", "The same"), ": what ", name, " says is in force.");
}

function differenceView(file: string, changes: readonly Change[]): HTMLElement {
  return table(
    `${file} would change`,
    ["What", "Name", "It is"],
    changes.map(({ action, kind, name }) => {
      const [tone, word] = ACTIONS[action];
      return [kind.replaceAll("_", " "), element("code", {}, name), mark(tone, word)];
    }),
  );
}

function warningOf(changes: readonly Change[]): string {
  const removed = changes.filter(({ action }) => action === "removed").length;
  const ends =
    removed === 0
      ? ""
      : ` ${removed} of them end at once, and whoever calls with a removed key is refused from then on.`;
  return `${countText(changes.length)} for everybody who calls this gateway, from the next request on.${ends} To undo it, put the file back as it was and compare again; a removed key works again then.`;
}

const countText = (count: number): string => (count === 1 ? "1 change" : `${count} changes`);
