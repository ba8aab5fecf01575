// `patchbay doctor`, checks of alerts: whether there is a destination, whether each accepts connections, and whether alerts were given up. Nothing is sent.
import type { Configuration } from "../../config/configuration.ts";
import { type Destination, alertDestinations } from "../../alerts/destinations.ts";
import { type DestinationHealth, readDestinationHealth } from "../../alerts/store/alert-deliveries.ts";
import type { SystemHandle } from "../../storage/database.ts";
import type { ReachOutcome } from "../../webhooks/receivers.ts";
import type { DoctorNetwork } from "./doctor-network.ts";
import { fail, type Finding, ok, warn } from "./finding.ts";

const ALL_MS = 15_000;

/** A recommendation, no warning: an installation works without alerts. */
export function checkAlertsConfigured({ alerts }: Pick<Configuration, "alerts">): readonly Finding[] {
  return alerts.length > 0
    ? []
    : [
        ok(
          "alerts",
          "none configured. Recommended: a destination in `alerts`, such as Slack's incoming webhook, for open circuits, spent budgets and a full disk",
        ),
      ];
}

export async function checkDestinations(
  configuration: Pick<Configuration, "alerts" | "workspaces">,
  { reach }: Pick<DoctorNetwork, "reach">,
  allMs: number = ALL_MS,
): Promise<readonly Finding[]> {
  const deadline = AbortSignal.timeout(allMs);
  // Only addresses are needed here, so any key derives the ids.
  return Promise.all(
    alertDestinations(configuration, Buffer.alloc(0)).map(async (destination) => {
      try {
        return describe(destination, await reach(destination.url, deadline));
      } catch (error) {
        if (!deadline.aborted) throw error;
        return warn(
          "alerts",
          `${nameOf(destination)} was not checked within ${allMs / 1000} s`,
          "run the doctor again",
        );
      }
    }),
  );
}

/** Destinations with alerts that were given up in the last seven days. */
export async function checkAlertDeliveries(
  db: SystemHandle,
  configuration: Pick<Configuration, "alerts" | "workspaces">,
): Promise<readonly Finding[]> {
  const health = new Map((await readDestinationHealth(db)).map((each) => [each.destination, each]));
  return alertDestinations(configuration, Buffer.alloc(0)).flatMap((destination) => {
    const its = health.get(destination.id);
    if (its === undefined || its.lastOutcome === null || its.lastOutcome === "delivered") return [];
    return [
      warn("alerts", `${nameOf(destination)} ${failures(its)}`, "fix the receiver, then run: patchbay alerts test"),
    ];
  });
}

function failures({ lastOutcome, lastStatus, pending, failed }: DestinationHealth): string {
  const answer = lastStatus === null ? (lastOutcome ?? "").replaceAll("_", " ") : `HTTP ${lastStatus}`;
  return `did not accept the last alert (${answer}): ${pending} waiting, ${failed} given up in seven days`;
}

function describe(destination: Destination, result: ReachOutcome): Finding {
  const about = nameOf(destination);
  const because = "detail" in result && result.detail !== null ? ` (${result.detail})` : "";
  switch (result.kind) {
    case "reached":
      return ok("alerts", `${about} accepts connections; nothing was sent`);
    case "address_not_allowed":
      return fail(
        "alerts",
        `${about} is not allowed as a receiver${because}`,
        "use https and a public address, or allow internal receivers with webhooks.allowed_private_cidrs and webhooks.allow_http",
      );
    case "not_resolved":
      return fail(
        "alerts",
        `${about}: the name is ${result.detail}`,
        "check the address and this machine's name servers",
      );
    case "connection":
    case "timeout":
    case "tls":
      return fail(
        "alerts",
        `${about} cannot be reached: ${result.kind}${because}`,
        "start the receiver, and allow this machine in its firewall",
      );
  }
}

/** The origin only: the path may contain a token. */
function nameOf({ place, url }: Destination): string {
  return `${place} (${new URL(url).origin})`;
}
