// Reports what routes lose in 90, 30 or 7 days, as the retirement radar finds it, with the target that would keep it [alerts.retirement].
import { type Crossing, crossings } from "../../gateway/retirement/crossings.ts";
import type { ListServices } from "../../gateway/retirement/list-retirements.ts";
import { type ProposalServices, proposeTarget } from "../../gateway/retirement/propose-target.ts";
import { readRetirements } from "../../gateway/retirement/read-retirements.ts";
import { retirementText } from "../../gateway/retirement/retirement-text.ts";
import type { Database } from "../../storage/database.ts";
import type { Alert, AlertWorkspace } from "../alert.ts";

export interface RetirementSource extends ProposalServices, ListServices {
  readonly database: Database;
  /** The clock by which models retire. */
  readonly modelNowMs: () => number;
  readonly nowMs: () => number;
  readonly workspacesOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, AlertWorkspace>>;
}

/** The dates are days, and judging all routes takes a while. */
const PERIOD_MS = 3_600_000;
/** Longer lists are in `patchbay providers retirements`. */
const MAX_APPS = 20;

/** Reads at most once an hour. What was reported is known to the database, by its cause. */
export function createRetirementSource(source: RetirementSource): () => Promise<readonly Alert[]> {
  let readAtMs: number | null = null;
  return async () => {
    const nowMs = source.nowMs();
    if (readAtMs !== null && nowMs - readAtMs < PERIOD_MS) return [];
    const found = crossings(await readRetirements(source, null), source.modelNowMs(), () => false);
    const owners = found.flatMap(({ retirement }) => retirement.workspace ?? []);
    const workspaces = owners.length === 0 ? new Map<string, AlertWorkspace>() : await source.workspacesOf(owners);
    readAtMs = nowMs;
    return found.map((crossing) => describe(source, crossing, workspaces));
  };
}

function describe(
  source: RetirementSource,
  { cause, daysLeft, retirement }: Crossing,
  workspaces: ReadonlyMap<string, AlertWorkspace>,
): Alert {
  const { workspace, route, date, feature, evidence, targets, apps } = retirement;
  const { proposal } = retirement.kind === "loss" ? proposeTarget(source, retirement) : { proposal: null };
  const replacement = proposal === null ? null : `${proposal.target.connection}/${proposal.target.model}`;
  const owner = workspace === null ? null : (workspaces.get(workspace) ?? null);
  const advice =
    proposal === null
      ? ""
      : ` In its place: ${replacement}${proposal.lacks.length === 0 ? "" : `, which lacks ${proposal.lacks.join(", ")}`}.`;
  return {
    event: "retirement",
    cause,
    workspace: owner,
    summary: `${retirementText(retirement, source.modelNowMs())}${advice}`,
    details: {
      route: route.id,
      date,
      days_left: daysLeft,
      feature,
      evidence,
      targets: targets.map(({ connection, model }) => `${connection}/${model}`),
      apps: apps.slice(0, MAX_APPS).map(({ slug }) => slug),
      replacement,
    },
    occurredAt: new Date(source.nowMs()),
  };
}
