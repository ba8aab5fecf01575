// Verifies the audit log: its hash chains, and their ends against the last signed checkpoint.
import type { AuditVerification } from "../contract/admin/audit.ts";
import { button, element } from "../page/element.ts";
import { toldIn } from "./told.ts";
import type { Visit } from "./visit.ts";
import { mark, part, timeView } from "./words.ts";

export function verificationPart(visit: Visit): HTMLElement {
  const result = element("div", { role: "status" });
  const verify = button("Verify the chains", async () => {
    const outcome = await toldIn(result, () => {
      result.replaceChildren("Every entry is read …");
      return visit.ask<AuditVerification>("GET", "/audit/verification");
    });
    if (outcome.ok) result.replaceChildren(...outcomeView(outcome.data));
  });
  return part(
    "Is it as it was written?",
    element(
      "p",
      {},
      "Each entry holds the hash of the one before it. This reads all of them, of every workspace and of the platform, and changes nothing.",
    ),
    element("div", { class: "row" }, verify),
    result,
  );
}

/** The same result as `patchbay audit verify` prints. */
function outcomeView({ ok, entries, chains, checkpoint_at: at, findings }: AuditVerification): readonly Node[] {
  const verdict = ok ? "nothing was changed" : findings.length === 1 ? "1 finding" : `${findings.length} findings`;
  const sum = element("p", {}, mark(ok ? "good" : "bad", `${entries} entries in ${chains} chains: ${verdict}.`));
  const found = findings.map(({ chain, message }) => element("li", {}, element("code", {}, chain), `: ${message}`));
  return [
    ...(ok ? [] : [element("ul", {}, ...found)]),
    sum,
    // An invalid checkpoint exists, and is already listed among the findings.
    ...(findings.some(({ kind }) => kind === "checkpoint") ? [] : [checkpointLine(at)]),
  ];
}

function checkpointLine(at: string | null): HTMLElement {
  return at === null
    ? element(
        "p",
        {},
        "There is no signed checkpoint yet: an end that was cut off, or a log written wholly anew, cannot be seen.",
      )
    : element("p", {}, "Held against the signed checkpoint of ", timeView(at), ".");
}
