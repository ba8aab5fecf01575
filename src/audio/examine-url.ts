// Judges an `audio.url` by every rule of its fetch, each by itself, and fetches nothing [remote-audio.check-same-rules].
import type { Examination, GuardRule, Outbound, RefusalReason } from "../outbound/dial.ts";
import { listedEntry, type TargetPolicy } from "../outbound/target-policy.ts";
import { urlRejected } from "./remote-errors.ts";

export interface AudioUrlExamination extends Pick<Examination, "host" | "addresses"> {
  /** The entry that allows the host. */
  readonly listedAs: string | null;
  /** Those that could be judged, in their order. */
  readonly findings: readonly AudioUrlFinding[];
}

interface AudioUrlFinding {
  readonly rule: GuardRule;
  /** Null: it holds. `detail` is the operator's alone. */
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
  return { host, listedAs, addresses, findings: findings.map(explained) };
}

function explained({ rule, refusal }: Examination["findings"][number]): AudioUrlFinding {
  if (refusal === null) return { rule, broken: null };
  const { reason, detail } = refusal;
  return { rule, broken: { reason, message: urlRejected(reason).message, detail } };
}
