// Verifies the audit log: its hash chains, and their ends against the last signed checkpoint.
import type { AuditVerification } from "../contract/admin/audit.ts";
import { button, element } from "../page/element.ts";
import { callWithError } from "./call-with-error.ts";
import type { Visit } from "./visit.ts";
import { mark, part, timeView } from "./words.ts";

export function verificationPart(visit: Visit): HTMLElement {
  const result = element("div", { role: "status" });
  const verify = button("Verify integrity", async () => {
    const outcome = await callWithError(result, () => {
      result.replaceChildren("Reading every entry…");
      return visit.ask<AuditVerification>("GET", "/audit/verification");
    });
    if (outcome.ok) result.replaceChildren(...outcomeView(outcome.data));
  });
  return part(
    "Integrity",
    element(
      "p",
      {},
      "Each entry contains the hash of the previous one. This check reads all entries of all workspaces and changes nothing.",
    ),
    element("div", { class: "row" }, verify),
    result,
  );
}

/** The same result as `patchbay audit verify` prints. */
function outcomeView({ ok, entries, chains, checkpoint_at: at, findings }: AuditVerification): readonly Node[] {
  const verdict = ok ? "verified" : findings.length === 1 ? "1 finding" : `${findings.length} findings`;
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
    ? element("p", {}, "No signed checkpoint yet: a truncated or completely rewritten log cannot be detected.")
    : element("p", {}, "Compared with the signed checkpoint of ", timeView(at), ".");
}
