// Every screen, in the order of the navigation. Each is loaded when it is first gone to.
import type { Screen } from "./visit.ts";

const BOTH = ["platform", "workspace"] as const;

export const SCREENS: readonly Screen[] = [
  {
    name: "requests",
    title: "Requests",
    scopes: BOTH,
    load: async () => (await import("./requests-screen.ts")).showRequests,
  },
];
