// Every screen, in the order of the navigation. Each is loaded when it is first gone to.
import type { Screen } from "./visit.ts";

const BOTH = ["platform", "workspace"] as const;

export const SCREENS: readonly Screen[] = [
  {
    name: "overview",
    title: "Overview",
    scopes: BOTH,
    load: async () => (await import("./overview-screen.ts")).showOverview,
  },
  {
    name: "requests",
    title: "Requests",
    scopes: BOTH,
    load: async () => (await import("./requests-screen.ts")).showRequests,
  },
  {
    name: "workspaces",
    title: "Workspaces",
    scopes: ["platform"],
    load: async () => (await import("./workspaces-screen.ts")).showWorkspaces,
  },
  {
    name: "apps",
    title: "Apps",
    scopes: ["workspace"],
    load: async () => (await import("./apps-screen.ts")).showApps,
  },
  {
    name: "keys",
    title: "Keys",
    scopes: ["workspace"],
    load: async () => (await import("./keys-screen.ts")).showKeys,
  },
  {
    name: "routes",
    title: "Routes",
    scopes: BOTH,
    load: async () => (await import("./routes-screen.ts")).showRoutes,
  },
  {
    name: "connections",
    title: "Connections",
    scopes: BOTH,
    load: async () => (await import("./connections-screen.ts")).showConnections,
  },
  {
    name: "health",
    title: "Providers",
    scopes: ["platform"],
    load: async () => (await import("./health-screen.ts")).showHealth,
  },
  {
    name: "sandbox",
    title: "Simulated faults",
    scopes: ["platform"],
    load: async () => (await import("./sandbox-screen.ts")).showSandbox,
  },
  {
    name: "audit",
    title: "Audit log",
    scopes: BOTH,
    load: async () => (await import("./audit-screen.ts")).showAudit,
  },
  {
    name: "usage",
    title: "Usage",
    scopes: BOTH,
    load: async () => (await import("./usage-screen.ts")).showUsage,
  },
  {
    name: "budgets",
    title: "Budgets",
    scopes: ["workspace"],
    load: async () => (await import("./budgets-screen.ts")).showBudgets,
  },
  {
    name: "credits",
    title: "Credits",
    scopes: ["workspace"],
    load: async () => (await import("./credits-screen.ts")).showCredits,
  },
  {
    name: "plans",
    title: "Plans",
    scopes: ["platform"],
    load: async () => (await import("./plans-screen.ts")).showPlans,
  },
];
