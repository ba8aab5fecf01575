// Checks an `audio.url` against every rule of a fetch and reports each result separately, without fetching anything [remote-audio.check-same-rules].
import type { Examination, GuardRule, Outbound, RefusalReason } from "../outbound/dial.ts";
import { listedEntry, type TargetPolicy } from "../outbound/url-policy.ts";
import { urlRejected } from "./remote-errors.ts";

export interface AudioUrlExamination extends Pick<Examination, "host" | "addresses"> {
  /** The allowlist entry that matches the host. */
  readonly listedAs: string | null;
  /** The rules that could be checked, in order of evaluation. */
  readonly findings: readonly AudioUrlFinding[];
}

interface AudioUrlFinding {
  readonly rule: GuardRule;
  /** Null: the rule is satisfied. `detail` is only for the operator. */
  readonly broken: { readonly reason: RefusalReason; readonly message: string; readonly detail: string } | null;
}

export async function examineUrl(
  outbound: Pick<Outbound, "examine">,
  policy: TargetPolicy,
  url: string,
  signal: AbortSignal,
): Promise<AudioUrlExamination> {
  const { findings, host, addresses } = await outbound.examine(url, policy, signal);
  const listedAs = host === null || policy.hosts === "any" ? null : listedEntry(host, policy.hosts);
  return { host, listedAs, addresses, findings: findings.map(explain) };
}

function explain({ rule, refusal }: Examination["findings"][number]): AudioUrlFinding {
  if (refusal === null) return { rule, broken: null };
  const { reason, detail } = refusal;
  return { rule, broken: { reason, message: urlRejected(reason).message, detail } };
}
