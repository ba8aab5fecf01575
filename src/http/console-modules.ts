/** What the console's page loads, as `src/` holds it; a test holds this list against what they import. */
export const CONSOLE_MODULES = [
  "console/main",
  "console/address",
  "console/filter-view",
  "console/list-view",
  "console/requests-screen",
  "console/screens",
  "console/session",
  "console/visit",
  "console/words",
  "page/ask",
  "page/element",
  "page/error-view",
  "page/keep",
  "page/trace-view",
] as const;
