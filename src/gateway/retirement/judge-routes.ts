// What each route of the current directory loses, judged as a workspace with or without a plan sees it [retirement.view]. Answers do not depend on the
// day, and are remembered while route and prices are the same.
import { createHash } from "node:crypto";
import { partsOfKey } from "../../directory/account-key.ts";
import type { Directory, DirectoryScope, StoredTarget } from "../../directory/snapshot.ts";
import type { PurposeDefaults, Route } from "../../routing/types.ts";
import { permanentLackFor } from "../calls/target-unavailability.ts";
import { chatPlanner } from "../chat/plan-chat.ts";
import type { GatewayServices } from "../services.ts";
import { findLosses, type Judging, probesOf, type RouteLoss } from "./find-losses.ts";
import { purposeProbe } from "./probes.ts";
import { answeringModels, datesOf, type ModelOn } from "./route-on-day.ts";

export type JudgeServices = Pick<GatewayServices, "chatProviders" | "directory" | "prices">;

/** Whose connections a route uses, and whether a plan limits it to priced models. */
export interface View {
  readonly scope: DirectoryScope;
  readonly hasPlan: boolean;
}

export interface RouteJudge {
  /** `defaults`: those of the purposes that select the route. */
  readonly lossesOf: (view: View, route: Route, defaults: readonly PurposeDefaults[]) => readonly RouteLoss[];
}

export function createRouteJudge(services: JudgeServices): RouteJudge {
  let snapshot: object | null = null;
  let prices: object | null = null;
  let current = new Map<string, readonly RouteLoss[]>();
  let previous: typeof current = new Map();

  /** A change of the directory seldom changes a route: the answers of the snapshot before are kept for one more. */
  const follow = (): void => {
    if (snapshot === services.directory() && prices === services.prices()) return;
    previous = prices === services.prices() ? current : new Map();
    current = new Map();
    snapshot = services.directory();
    prices = services.prices();
  };

  return {
    lossesOf: (view, route, defaults) => {
      if (datesOf(route).length === 0) return [];
      follow();
      const judging = judgingFor(services, view);
      const unique = [...new Map(defaults.map((each) => [JSON.stringify(each), each])).values()];
      const key = keyOf(view, route, unique, judging.modelOn);
      const known = current.get(key) ?? previous.get(key);
      const losses = known ?? findLosses(route, judging, [...probesOf(route, judging), ...unique.map(purposeProbe)]);
      current.set(key, losses);
      return losses;
    },
  };
}

/** Everything that the losses of a route depend on, except the prices. */
function keyOf({ hasPlan }: View, route: Route, defaults: readonly PurposeDefaults[], modelOn: ModelOn): string {
  const answering = route.targets.map((target) => answeringModels(target, modelOn));
  return createHash("sha256")
    .update(JSON.stringify([hasPlan, route, answering, defaults]))
    .digest("base64");
}

/** The functions with which requests are routed, on a clock that shows a given day. */
export function judgingFor(services: JudgeServices, { hasPlan }: View): Judging {
  const { prices } = services;
  return {
    lacksOn: (day) => permanentLackFor({ prices, modelClock: () => new Date(day) }, { testMode: false, hasPlan }),
    plannerOf: (request) => chatPlanner(services, request),
    modelOn: modelsIn(services.directory()),
  };
}

function modelsIn(directory: Directory): ModelOn {
  return (target, model) => {
    const { scope } = partsOfKey(target.account);
    const stored = { ...storedTarget(target.connection, model), settings: target.settings };
    const found = directory.targetOf(scope, stored, target.position);
    return found === null || (found.speech === null && found.chat === null) ? null : found;
  };
}

/** A target with nothing but its names. */
export function storedTarget(connection: string, model: string): StoredTarget {
  return { connection, model, profiles: [], settings: {}, profileSettings: {}, firstContentTimeoutSeconds: 300 };
}
