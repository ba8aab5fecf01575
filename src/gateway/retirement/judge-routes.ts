// What each route of the current directory loses, judged as a workspace with or without a plan sees it [retirement.view]. Answers are remembered until the
// directory or the prices change: they do not depend on the day.
import { partsOfKey } from "../../directory/account-key.ts";
import type { Directory, DirectoryScope, StoredTarget } from "../../directory/snapshot.ts";
import type { PurposeDefaults, Route } from "../../routing/types.ts";
import { permanentLackFor } from "../calls/target-unavailability.ts";
import { chatPlanner } from "../chat/plan-chat.ts";
import type { GatewayServices } from "../services.ts";
import { findLosses, type Judging, probesOf, type RouteLoss } from "./find-losses.ts";
import { purposeProbe } from "./probes.ts";
import type { ModelOn } from "./route-on-day.ts";

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
  let remembered = new Map<string, readonly RouteLoss[]>();
  let directory: unknown = null;
  let prices: unknown = null;
  return {
    lossesOf: (view, route, defaults) => {
      if (directory !== services.directory() || prices !== services.prices()) {
        remembered = new Map();
        directory = services.directory();
        prices = services.prices();
      }
      const unique = [...new Map(defaults.map((each) => [JSON.stringify(each), each]))].toSorted(byFirst);
      const key = JSON.stringify([view, route.id, unique.map(([text]) => text)]);
      const known = remembered.get(key);
      if (known !== undefined) return known;
      const judging = judgingFor(services, view);
      const probes = [...probesOf(route, judging), ...unique.map(([, each]) => purposeProbe(each))];
      const losses = findLosses(route, judging, probes);
      remembered.set(key, losses);
      return losses;
    },
  };
}

function byFirst([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
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
