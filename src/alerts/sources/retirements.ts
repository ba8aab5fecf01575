// Reports models that end in 90, 30 or 7 days, as the retirement radar finds them [alerts.retirement].
import type { AlertDetails } from "../../contract/alerts.ts";
import type { Alert } from "../alert.ts";

/** What is lost on which day. */
export interface RetirementNotice {
  /** Names the loss, and stays the same every day until it happens. */
  readonly cause: string;
  /** Whole days from now. Negative: it has happened. */
  readonly daysLeft: number;
  readonly summary: string;
  readonly details: AlertDetails;
}

/** Days of notice, the longest first. */
const STEPS = [90, 30, 7] as const;
/** What was lost longer ago is known, or concerns no one. */
const PAST_DAYS = 7;

export function retirementAlerts(retirements: readonly RetirementNotice[], now: Date): readonly Alert[] {
  return retirements.flatMap(({ cause, daysLeft, summary, details }) => {
    const step = STEPS.findLast((days) => daysLeft <= days);
    if (step === undefined || daysLeft < -PAST_DAYS) return [];
    return [
      {
        event: "retirement",
        cause: `retirement/${step}/${cause}`,
        workspace: null,
        summary,
        details: { ...details, days_left: daysLeft },
        occurredAt: now,
      } satisfies Alert,
    ];
  });
}
