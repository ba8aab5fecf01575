// The retirements that have come as near as 90, 30 or 7 days since they were last announced, for alerts [retirement.thresholds]. Pure.
import { daysUntil } from "../../providers/life-status.ts";
import type { Retirement } from "./list-retirements.ts";

/** In days, the widest first. */
export const THRESHOLDS = [90, 30, 7] as const;
export type Threshold = (typeof THRESHOLDS)[number];

export interface Crossing {
  /** Stable: the retirement's id and the threshold. The caller stores which ones it has announced. */
  readonly cause: string;
  readonly threshold: Threshold;
  /** 0 or less: it has happened. */
  readonly daysLeft: number;
  readonly retirement: Retirement;
}

/** At most one for each retirement: the narrowest threshold that it has reached, unless `isAnnounced` knows its cause. */
export function crossings(
  retirements: readonly Retirement[],
  nowMs: number,
  isAnnounced: (cause: string) => boolean,
): readonly Crossing[] {
  return retirements.flatMap((retirement) => {
    const daysLeft = daysUntil(retirement.date, nowMs);
    const threshold = THRESHOLDS.findLast((days) => daysLeft <= days);
    // A redirect without a loss is over when it has happened.
    if (threshold === undefined || (retirement.kind === "redirect" && daysLeft <= 0)) return [];
    const cause = `retirement/${retirement.id}/${threshold}`;
    return isAnnounced(cause) ? [] : [{ cause, threshold, daysLeft, retirement }];
  });
}
