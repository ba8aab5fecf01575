// `patchbay doctor`, check of what routes lose because providers end models: within 90 days, or already [retirement.doctor].
import { loadDirectory, loadPrices } from "../../directory/load-directory.ts";
import type { Directory } from "../../directory/snapshot.ts";
import { THRESHOLDS } from "../../gateway/retirement/crossings.ts";
import { createRouteJudge } from "../../gateway/retirement/judge-routes.ts";
import type { Retirement } from "../../gateway/retirement/list-retirements.ts";
import { type ProposalServices, proposeTarget } from "../../gateway/retirement/propose-target.ts";
import { readRetirements } from "../../gateway/retirement/read-retirements.ts";
import { retirementText } from "../../gateway/retirement/retirement-text.ts";
import { daysUntil } from "../../providers/life-status.ts";
import { chatProviders, providers } from "../../providers/registry.ts";
import type { Database } from "../../storage/database.ts";
import type { Seal } from "../../storage/secrets/seal.ts";
import { fail, type Finding, ok, reasonOf, warn } from "./finding.ts";

const [WARNING_DAYS, , FAILURE_DAYS] = THRESHOLDS;
/** The rest is one line. */
const MOST_LINES = 20;

export async function checkRetirements(
  database: Database,
  seal: Seal,
  nowMs: number = Date.now(),
): Promise<readonly Finding[]> {
  try {
    const directory = await loadDirectory({ database, seal });
    const prices = await loadPrices(database);
    const services = servicesOf(directory, prices);
    const judge = createRouteJudge(services);
    return findingsOf(services, await readRetirements({ ...services, judge, database }, null), nowMs);
  } catch (error) {
    return [warn("retirements", `routes cannot be judged: ${reasonOf(error)}`, "see the other findings")];
  }
}

function servicesOf(directory: Directory, prices: ReturnType<ProposalServices["prices"]>): ProposalServices {
  const adapters = { speech: providers, chat: chatProviders };
  return { directory: () => directory, prices: () => prices, chatProviders, adapters };
}

function findingsOf(services: ProposalServices, retirements: readonly Retirement[], nowMs: number): readonly Finding[] {
  const near = retirements.filter(({ kind, date }) => {
    const daysLeft = daysUntil(date, nowMs);
    return daysLeft <= WARNING_DAYS && (kind === "loss" || daysLeft > 0);
  });
  if (near.length === 0) return [ok("retirements", `no route loses a feature within ${WARNING_DAYS} days`)];
  const hidden = near.length - MOST_LINES;
  return [
    ...near.slice(0, MOST_LINES).map((retirement) => findingOf(services, retirement, nowMs)),
    ...(hidden > 0
      ? [warn("retirements", `${hidden} more losses`, "list them with `patchbay providers retirements`")]
      : []),
  ];
}

function findingOf(services: ProposalServices, retirement: Retirement, nowMs: number): Finding {
  const { kind, date, evidence, workspace } = retirement;
  const owner = workspace === null ? "" : ` (workspace ${workspace})`;
  const message = `${retirementText(retirement, nowMs).replace(/\.$/u, "")}${owner}`;
  const isUrgent = kind === "loss" && evidence === "vendor" && daysUntil(date, nowMs) <= FAILURE_DAYS;
  return (isUrgent ? fail : warn)("retirements", message, fixOf(services, retirement));
}

function fixOf(services: ProposalServices, retirement: Retirement): string {
  if (retirement.kind === "redirect") return "test the route with the model that answers, or name another model";
  const { proposal, unavailableFeatures } = proposeTarget(services, retirement);
  if (proposal === null)
    return unavailableFeatures.length === 0
      ? "no single model on the connections keeps all of it: add several targets"
      : `no model on the connections keeps ${unavailableFeatures.join(", ")}: connect another provider`;
  const { target, lacks } = proposal;
  const without = lacks.length === 0 ? "" : `, which lacks ${lacks.join(", ")}`;
  return `use ${target.connection}/${target.model}${without} in its place`;
}
